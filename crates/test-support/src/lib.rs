#![doc = include_str!("../README.md")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod blobs;
pub mod chat;
mod clock;
pub mod crawl_site;
mod database;
mod embedding;
pub mod endpoint;
mod engine;
mod files;
mod lost_searches;
mod pages;
mod poll;
mod records;
mod requests;
mod reranker;
mod runtime;
pub mod site;
mod tenants;
mod test_app;
mod tokens;
mod web_provider;

pub use blobs::TestBlobs;
pub use clock::TestClock;
pub use database::Database;
pub use engine::{EngineFault, TestEngine};
pub use models::testing::TestEmbedder;
pub use pages::page;
pub use poll::until;
pub use requests::{feedback, read_id, read_url, search};
pub use reranker::TestReranker;
pub use runtime::runtime;
pub use tenants::Tenant;
pub use test_app::{Setup, TestApp};
pub use tokens::{TestTokens, TokenTrouble, claims};
pub use web_provider::{TestProvider, found};
