//! Tests of the docstore, each on SQLite and on PostgreSQL.
//!
//! The PostgreSQL half needs `TEST_DATABASE_URL` with a role that may create databases; `cargo xtask test` provides one.
#![expect(clippy::unwrap_used, reason = "a test may end early")]

#[macro_use]
mod support;
mod usage;

mod accounts;
mod activity;
mod audit;
mod balances;
mod captures;
mod concurrency;
mod connections;
mod copies;
mod crawls;
mod documents;
mod embedding_jobs;
mod evidence;
mod feedback;
mod files;
mod leases;
mod migrations;
mod outbox;
mod page_reads;
mod parts;
mod previous_build;
mod quotas;
mod removal;
mod research;
mod retention;
mod runs;
mod schema;
mod term_vectors;
mod unknown_values;
mod vectors;
mod web_pages;
mod webhooks;
