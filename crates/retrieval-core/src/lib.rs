#![doc = include_str!("../README.md")]

pub mod analysis;
pub mod blend;
pub mod bm25;
pub mod chars;
pub mod domain;
pub mod embeddings;
pub mod fusion;
mod inline;
mod markdown;
pub mod outline;
pub mod passages;
pub mod phrase;
pub mod plain;
pub mod query_matcher;
pub mod quotes;
pub mod rerank;
pub mod sections;
pub mod select;
pub mod sentences;
pub mod shape;
pub mod site;
pub mod snippet;
pub mod statistics;
mod stem_hash;
pub mod url;
mod varint;
