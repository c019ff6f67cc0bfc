//! Queries of all operations, written once and compiled once for each backend. `Conn` and the macros are those of the
//! backend module that includes this folder.
//!
//! Operations are documented in `operations.rs`. A query on tenant data takes the organization and names it in its
//! condition.

/// Returns the condition that a row comes after a time and an id, in the order of both. Its first part lets an index find the start of
/// the page: of the second one alone it would read all earlier rows.
macro_rules! is_after {
    ($time:expr, $id:expr, ($after_time:expr, $after_id:expr)) => {
        $time.ge(Bind($after_time)).and($time.gt(Bind($after_time)).or($id.gt(Bind($after_id))))
    };
}

/// Returns the condition that a row comes before a time and an id, like [`is_after`].
macro_rules! is_before {
    ($time:expr, $id:expr, ($before_time:expr, $before_id:expr)) => {
        $time.le(Bind($before_time)).and($time.lt(Bind($before_time)).or($id.lt(Bind($before_id))))
    };
}

/// Returns the condition that a document belongs in an index.
macro_rules! is_indexable {
    ($index:expr) => {
        documents::organization_id
            .is_not_null()
            .eq(is_workspace($index))
            .and(documents::listed)
            .and(documents::removed_at.is_null())
            .and(documents::latest_capture_id.is_not_null())
    };
}

pub mod accounts;
pub mod activity;
pub mod audit;
pub mod balances;
pub mod calibrations;
pub mod captures;
pub mod crawl_claims;
pub mod crawl_counts;
pub mod crawl_hosts;
pub mod crawl_locks;
pub mod crawl_targets;
pub mod crawl_upkeep;
pub mod crawl_urls;
pub mod crawl_visits;
pub mod crawls;
pub mod deleted_files;
pub mod deliveries;
pub mod documents;
pub mod embedding_queue;
pub mod evidence;
pub mod feedback;
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
pub mod snippets;
pub mod statistics;
pub mod storage_totals;
pub mod term_vectors;
pub mod usage;
pub mod vectors;
pub mod web_pages;
pub mod webhooks;

use model::IndexName;

use super::{
    CLEAR_INDEX, Conn, lock_claims_of_deliveries, lock_documents, lock_organizations, lock_outbox, refresh_statistics,
};

/// Returns true for the index whose documents have owners.
pub fn is_workspace(index: IndexName) -> bool {
    match index {
        IndexName::Web => false,
        IndexName::Workspace => true,
    }
}
