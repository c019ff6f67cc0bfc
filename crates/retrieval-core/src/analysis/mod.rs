//! Text to terms: the one analysis that indexing, first-stage search and reranking share.
//!
//! A *document* is analysed under its own language by [`Analyzer::tokens`]; a *query*, whose language is
//! not known and whose answers may be of any, is analysed under several by [`analyze_query`]: each query
//! term carries one variant for each way in which a document may hold it.
//!
//! Two forms of a token matter:
//! - `word`: compatibility-normalized, lowercase, diacritics folded, not stemmed. Phrases compare words.
//! - `stem`: the word's Snowball stem, diacritics folded afterwards (the stemmers know accented endings).
//!   Ranking compares stems.
//!
//! A change of what any of this yields needs a new [`ANALYSIS_VERSION`]: an index built by another version
//! holds other terms.

mod analyzer;
mod fold;
mod language;
mod query;
mod segment;
mod stemming;
mod stop_words;
#[cfg(test)]
mod tests;

pub use analyzer::{Analyzer, Analyzers, Token, TokenKind};
pub use language::{Language, detect};
pub use query::{AnalyzedQuery, MAX_QUERY_TERMS, QueryTerm, analyze_query};

/// Raised with every change of the terms that a text yields.
pub const ANALYSIS_VERSION: u32 = 1;

/// No term is longer, in bytes; longer ones are cut at a character boundary. Cutting (rather than
/// dropping) keeps long identifiers findable by themselves.
pub const MAX_TERM_BYTES: usize = 64;
