//! Text analysis shared by indexing, first-stage search and reranking.
//!
//! [`Analyzer::tokens`] analyses a *document* in its language. [`analyze_query`] analyses a *query*, whose language is
//! unknown and whose matches may be in any, under several languages: each query term has one variant for each form that
//! documents may contain.
//!
//! Each token has two forms:
//! - `word`: compatibility-normalized, lowercase, diacritics folded, not stemmed. Phrases compare words.
//! - `stem`: Snowball stem of the word, with diacritics folded afterwards (the stemmers know accented endings).
//!   Ranking compares stems.
//!
//! Characters that readers do not see (default ignorable code points, such as soft hyphens) neither separate nor change words.
//!
//! The addresses of Markdown links have no positions of their own: phrases pass over them, and they do not count in the
//! length of a text.
//!
//! Any change of the output requires a new [`ANALYSIS_VERSION`]: an index built by another version contains other
//! terms.

mod address;
mod analyzer;
mod fold;
mod ignorable;
mod language;
mod opening;
mod query;
mod query_token;
mod segment;
mod stemming;
mod stop_words;
#[cfg(test)]
mod tests;

pub(crate) use analyzer::places;
pub use analyzer::{Analyzer, Analyzers, Token, TokenKind};
pub use language::{Language, canonical_code, detect};
pub use query::{AnalyzedQuery, MAX_QUERY_TERMS, QueryTerm, analyze_query};
pub(crate) use segment::may_continue_word;

/// Version of the analysis, incremented with every change of the terms that a text yields.
pub const ANALYSIS_VERSION: u32 = 3;

/// Maximum length of a term in bytes. Longer terms are truncated, not dropped, so that long identifiers stay findable.
pub const MAX_TERM_BYTES: usize = 64;
