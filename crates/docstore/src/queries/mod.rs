//! Queries of all operations, written once and compiled once for each backend. `Conn` and the macros are those of the
//! backend module that includes this folder.
//!
//! Operations are documented in `operations.rs`. A query on tenant data takes the organization and names it in its
//! condition.

pub mod accounts;
pub mod activity;
pub mod audit;
pub mod balances;
pub mod captures;
pub mod crawl_counts;
pub mod crawl_hosts;
pub mod crawl_locks;
pub mod crawl_upkeep;
pub mod crawl_urls;
pub mod crawl_visits;
pub mod crawls;
pub mod deliveries;
pub mod documents;
pub mod embedding_queue;
pub mod evidence;
pub mod files;
pub mod index_models;
pub mod inventory;
pub mod outbox;
pub mod page_reads;
pub mod parts;
pub mod removal;
pub mod research;
pub mod research_work;
pub mod retention;
pub mod run_files;
pub mod runs;
pub mod storage_totals;
pub mod term_vectors;
pub mod usage;
pub mod vectors;
pub mod web_pages;
pub mod webhooks;

use super::{Conn, lock_documents};
