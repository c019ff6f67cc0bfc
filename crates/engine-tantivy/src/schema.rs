//! Schema of both indexes.
//!
//! The reasons for storing no text and for the scope prefix are in the README.

use model::{Collection, DocId};
use tantivy::Term;
use tantivy::schema::{
    BytesOptions, FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};

use crate::line_tokenizer::TOKENIZER;

/// Schema version. Increment it with every change of the fields or their contents.
pub const SCHEMA_VERSION: u32 = 3;

#[derive(Clone, Debug)]
pub struct Fields {
    pub schema: Schema,
    /// Document id, indexed for replacing and removing.
    pub id: Field,
    /// Upper half of the document id, as a fast field for reading hits.
    pub id_high: Field,
    /// Lower half of the document id, as a fast field for reading hits.
    pub id_low: Field,
    /// Scope prefix of the organization; workspace documents only.
    pub organization: Field,
    /// Stems with frequencies, for ranking, in the format of [`crate::line_tokenizer`].
    pub terms: Field,
    /// Unstemmed words with positions, for phrases, in the format of [`crate::line_tokenizer`].
    pub words: Field,
    /// Scope prefix and language code, which is empty if unknown.
    pub language: Field,
    pub country: Field,
    /// Scope prefix and label.
    pub labels: Field,
    /// Host and its parent domains.
    pub domain: Field,
    /// Prefixes of the path.
    pub path: Field,
    pub published_at: Field,
    /// Number of tokens in `terms`.
    pub term_count: Field,
    /// Number of words in the body.
    pub body_words: Field,
    /// Space of the vectors; only of documents that have any.
    pub vector_space: Field,
    /// Number of components of each vector.
    pub vector_dimensions: Field,
    /// Codes of the vectors, in the format of [`crate::semantic`].
    pub vector_codes: Field,
}

pub mod names {
    pub const ID_HIGH: &str = "id_high";
    pub const ID_LOW: &str = "id_low";
    pub const PUBLISHED_AT: &str = "published_at";
    pub const TERM_COUNT: &str = "term_count";
    pub const BODY_WORDS: &str = "body_words";
    pub const VECTOR_SPACE: &str = "vector_space";
    pub const VECTOR_DIMENSIONS: &str = "vector_dimensions";
    pub const VECTOR_CODES: &str = "vector_codes";
}

impl Fields {
    pub fn new() -> Self {
        let mut builder = Schema::builder();
        let exact = || {
            let indexing = TextFieldIndexing::default()
                .set_tokenizer("raw")
                .set_index_option(IndexRecordOption::Basic)
                .set_fieldnorms(false);
            TextOptions::default().set_indexing_options(indexing)
        };
        let lines = |option, fieldnorms| {
            let indexing = TextFieldIndexing::default()
                .set_tokenizer(TOKENIZER)
                .set_index_option(option)
                .set_fieldnorms(fieldnorms);
            TextOptions::default().set_indexing_options(indexing)
        };
        let number = || NumericOptions::default() | FAST;
        let id = builder.add_bytes_field("id", BytesOptions::default().set_indexed());
        let id_high = builder.add_u64_field(names::ID_HIGH, number());
        let id_low = builder.add_u64_field(names::ID_LOW, number());
        let organization = builder.add_text_field("organization", exact());
        let terms = builder.add_text_field("terms", lines(IndexRecordOption::WithFreqs, true));
        let words = builder.add_text_field("words", lines(IndexRecordOption::WithFreqsAndPositions, false));
        let language = builder.add_text_field("language", exact());
        let country = builder.add_text_field("country", exact());
        let labels = builder.add_text_field("labels", exact());
        let domain = builder.add_text_field("domain", exact());
        let path = builder.add_text_field("path", exact());
        let published_at = builder.add_i64_field(names::PUBLISHED_AT, number());
        let term_count = builder.add_u64_field(names::TERM_COUNT, number());
        let body_words = builder.add_u64_field(names::BODY_WORDS, number());
        let vector_space = builder.add_u64_field(names::VECTOR_SPACE, number());
        let vector_dimensions = builder.add_u64_field(names::VECTOR_DIMENSIONS, number());
        let vector_codes = builder.add_u64_field(names::VECTOR_CODES, number());
        Self {
            schema: builder.build(),
            id,
            id_high,
            id_low,
            organization,
            terms,
            words,
            language,
            country,
            labels,
            domain,
            path,
            published_at,
            term_count,
            body_words,
            vector_space,
            vector_dimensions,
            vector_codes,
        }
    }

    pub fn id_term(&self, doc_id: DocId) -> Term {
        Term::from_field_bytes(self.id, doc_id.0.as_bytes())
    }

    pub fn scoped_term(&self, field: Field, prefix: &str, text: &str) -> Term {
        let mut term = String::with_capacity(prefix.len() + text.len());
        term.push_str(prefix);
        term.push_str(text);
        Term::from_field_text(field, &term)
    }
}

/// Returns the prefix of scoped terms: empty for the web, the organization's id for a workspace. Ids have a fixed length,
/// so that no prefix is the beginning of another.
pub fn scope_prefix(collection: Collection) -> String {
    match collection {
        Collection::Web => String::new(),
        Collection::Workspace(organization_id) => organization_id.0.simple().to_string(),
    }
}
