//! Documents as stored on the server: points with terms and a payload. No text.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use engine::IndexDocument;
use engine::indexing::{TermSink, domain_suffixes, index_terms, path_prefixes, rounded_length};
use engine::tokens;
use model::{DocId, Timestamp};
use qdrant_client::qdrant::{NamedVectors, PointId, PointStruct, Value, Vector, Vectors};
use retrieval_core::analysis::Analyzers;
use retrieval_core::embeddings::QuantizedVector;

use crate::impact;

/// Payload fields.
pub mod field {
    pub const ORGANIZATION: &str = "organization_id";
    pub const LANGUAGE: &str = "language";
    pub const COUNTRY: &str = "country";
    pub const DOMAINS: &str = "domains";
    pub const PATHS: &str = "paths";
    pub const LABELS: &str = "labels";
    pub const PUBLISHED_AT: &str = "published_at";
    /// Number of words in the body, rounded.
    pub const LENGTH: &str = "length";
    /// Number of occurrences of terms, rounded.
    pub const TERM_COUNT: &str = "term_count";
    /// Tokens of stems, words, and pairs of adjacent words.
    pub const TOKENS: &str = "tokens";
}

/// Name of the sparse vector of terms.
pub const TERMS: &str = "terms";

/// Returns the point of a document in an index.
pub fn point(document: &IndexDocument, analyzers: &mut Analyzers) -> PointStruct {
    let mut terms = Terms::default();
    let words = index_terms(document, analyzers, &mut terms);
    let mut payload = filtered(document);
    payload.insert(field::LENGTH.to_owned(), Value::from(i64::from(rounded_length(words))));
    payload.insert(field::TERM_COUNT.to_owned(), Value::from(i64::from(rounded_length(terms.length))));
    payload.insert(field::TOKENS.to_owned(), Value::from(terms.tokens()));
    let (indices, values): (Vec<u32>, Vec<f32>) = terms.impacts().into_iter().unzip();
    let vectors = NamedVectors::default().add_vector(TERMS, Vector::new_sparse(indices, values));
    PointStruct { id: Some(id(document.doc_id)), payload, vectors: Some(Vectors::from(vectors)) }
}

/// Maximum number of components of all vectors of a document that the server accepts, exclusive.
const MAX_COMPONENTS: usize = 1024 * 1024;

/// Returns the point of a document with vectors of its passages; evenly spaced ones if the server would refuse all.
pub fn embedded_point(document: &IndexDocument) -> PointStruct {
    let passages = document.vectors.as_ref().map_or(&[][..], |vectors| &vectors.passages);
    let dimensions = passages.first().map_or(1, QuantizedVector::dimensions).max(1);
    let equal = passages.iter().filter(|passage| passage.dimensions() == dimensions);
    let step = passages.len().div_ceil((MAX_COMPONENTS - 1) / dimensions).max(1);
    let vectors: Vec<Vec<f32>> = equal.step_by(step).map(components).collect();
    let vectors = qdrant_client::qdrant::vectors::VectorsOptions::Vector(Vector::new_multi(vectors));
    PointStruct {
        id: Some(id(document.doc_id)),
        payload: filtered(document),
        vectors: Some(Vectors { vectors_options: Some(vectors) }),
    }
}

/// Returns components in the direction of a vector, whose length the server drops.
pub fn components(vector: &QuantizedVector) -> Vec<f32> {
    vector.codes().iter().map(|code| f32::from(*code)).collect()
}

pub fn id(doc_id: DocId) -> PointId {
    doc_id.0.to_string().into()
}

/// Returns the payload that filters name. A missing value has no field.
fn filtered(document: &IndexDocument) -> HashMap<String, Value> {
    let list = |values: Vec<&str>| Value::from(values.into_iter().map(Value::from).collect::<Vec<_>>());
    let mut payload = HashMap::new();
    let mut put = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            payload.insert(field.to_owned(), value);
        }
    };
    put(field::ORGANIZATION, document.collection.owner().map(|owner| Value::from(owner.0.to_string())));
    put(field::LANGUAGE, document.language.as_deref().map(Value::from));
    put(field::COUNTRY, document.country.as_deref().map(Value::from));
    put(field::DOMAINS, Some(list(domain_suffixes(&document.host).collect())));
    put(field::PATHS, Some(list(path_prefixes(&document.path).collect())));
    put(field::LABELS, Some(list(document.labels.iter().map(String::as_str).collect())));
    put(field::PUBLISHED_AT, document.published_at.map(Timestamp::as_millis).map(Value::from));
    payload
}

/// Terms of one document.
#[derive(Default)]
struct Terms {
    frequencies: HashMap<String, u32>,
    /// Number of occurrences of all stems.
    length: u64,
    /// Tokens of words and pairs.
    words: BTreeSet<String>,
    previous: Option<String>,
}

impl Terms {
    /// Returns the impact of each stem by its dimension, ordered.
    fn impacts(&self) -> BTreeMap<u32, f32> {
        let mut impacts = BTreeMap::new();
        for (stem, frequency) in &self.frequencies {
            let highest: &mut f32 = impacts.entry(impact::dimension(stem, self.length)).or_default();
            *highest = highest.max(impact::impact(*frequency, self.length));
        }
        impacts
    }

    fn tokens(&self) -> String {
        let stems: BTreeSet<String> = self.frequencies.keys().map(|stem| tokens::stem(stem)).collect();
        let all: Vec<&str> = stems.iter().chain(&self.words).map(String::as_str).collect();
        all.join(" ")
    }
}

impl TermSink for Terms {
    fn term(&mut self, stem: &str, times: u32) {
        self.length += u64::from(times);
        match self.frequencies.get_mut(stem) {
            Some(frequency) => *frequency = frequency.saturating_add(times),
            None => drop(self.frequencies.insert(stem.to_owned(), times)),
        }
    }

    fn word(&mut self, word: &str) {
        self.words.insert(tokens::word(word));
        if let Some(previous) = self.previous.take() {
            self.words.insert(tokens::pair(&previous, word));
        }
        self.previous = Some(word.to_owned());
    }

    fn phrase_break(&mut self) {
        self.previous = None;
    }
}
