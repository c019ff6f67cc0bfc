//! Conversion of documents into tantivy fields.

use engine::IndexDocument;
use engine::indexing::{TermSink, domain_suffixes, index_terms, path_prefixes};
use model::Collection;
use retrieval_core::analysis::Analyzers;
use tantivy::TantivyDocument;

use crate::schema::{Fields, scope_prefix};
use crate::semantic;

struct Lines {
    terms: String,
    words: String,
    count: u64,
}

impl TermSink for Lines {
    fn term(&mut self, stem: &str, times: u32) {
        for _ in 0..times {
            self.terms.push_str(stem);
            self.terms.push('\n');
        }
        self.count += u64::from(times);
    }

    fn word(&mut self, word: &str) {
        self.words.push_str(word);
        self.words.push('\n');
    }

    // An empty line skips a position: see `line_tokenizer`.
    fn phrase_break(&mut self) {
        self.words.push('\n');
    }
}

pub fn to_fields(document: &IndexDocument, fields: &Fields, analyzers: &mut Analyzers) -> TantivyDocument {
    let mut prefix = scope_prefix(document.collection);
    let mut out = TantivyDocument::new();
    let (high, low) = document.doc_id.0.as_u64_pair();
    out.add_bytes(fields.id, document.doc_id.0.as_bytes());
    out.add_u64(fields.id_high, high);
    out.add_u64(fields.id_low, low);
    if document.collection != Collection::Web {
        out.add_text(fields.organization, &prefix);
    }
    out.add_text(fields.language, format!("{prefix}{}", document.language.as_deref().unwrap_or_default()));
    if let Some(country) = &document.country {
        out.add_text(fields.country, country);
    }
    for label in &document.labels {
        out.add_text(fields.labels, format!("{prefix}{label}"));
    }
    for domain in domain_suffixes(&document.host) {
        out.add_text(fields.domain, domain);
    }
    for prefix in path_prefixes(&document.path) {
        out.add_text(fields.path, prefix);
    }
    if let Some(published_at) = document.published_at {
        out.add_i64(fields.published_at, published_at.as_millis());
    }
    prefix.push('\n');
    let capacity = document.body.len() + document.body.len() / 8 + 256;
    let mut lines = Lines { terms: String::with_capacity(capacity), words: String::with_capacity(capacity), count: 0 };
    lines.terms.push_str(&prefix);
    lines.words.push_str(&prefix);
    let body_words = index_terms(document, analyzers, &mut lines);
    out.add_text(fields.terms, &lines.terms);
    out.add_text(fields.words, &lines.words);
    out.add_u64(fields.term_count, lines.count);
    out.add_u64(fields.body_words, body_words);
    if let Some(vectors) = &document.vectors {
        semantic::add_fields(vectors, fields, &mut out);
    }
    out
}
