//! Documents as stored on the server: terms by impact, and filterable attributes. No text.

use std::collections::BTreeMap;

use engine::IndexDocument;
use engine::indexing::{domain_suffixes, index_terms, path_prefixes, rounded_length};
use model::Timestamp;
use retrieval_core::analysis::Analyzers;
use retrieval_core::embeddings::QuantizedVector;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::token;
use crate::tokens_by_level::{STORED_LEVELS, Tokens};

/// Attribute names.
pub mod attribute {
    pub const ID: &str = "id";
    pub const ORGANIZATION: &str = "organization_id";
    pub const LANGUAGE: &str = "language";
    pub const COUNTRY: &str = "country";
    pub const DOMAINS: &str = "domains";
    /// Tokens of the beginnings of the path, and of the labels.
    pub const PATHS: &str = "paths";
    pub const LABELS: &str = "labels";
    pub const PUBLISHED_AT: &str = "published_at";
    /// Number of words in the body, rounded.
    pub const LENGTH: &str = "length";
    /// Vectors by embedder, in indexes of vectors.
    pub const VECTORS: &str = "_vectors";
    /// Name of the embedder of indexes of vectors.
    pub const EMBEDDER: &str = "passages";

    /// Attributes that filters name.
    pub const FILTERED: [&str; 7] = [ORGANIZATION, LANGUAGE, COUNTRY, DOMAINS, PATHS, LABELS, PUBLISHED_AT];

    /// Returns the name of the attribute with the terms of a level. Level 0 has the highest impact.
    pub fn terms(level: usize) -> String {
        format!("terms_{level:02}")
    }
}

/// Document in the format of the server.
pub struct StoredDocument<'a> {
    document: &'a IndexDocument,
    length: u32,
    /// Tokens by level, separated by spaces.
    levels: [String; STORED_LEVELS],
}

impl<'a> StoredDocument<'a> {
    pub fn new(document: &'a IndexDocument, analyzers: &mut Analyzers) -> Self {
        let mut tokens = Tokens::default();
        let words = index_terms(document, analyzers, &mut tokens);
        let length = rounded_length(words);
        Self { document, length, levels: tokens.by_level(length) }
    }
}

impl Serialize for StoredDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        serialize_attributes(self.document, &mut map)?;
        map.serialize_entry(attribute::LENGTH, &self.length)?;
        for (level, terms) in self.levels.iter().enumerate().filter(|(_, terms)| !terms.is_empty()) {
            map.serialize_entry(&attribute::terms(level), terms)?;
        }
        map.end()
    }
}

/// Serializes the id and the attributes that filters name.
fn serialize_attributes<M: SerializeMap>(document: &IndexDocument, map: &mut M) -> Result<(), M::Error> {
    map.serialize_entry(attribute::ID, &document.doc_id.0)?;
    map.serialize_entry(attribute::ORGANIZATION, &document.collection.owner().map(|owner| owner.0))?;
    map.serialize_entry(attribute::LANGUAGE, &document.language)?;
    map.serialize_entry(attribute::COUNTRY, &document.country)?;
    map.serialize_entry(attribute::DOMAINS, &domain_suffixes(&document.host).collect::<Vec<_>>())?;
    map.serialize_entry(attribute::PATHS, &path_prefixes(&document.path).map(token::exact).collect::<Vec<_>>())?;
    let labels: Vec<String> = document.labels.iter().map(|label| token::exact(label)).collect();
    map.serialize_entry(attribute::LABELS, &labels)?;
    map.serialize_entry(attribute::PUBLISHED_AT, &document.published_at.map(Timestamp::as_millis))
}

/// Maximum number of vectors of a document that the server accepts.
const MAX_PASSAGES: usize = 255;

/// Document in an index of vectors.
pub struct EmbeddedDocument<'a>(pub &'a IndexDocument);

impl Serialize for EmbeddedDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        serialize_attributes(self.0, &mut map)?;
        let passages = self.0.vectors.as_ref().map_or(&[][..], |vectors| &vectors.passages);
        let dimensions = passages.first().map(QuantizedVector::dimensions);
        let equal = passages.iter().filter(|passage| Some(passage.dimensions()) == dimensions);
        // Of a longer document evenly spaced passages.
        let step = passages.len().div_ceil(MAX_PASSAGES).max(1);
        // The server scales vectors to the same length, so codes stand for components.
        let vectors: Vec<&[i8]> = equal.step_by(step).map(QuantizedVector::codes).collect();
        map.serialize_entry(attribute::VECTORS, &BTreeMap::from([(attribute::EMBEDDER, vectors)]))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use engine::DocumentVectors;
    use model::{Collection, DocId};
    use retrieval_core::embeddings::VectorSpace;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn document_is_stored_as_terms_by_impact() {
        let document = IndexDocument {
            title: "Pumps".into(),
            body: "the pump and the valve".into(),
            host: "a.example.com".into(),
            path: "/docs/pump".into(),
            language: Some("en".into()),
            published_at: Some(Timestamp::from_millis(-5)),
            ..IndexDocument::new(DocId(Uuid::nil()), Collection::Web)
        };
        let stored = serde_json::to_value(StoredDocument::new(&document, &mut Analyzers::default())).expect("JSON");
        assert_eq!(stored["length"], 5);
        assert_eq!(stored["published_at"], -5);
        assert_eq!(stored["domains"], serde_json::json!(["a.example.com", "example.com", "com"]));
        assert_eq!(stored["paths"], serde_json::json!(["/docs", "/docs/pump"].map(token::exact)));
        assert_eq!(stored["organization_id"], serde_json::Value::Null);
        let terms = |level: usize| stored[attribute::terms(level)].as_str().unwrap_or_default().split(' ');
        let level_of = |token: &str| (0..STORED_LEVELS).find(|level| terms(*level).any(|term| term == token));
        assert!(level_of("spump") < level_of("svalv"), "{stored}");
        assert!(level_of(&token::pair("the", "valve")).is_some());
        assert!(level_of(&token::pair("pumps", "the")).is_none(), "no pair crosses fields");
        assert_eq!(level_of("wpumps"), level_of("wvalve"));
    }

    #[test]
    fn long_document_has_as_many_vectors_as_the_server_accepts() {
        let passage = |at: i8| QuantizedVector::from_codes([1, at].into()).expect("a vector");
        for (passages, stored, last) in [(1, 1, 0), (255, 255, 126), (256, 128, 126), (3_000, 250, 44)] {
            let passages = (0..passages).map(|at| passage((at % 128) as i8)).collect();
            let vectors = Some(DocumentVectors { space: VectorSpace(1), passages });
            let document = IndexDocument { vectors, ..IndexDocument::new(DocId(Uuid::nil()), Collection::Web) };
            let json = serde_json::to_value(EmbeddedDocument(&document)).expect("JSON");
            let vectors = json["_vectors"]["passages"].as_array().expect("an array");
            assert_eq!(vectors.len(), stored);
            assert_eq!(vectors.last(), Some(&serde_json::json!([1, last])));
            assert!(json.get("terms_00").is_none());
        }
    }
}
