//! The built program, end to end: its command line, its HTTP listeners, its storage, nothing from inside.
//!
//! Every scenario runs on SQLite and, where `TEST_DATABASE_URL` names a PostgreSQL whose role may create databases, on
//! PostgreSQL. `RETRIEVAL_SERVER_BIN` names another program to test than the one that was just built.
#![expect(clippy::unwrap_used, reason = "a test may end early")]
#![expect(clippy::print_stdout, reason = "what is not run is told")]

#[macro_use]
mod support;

mod audit;
mod bad_files;
mod bad_requests;
mod changes;
mod cli;
mod commands;
mod crashes;
mod door;
mod file_names;
mod first_start;
mod healing;
mod installer;
mod instances;
mod main_job;
mod meilisearch;
mod oauth;
mod reading;
mod runs;
mod second_stage;
#[expect(dead_code, reason = "the tests of access-tokens use all of it")]
#[path = "../../../../crates/access-tokens/tests/it/signing.rs"]
mod signing;
mod tenant_routes;
mod tenants;
mod uploads;
mod usage;
mod web;
mod web_archives;
mod web_pages;
