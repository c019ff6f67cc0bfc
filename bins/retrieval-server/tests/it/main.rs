//! End-to-end tests of the built program through its command line, HTTP listeners and storage.
//!
//! Every test runs on SQLite and, if `TEST_DATABASE_URL` names a PostgreSQL whose role may create databases, on
//! PostgreSQL. `RETRIEVAL_SERVER_BIN` overrides the program under test [default: the one just built].
#![expect(clippy::unwrap_used, reason = "a test may end early")]
#![expect(clippy::print_stdout, reason = "skipped tests are reported")]

#[macro_use]
mod support;

mod admission;
mod audit;
mod backups;
mod bad_files;
mod bad_requests;
mod changes;
mod cli;
#[expect(dead_code, reason = "the tests of telemetry use all of it")]
#[path = "../../../../crates/telemetry/tests/it/collector.rs"]
mod collector;
mod commands;
mod composition;
mod connections;
mod data_folders;
mod deployment;
mod doctor;
mod documents;
mod embedding;
mod external_index;
mod faults;
mod file_names;
mod files;
mod first_start;
#[cfg(target_os = "linux")]
mod full_output;
mod index_rebuild;
mod installer;
mod instances;
#[cfg(target_os = "linux")]
#[path = "../../../../crates/extract-worker/tests/it/lacking.rs"]
mod lacking;
mod logs;
mod meilisearch;
mod monitoring;
mod oauth;
mod public_urls;
mod qdrant;
mod quickstart;
mod rendering;
mod reranking;
mod restored;
mod roles;
mod runs;
#[cfg(target_os = "linux")]
mod sandbox;
#[expect(dead_code, reason = "the tests of access-tokens use all of it")]
#[path = "../../../../crates/access-tokens/tests/it/signing.rs"]
mod signing;
mod tenant_routes;
mod tenants;
mod tls;
mod traces;
mod upgrades;
mod uploads;
mod usage;
mod web;
mod web_archives;
mod web_crawls;
mod web_folders;
mod web_pages;
mod webhooks;
