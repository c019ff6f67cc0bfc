//! Table of all operations. Each line declares a method of [`Docstore`] and names its query, `queries/MODULE.rs`.
//!
//! `read` runs one query on any connection, `snapshot` several queries on one consistent snapshot; `write`, `bulk` and
//! `relaxed` run in one transaction. On SQLite waiting writes share a commit, a `bulk` write has its own, and a power failure
//! may lose the last `relaxed` ones. `stepwise` is `relaxed` for what may be stored in part: on PostgreSQL each statement commits by
//! itself. The method and its query share one token, so that go-to-definition reaches both.

use std::time::Duration;

use futures_util::future::BoxFuture;
use model::{
    ApiKeyId, AuditEntryId, BalanceEntryId, CaptureId, Collection, CrawlId, CrawlStatus, CrawlUrlState, DeliveryId,
    DocId, FeedbackId, Generation, IndexName, OrganizationId, PassageId, ResearchId, ResearchStatus, RunState,
    SearchId, SyncId, Timestamp, WebhookId,
};

use crate::Docstore;
use crate::backend::{Backend, postgres, sqlite};
use crate::crawls::{
    CrawlLimits, CrawlVisit, DueUrls, FrontierTotals, NewCrawlUrl, Recorded, SkippedLinks, WebPageEntry,
};
use crate::documents::{
    DocumentState, DocumentToRank, LoadedDocument, NewDocument, NewPage, NewPageRead, ReadCapture, SaveOutcome,
    StoredCapture, TermVectorState,
};
use crate::embedding::{CaptureVectors, NewVectors};
use crate::error::Result;
use crate::file_result::FileResult;
use crate::inventory::Contents;
use crate::outbox_work::OutboxWork;
use crate::part_map::PartMap;
use crate::parts::{LoadedPart, NewParts, TermBucket, WantedParts};
use crate::rows::*;
use crate::visible::VisibleDocument;

/// Work that starts when it is first awaited. A write then runs to its end even if it is dropped.
///
/// Boxed, so that it is compiled with its query in this crate. The future of an `async fn` is compiled by each crate that awaits it.
pub type Operation<T> = BoxFuture<'static, Result<T>>;

macro_rules! operations {
    ($($(#[$doc:meta])* $kind:ident $module:ident::$name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        impl Docstore {
            $(
                $(#[$doc])*
                pub fn $name(&self, $($argument: $type),*) -> Operation<$result> {
                    let name = concat!("database ", stringify!($name));
                    match &self.backend {
                        Backend::Postgres(pools) => {
                            let pools = pools.clone();
                            let work = operations!(@$kind postgres pools $module $name $($argument)*);
                            Self::operation(name, "postgresql", Box::pin(self.detached(work)))
                        }
                        Backend::Sqlite(pools) => {
                            let pools = pools.clone();
                            let work = operations!(@$kind sqlite pools $module $name $($argument)*);
                            Self::operation(name, "sqlite", Box::pin(work))
                        }
                    }
                }
            )*
        }
    };
    (@run $method:ident $backend:ident $pools:ident $module:ident $name:ident $($argument:ident)*) => {
        async move {
            $pools
                .$method(move |connection| {
                    Box::pin($backend::queries::$module::$name(connection, $($argument.into()),*))
                })
                .await
        }
    };
    (@read $($rest:tt)*) => { operations!(@run read $($rest)*) };
    (@snapshot $($rest:tt)*) => { operations!(@run snapshot $($rest)*) };
    (@write $($rest:tt)*) => { operations!(@run write $($rest)*) };
    (@bulk $($rest:tt)*) => { operations!(@run write_bulk $($rest)*) };
    (@relaxed $($rest:tt)*) => { operations!(@run write_relaxed $($rest)*) };
    (@stepwise $($rest:tt)*) => { operations!(@run write_stepwise $($rest)*) };
}

operations! {
    /// Verifies that the database responds and has the tables.
    read accounts::ping() -> ();
    /// Renews the database's statistics of tables that have grown much. Call it after many documents were stored.
    stepwise statistics::refresh_statistics() -> ();
    /// Counts the rows of the main tables.
    snapshot inventory::count_contents() -> Contents;
    /// Returns true if there may be an object of a file that is not deleted, of any organization: a run has read one, or an upload counts.
    read inventory::has_uploads() -> bool;
    /// Lists files of all organizations for the operator, with withdrawn ones, in key order, after the given key.
    read inventory::list_all_files(after: Option<String>, limit: i64) -> Vec<File>;
    /// Lists documents of all organizations, without removed ones, that lack their latest capture. For the operator.
    read inventory::list_documents_without_capture(limit: i64) -> Vec<DocId>;
    /// Lists workspace documents of all organizations, without removed ones, that have no file. For the operator.
    read inventory::list_documents_without_file(after: Option<DocId>, limit: i64) -> Vec<DocId>;
    /// Creates an organization, with its first balance if it is billed.
    write accounts::create_organization(organization: Organization, prepaid: Option<BalanceEntry>, entry: AuditEntry) -> ();
    /// Creates an organization together with its first key. Returns false if there is an organization already, also a deleted one.
    write accounts::create_first_organization(organization: (Organization, AuditEntry), key: (ApiKey, AuditEntry)) -> bool;
    /// Lists all organizations, oldest first.
    read accounts::list_organizations() -> Vec<Organization>;
    /// Lists all organizations with the size of their data, oldest first.
    snapshot accounts::list_organization_sizes() -> Vec<OrganizationSize>;
    read accounts::find_organization(organization_id: OrganizationId) -> Option<Organization>;
    write accounts::create_api_key(key: ApiKey, entry: AuditEntry) -> ();
    /// Creates a key on behalf of a credential of its organization: of the key `creator`, which must still be valid, or of an
    /// access token. The organization may have at most `max_valid` keys that are neither revoked nor expired, and create at most
    /// `max_daily` in 24 hours. Deletes the oldest invalid keys beyond `max_invalid`. That must not be below `max_daily`, since
    /// deleted keys are not counted.
    write accounts::create_organization_key(key: ApiKey, creator: Option<ApiKeyId>, max_valid: i64, max_daily: i64, max_invalid: i64, entry: AuditEntry) -> KeyCreation;
    /// Revokes a key of the organization. Idempotent: a second call keeps the first time and writes no audit entry. `None` for an
    /// unknown key.
    write accounts::revoke_organization_key(organization_id: OrganizationId, key_id: ApiKeyId, now: Timestamp, entry: AuditEntry) -> Option<ApiKey>;
    /// Lists the keys of an organization, oldest first.
    read accounts::list_api_keys(organization_id: OrganizationId) -> Vec<ApiKey>;
    /// Finds a key of the organization.
    read accounts::find_api_key(organization_id: OrganizationId, key_id: ApiKeyId) -> Option<ApiKey>;
    /// Finds the key with this SHA-256 digest and its organization. Includes revoked and expired keys.
    read accounts::find_key_by_digest(digest: Vec<u8>) -> Option<(ApiKey, Organization)>;
    /// Revokes a key. Idempotent: a second call keeps the first time and writes no audit entry. The organization of the
    /// entry is filled in. `None` for an unknown key.
    write accounts::revoke_api_key(key_id: ApiKeyId, now: Timestamp, entry: AuditEntry) -> Option<ApiKey>;
    /// Updates the times of last use. Never replaces a later time by an earlier one.
    relaxed accounts::touch_api_keys(used: Vec<(ApiKeyId, Timestamp)>) -> ();

    /// Marks an organization as deleted, revokes its keys and ends its runs. Idempotent: a second call keeps the first time and
    /// writes no audit entry. `None` for an unknown organization.
    write removal::mark_organization_deleted(organization_id: OrganizationId, now: Timestamp, entry: AuditEntry) -> Option<Organization>;
    /// Lists deleted organizations without a complete removal that started at least `late` after their deletion, or at least `last`
    /// after it once that time is over, in the order of deletion.
    read removal::list_organizations_to_remove(late: Duration, last: Duration, now: Timestamp) -> Vec<Organization>;
    /// Deletes at most `limit` documents of a workspace and enqueues them for their index. Returns the number of documents found, some
    /// of which another instance may have deleted meanwhile: with fewer than `limit`, none is left.
    bulk removal::purge_workspace(organization_id: OrganizationId, limit: i64, now: Timestamp) -> usize;
    /// Deletes rows that belong to the organization, of each table at most `limit`: searches, feedback, grants, usage, outcomes of runs
    /// and then the runs, research runs with all their events, deliveries and then webhooks, readings of pages with their captures, and
    /// files. Returns the number of rows found, like `purge_workspace`, without events and captures. Keys, ledger and audit log remain.
    bulk removal::delete_tenant_rows(organization_id: OrganizationId, limit: i64) -> usize;
    /// Records that a removal which started at this time has left no data of a deleted organization. Replaces the time of a removal that
    /// started earlier than `late` after the deletion. Returns false and records nothing if there are documents or files.
    write removal::complete_removal(organization_id: OrganizationId, started_at: Timestamp, late: Duration) -> bool;

    /// Deletes at most `limit` searches from before this time, oldest first. Returns their number.
    bulk retention::prune_searches(before: Timestamp, limit: i64) -> usize;
    /// Deletes feedback like `prune_searches`.
    bulk retention::prune_feedback(before: Timestamp, limit: i64) -> usize;
    /// Deletes grants that were last renewed before this time, like `prune_searches`.
    bulk retention::prune_grants(before: Timestamp, limit: i64) -> usize;
    /// Deletes readings of about `limit` pages that were last seen before this time and are not granted any more, and the pages that
    /// nobody else reads. Returns the number of readings.
    bulk retention::prune_page_reads(before: Timestamp, limit: i64) -> usize;
    /// Deletes at most `limit` captures that were replaced before this time, except those that citations keep at `now`. Returns their
    /// number.
    bulk evidence::prune_captures(superseded_before: Timestamp, now: Timestamp, limit: i64) -> usize;
    /// Deletes the content of at most `limit` pages that were removed from the shared web index before this time. What was shown or cited is
    /// replaced as of `now`, and pruned like other replaced captures. The row stays: content from before the removal does not restore the
    /// page. Returns the number of pages.
    bulk retention::prune_removed_pages(before: Timestamp, now: Timestamp, limit: i64) -> usize;
    /// Deletes at most `limit` indexing runs that ended before this time, once the outcomes of their files are pruned. Returns their number.
    bulk retention::prune_runs(before: Timestamp, limit: i64) -> usize;
    /// Deletes at most `limit` research runs that have ended and expired, with their events. Returns their number.
    bulk retention::prune_research(now: Timestamp, limit: i64) -> usize;

    /// Adds a ledger entry and returns the new balance. Returns `None` and changes nothing if the balance would fall below
    /// zero or exceed 64 bits.
    write balances::post_balance_entry(entry: BalanceEntry) -> Option<i64>;
    /// Adds ledger entries, each like `post_balance_entry`, in this order. Returns as many outcomes.
    write balances::post_balance_entries(entries: Vec<BalanceEntry>) -> Vec<Option<i64>>;
    /// Adds a ledger entry like `post_balance_entry`, with an audit entry for the administrative change.
    write balances::adjust_balance(posted: BalanceEntry, entry: AuditEntry) -> Option<i64>;
    /// Finds searches that were debited in `[from, before)`, and neither recorded nor refunded until now: lost in a crash. Reads all debits
    /// of this time, so pass a short one.
    snapshot balances::find_unrecorded_searches(organization_id: OrganizationId, from: Timestamp, before: Timestamp) -> Vec<SearchId>;
    /// Refunds the cost of these searches, except what was refunded before, in one transaction that holds the balance. Returns the
    /// number of refunds.
    write balances::refund_searches(organization_id: OrganizationId, search_ids: Vec<SearchId>, now: Timestamp) -> usize;
    /// Lists the ledger, oldest first, after the entry with this time and id.
    read balances::list_balance_entries(organization_id: OrganizationId, after: Option<(Timestamp, BalanceEntryId)>, limit: i64) -> Vec<BalanceEntry>;
    /// Returns the balance in cents; `None` if the organization never had one.
    read balances::find_balance(organization_id: OrganizationId) -> Option<i64>;

    /// Writes the audit entry of a change that takes many transactions, before the first of them.
    write audit::record_audit_entry(entry: AuditEntry) -> ();
    /// Lists audit entries of all organizations for the operator, newest first, before the entry with this time and id.
    read audit::list_audit_entries(filter: AuditFilter, before: Option<(Timestamp, AuditEntryId)>, limit: i64) -> Vec<AuditEntry>;

    /// Finds a document that the organization may read by its URL, with its latest capture: a listed page, a page that it looked
    /// up before, or a document of its workspace. Excludes removed documents. Of a divided content it loads the first part.
    snapshot documents::read_document(organization_id: OrganizationId, doc_id: DocId) -> Option<(VisibleDocument, Option<StoredCapture>)>;
    /// Finds a document like `read_document` if it was granted to the organization.
    snapshot documents::read_granted_document(organization_id: OrganizationId, doc_id: DocId) -> Option<(VisibleDocument, Option<StoredCapture>)>;
    /// Finds a document like `read_granted_document`, without its capture.
    read documents::find_granted_document(organization_id: OrganizationId, doc_id: DocId) -> Option<VisibleDocument>;
    /// Reads a capture of a document that `read_document` would find, with the first part of a divided content. Excludes captures
    /// that were replaced at `superseded_after` or before, unless a citation keeps them at `now`.
    snapshot documents::read_capture(organization_id: OrganizationId, doc_id: DocId, capture_id: CaptureId, superseded_after: Timestamp, now: Timestamp) -> Option<ReadCapture>;
    /// Registers a web page that the organization looked up, and grants it. Does nothing for a page registered before.
    write page_reads::register_page(page: NewPage, now: Timestamp) -> ();
    /// Finds the organization's own reading of a web page, with its capture. For the page fetcher.
    snapshot page_reads::find_page_read(organization_id: OrganizationId, doc_id: DocId) -> Option<(PageRead, Option<Capture>)>;
    /// Stores content that was read for one organization. The shared document does not change.
    write page_reads::save_page_read(new: NewPageRead) -> ();
    /// Stores content like `save_page_read`. For long content, which other writes should not wait for.
    bulk page_reads::save_long_page_read(new: NewPageRead) -> ();
    /// Loads the organization's own readings of pages, in no particular order, as only this organization sees them. Of a divided
    /// content it loads the first part.
    snapshot page_reads::load_page_reads(organization_id: OrganizationId, doc_ids: Vec<DocId>) -> Vec<LoadedDocument>;
    /// Stores texts of search results for one organization, except of pages of which it may read more. Returns the captures that the
    /// organization now has: an unchanged text keeps its own.
    write snippets::save_snippets(organization_id: OrganizationId, snippets: Vec<NewPageRead>) -> Vec<(DocId, CaptureId)>;
    /// Records that the organization's capture was revalidated at `now`. Does nothing if it has been replaced.
    write page_reads::confirm_page_read(organization_id: OrganizationId, doc_id: DocId, capture_id: CaptureId, now: Timestamp) -> ();
    /// Loads parts of contents that the organization may read, with their passages, in no particular order. Skips
    /// captures that do not exist any more or are not divided.
    snapshot parts::load_parts(organization_id: OrganizationId, wanted: Vec<WantedParts>) -> Vec<LoadedPart>;
    /// Loads buckets of the words of captures that the organization may read, given by capture and number. Missing ones
    /// are empty.
    snapshot parts::load_terms(organization_id: OrganizationId, wanted: Vec<(CaptureId, Vec<usize>)>) -> Vec<TermBucket>;
    /// Finds passages of a capture that the organization may read, in order of their ordinals.
    read parts::find_passages(organization_id: OrganizationId, capture_id: CaptureId, passage_ids: Vec<PassageId>) -> Vec<Passage>;
    /// Loads the passages of a capture of any organization. For the indexer only.
    read parts::list_passages(capture_id: CaptureId) -> Vec<Passage>;
    /// Loads the content of a capture of any organization after its first part. For the indexer only.
    read parts::load_rest(capture_id: CaptureId) -> String;
    /// Loads the content like `load_rest`, up to the end of the part `last`.
    read parts::load_rest_to(capture_id: CaptureId, last: usize) -> String;
    /// Loads the first passages of a capture of any organization. For the indexer only.
    read parts::list_first_passages(capture_id: CaptureId, limit: i64) -> Vec<Passage>;
    /// Loads passages of captures of any organization, in order of captures and ordinals: of each all, or those with ordinals below
    /// a limit. Each limit is a condition of the query, so pass at most some hundred. For the indexer only.
    read parts::list_leading_passages(wanted: Vec<(CaptureId, usize)>) -> Vec<Passage>;
    /// Stores the content of a capture again, divided. Does nothing if the capture was deleted. For the indexer only.
    bulk parts::divide_capture(capture_id: CaptureId, map: PartMap, new: NewParts) -> ();
    /// Loads listed documents of one collection with their latest captures, in no particular order. Skips ids of other
    /// collections and of removed documents. Of a divided content it loads the first part.
    snapshot documents::load_documents(collection: Collection, doc_ids: Vec<DocId>) -> Vec<LoadedDocument>;
    /// Loads those of the documents that `load_documents` would find whose latest capture is known and stored whole, with all its
    /// passages, in no particular order. Costs one round trip instead of four.
    read documents::load_known_documents(collection: Collection, known: Vec<(DocId, CaptureId)>) -> Vec<LoadedDocument>;
    /// Returns the current states of the documents that `load_documents` would find, in no particular order.
    read documents::find_latest_states(collection: Collection, doc_ids: Vec<DocId>) -> Vec<DocumentState>;
    /// Loads the documents that `load_documents` would find without their contents, in no particular order, with term vectors of
    /// this version.
    read term_vectors::load_for_ranking(collection: Collection, doc_ids: Vec<DocId>, version: i32) -> Vec<DocumentToRank>;
    /// Stores term vectors of documents of any organization in place of earlier ones. Skips documents that were deleted or have
    /// another capture meanwhile.
    relaxed term_vectors::store_term_vectors(new: Vec<StoredTermVector>) -> ();
    /// Returns the states that stored term vectors of this version were computed from, of documents of any organization. For the
    /// indexer only.
    read term_vectors::find_term_vector_states(doc_ids: Vec<DocId>, version: i32) -> Vec<TermVectorState>;
    /// Loads listed documents of all tenants, with the first parts of divided contents. For the indexer only.
    read documents::load_for_indexing(doc_ids: Vec<DocId>) -> Vec<(Document, Capture)>;
    /// Lists the ids of listed documents with a capture that belong in the index, in id order.
    read documents::list_indexable_documents(index: IndexName, after: Option<DocId>, limit: i64) -> Vec<DocId>;
    /// Lists the ids of all documents of a workspace, including removed ones.
    read documents::list_workspace_documents(organization_id: OrganizationId) -> Vec<DocId>;
    /// Hides a document from all reads; its rows remain until they are purged. Returns false if there is no such document.
    write documents::hide_workspace_document(organization_id: OrganizationId, doc_id: DocId, now: Timestamp) -> bool;

    /// Stores documents with their captures and enqueues changed ones for their index.
    ///
    /// The result is in the order of the batch. If a document occurs twice, the last occurrence wins. A removed document
    /// is restored unless its content was read before the removal.
    bulk captures::save_documents(batch: Vec<NewDocument>, now: Timestamp) -> Vec<SaveOutcome>;
    /// Keeps captures that the organization may read until this time at least, although others replace them. Skips unknown ones.
    write evidence::keep_as_evidence(organization_id: OrganizationId, capture_ids: Vec<CaptureId>, until: Timestamp) -> ();

    /// Creates a crawl, or updates the one of this name and starts a new round if its last one has ended or it permits more than before.
    /// Queues the seeds, from which links are counted. With other settings than before all pages are requested unconditionally.
    write crawls::start_crawl(crawl: Crawl, seeds: Vec<NewCrawlUrl>, limits: CrawlLimits, now: Timestamp, entry: Option<AuditEntry>) -> Crawl;
    /// Sets the status of the crawl of this name, and writes the audit entry if it had another one. `None` for an unknown crawl.
    write crawls::set_crawl_status(name: String, status: CrawlStatus, entry: Option<AuditEntry>) -> Option<Crawl>;
    read crawls::find_crawl(name: String) -> Option<Crawl>;
    /// Lists all crawls, oldest first.
    read crawls::list_crawls() -> Vec<Crawl>;
    /// Lists the numbers of a crawl's URLs by state and reason, and of links that were not followed.
    read crawl_counts::list_crawl_counts(crawl_id: CrawlId) -> Vec<CrawlCount>;
    read crawls::frontier_totals() -> FrontierTotals;
    /// Deletes at most `limit` URLs of a crawl, with pages that no other crawl lists if asked for, and the crawl itself once it
    /// has none, with the audit entry. Returns true if the crawl is gone. One that is started again before that visits all anew.
    bulk crawls::delete_crawl(crawl_id: CrawlId, with_pages: bool, limit: i64, now: Timestamp, entry: Option<AuditEntry>) -> bool;
    /// Adds URLs to the frontier of a crawl. Known ones stay as they are, unless they were modified since: they are visited
    /// again at the shortest interval. Returns false if the crawl is gone.
    write crawl_urls::add_crawl_urls(crawl_id: CrawlId, links: Vec<NewCrawlUrl>, skipped: Vec<SkippedLinks>, limits: CrawlLimits, now: Timestamp) -> bool;
    /// Queues the next `limit` URLs that the current round has not visited, in id order. Returns their number and the last one; `None` at
    /// the end.
    bulk crawl_upkeep::requeue_crawl(crawl_id: CrawlId, after: Option<DocId>, limit: i64, now: Timestamp) -> (usize, Option<DocId>);
    /// Queues a visit of the URL in all running crawls that know it. Returns their number.
    write crawl_upkeep::refresh_crawled_page(url_id: DocId, now: Timestamp) -> usize;
    /// Ends the wait of the current round for at most `limit` queued URLs: those of a host, or all new pages of a full crawl. New URLs
    /// get this outcome, others keep theirs. All are visited again at `next_fetch_at`. Pages that named one of the host's as canonical
    /// are queued instead. Returns the number of those that ended.
    bulk crawl_upkeep::settle_queued(crawl_id: CrawlId, host: Option<String>, outcome: (CrawlUrlState, String), next_fetch_at: Option<Timestamp>, limit: i64, now: Timestamp) -> usize;
    /// Lists crawls that have reached their limit of pages and still wait for visits.
    read crawl_upkeep::list_full_crawls() -> Vec<CrawlId>;
    /// Makes URLs due whose next visit is later than anyone can have planned: the clock was set back. Returns their number.
    bulk crawl_upkeep::reschedule_crawl(crawl_id: CrawlId, longest: Duration, now: Timestamp) -> usize;
    /// Lists hosts with due URLs that nobody has leased, those served least recently first; with `only`, of this crawl.
    read crawl_hosts::list_due_crawl_hosts(only: Option<CrawlId>, now: Timestamp, limit: i64) -> Vec<String>;
    /// Leases a host to `owner` unless another one holds it.
    write crawl_hosts::claim_crawl_host(host: String, owner: String, now: Timestamp, lease_expires_at: Timestamp) -> Option<CrawlHost>;
    /// Lists due URLs of a host by crawl, at most `limit` of each, in the order of their visits. First visits and visits again
    /// alternate. The caller holds the lease.
    snapshot crawl_hosts::next_crawl_urls(host: String, only: Option<CrawlId>, now: Timestamp, limit: i64) -> Vec<DueUrls>;
    /// Extends the leases of these hosts as far as `owner` holds them. Returns their number.
    relaxed crawl_hosts::extend_crawl_leases(owner: String, visited: Vec<String>, lease_expires_at: Timestamp) -> usize;
    /// Releases a host if `owner` holds it. With `rest_until` it is claimed again from then on.
    relaxed crawl_hosts::release_crawl_host(host: String, owner: String, rest_until: Option<Timestamp>) -> ();
    /// Releases all hosts of an owner that has ended. Returns their number.
    write crawl_hosts::release_crawl_owner(owner: String) -> usize;
    /// Lists the owners of leases, expired ones included.
    read crawl_hosts::list_crawl_owners() -> Vec<String>;
    /// Recomputes when a host is due next.
    write crawl_hosts::refresh_crawl_queues(host: String) -> ();
    /// Returns the digests of the current contents of listed pages.
    read crawl_visits::list_valid_digests(url_ids: Vec<DocId>) -> Vec<(DocId, String)>;
    /// Stores the outcome of a visit with its document, its links and the counters of the crawl, if `owner` holds the lease of the
    /// host and the settings of the crawl are those of the visit.
    write crawl_visits::record_crawl_visit(visit: CrawlVisit, owner: String, limits: CrawlLimits, now: Timestamp) -> Recorded;
    /// Lists pages of the shared web index whose canonical URLs begin with the prefix, in the order of their ids.
    read web_pages::list_web_pages(prefix: Option<String>, after: Option<DocId>, limit: i64) -> Vec<WebPageEntry>;
    /// Returns true if the shared web index has pages.
    read web_pages::has_web_pages() -> bool;
    read web_pages::count_web_pages() -> i64;
    /// Returns true if the shared web index contains the page.
    read web_pages::find_web_page(doc_id: DocId) -> bool;
    /// Removes pages from the shared web index. Crawls visit them no more. Returns their number; without any, the audit entry is
    /// not written.
    bulk web_pages::remove_web_pages(doc_ids: Vec<DocId>, now: Timestamp, entry: Option<AuditEntry>) -> usize;

    /// Stores searches, unless they are stored, and grants their results to the organizations. Skips grants of documents deleted
    /// since.
    stepwise activity::record_searches(rows: Vec<Search>, granted: Vec<Grant>) -> ();
    read activity::find_search(organization_id: OrganizationId, search_id: SearchId) -> Option<Search>;
    /// Grants a document to an organization, or renews its grant if that is older than a day. Does nothing if the document was deleted.
    relaxed activity::grant_document(grant: Grant) -> ();
    read activity::is_granted(organization_id: OrganizationId, doc_id: DocId) -> bool;
    /// Stores a feedback event. Marks the web page `stale`, if it was granted to the organization, as outdated for this organization only.
    /// Ignores workspace documents, whose content is that of their file.
    write feedback::record_feedback(row: Feedback, stale: Option<DocId>) -> ();
    /// Exports feedback of all organizations for the operator, oldest first, after the event with this time and id.
    read feedback::export_feedback(after: Option<(Timestamp, FeedbackId)>, limit: i64) -> Vec<FeedbackExport>;

    /// Adds requests to the rollups by minute, hour and day. Also stores the single requests if `keep_events`.
    relaxed usage::record_usage(events: Vec<UsageEvent>, keep_events: bool) -> ();
    /// Adds the requests of `minutes`, rollups of the period [`MINUTE`], to the rollups by minute, hour and day. Ignores their spending.
    relaxed usage::count_requests(minutes: Vec<UsageRollup>) -> ();
    /// Lists the next rollups of `period` that start before `to`, ordered by start, identity and route. At most `limit`.
    read usage::list_usage_rollups(organization_id: OrganizationId, period: i64, after: RollupPosition, to: Timestamp, limit: i64) -> Vec<UsageRollup>;
    /// Lists the identities with requests on the days of `[from, to)`, at most `limit`, those with the most requests first.
    read usage::list_busiest_identities(organization_id: OrganizationId, from: Timestamp, to: Timestamp, limit: i64) -> Vec<String>;
    /// Lists at most `limit` single requests in `[from, to)` that are still kept.
    read usage::list_usage_events(organization_id: OrganizationId, from: Timestamp, to: Timestamp, limit: i64) -> Vec<UsageEvent>;
    /// Counts the single requests in `[from, to)` that are still kept.
    read usage::count_usage_events(organization_id: OrganizationId, from: Timestamp, to: Timestamp) -> i64;
    /// Lists time, identity and cents of spending in `[from, to)`; refunds are negative. At most `limit` entries.
    read usage::list_spending(organization_id: OrganizationId, from: Timestamp, to: Timestamp, limit: i64) -> Vec<(Timestamp, String, i64)>;
    /// Deletes about `limit` single requests older than `before`, at most. Returns the number deleted.
    bulk usage::prune_usage_events(before: Timestamp, limit: i64) -> usize;
    /// Deletes about `limit` rollups of minutes older than `before`. Returns the number deleted.
    bulk usage::prune_usage_minutes(before: Timestamp, limit: i64) -> usize;

    /// Registers a file name for upload, or renews its upload time, unless that exceeds a quota. Changed labels apply to the
    /// stored document at once. `Conflict` if another organization owns the key.
    write files::register_file(file: File, quotas: StorageQuotas) -> Registration;
    /// Returns the files and bytes that count against the organization's quotas.
    read storage_totals::find_storage_totals(organization_id: OrganizationId) -> StorageTotals;
    /// Lists files whose upload URL has expired and whose objects have not been measured since, of one organization or all.
    read storage_totals::list_expired_uploads(organization_id: Option<OrganizationId>, now: Timestamp, limit: i64) -> Vec<File>;
    /// Records that the object of a deleted file was deleted. Stops counting the file if these are the bytes of its last upload, whose URL
    /// was used.
    write storage_totals::release_upload(organization_id: OrganizationId, object_key: String, bytes: i64, uploaded_at: Timestamp) -> ();
    /// Stores the measured bytes of objects. A deleted file with a later object is a file again, one without an object is no longer
    /// counted. Skips files with an upload URL that is valid at `now`.
    bulk storage_totals::settle_uploads(organization_id: OrganizationId, measured: Vec<MeasuredUpload>, now: Timestamp) -> ();
    /// Lists settled uploads as expired at `now`, so that their objects are measured again.
    bulk storage_totals::remeasure_uploads(organization_id: OrganizationId, object_keys: Vec<String>, now: Timestamp) -> ();
    /// Lists expired uploads again only once they have expired at `until`: their objects cannot be measured. They count what they did. Skips
    /// files with an upload URL that is valid at `now`.
    bulk storage_totals::postpone_uploads(organization_id: OrganizationId, object_keys: Vec<String>, now: Timestamp, until: Timestamp) -> ();
    read files::find_file(organization_id: OrganizationId, object_key: String) -> Option<File>;
    /// Lists files in key order, after the given key.
    read files::list_files(organization_id: OrganizationId, after: Option<String>, limit: i64) -> Vec<File>;
    /// Lists files in byte order of their names, after the given name. Includes withdrawn ones.
    read files::list_files_by_name(organization_id: OrganizationId, after: Option<String>, limit: i64) -> Vec<File>;
    /// Lists the outcomes of a run's files in byte order of their names, after the given name.
    read run_files::list_run_files(organization_id: OrganizationId, sync_id: SyncId, after: Option<String>, limit: i64) -> Vec<RunFile>;
    /// Deletes about `limit` outcomes of runs older than `before`, at most. Returns the number deleted.
    bulk run_files::prune_run_files(before: Timestamp, limit: i64) -> usize;
    /// Lists files last processed by this run, of any organization, for the operator. In key order, after the given key.
    read files::list_files_of_run(sync_id: SyncId, after: Option<String>, limit: i64) -> Vec<File>;
    /// Deletes a file in the database: marks it as withdrawn and hides its document.
    ///
    /// `run` is queued unless another one is waiting, or an earlier deletion of the file has queued one. `None` for an unknown file.
    write files::withdraw_file(organization_id: OrganizationId, object_key: String, run: IndexRun, now: Timestamp) -> Option<Withdrawal>;
    /// Records the ETag of the object that a deletion at `withdrawn_at` found, `None` if it found none: another object is a later upload.
    /// Changes nothing after a later deletion or registration.
    write deleted_files::record_deleted_object(organization_id: OrganizationId, object_key: String, withdrawn_at: Timestamp, etag: Option<String>) -> ();
    /// Deletes the rows of files that have no objects, unless they were registered at `created_before` or later.
    bulk files::delete_files(organization_id: OrganizationId, object_keys: Vec<String>, created_before: Timestamp) -> ();

    /// Queues a run, or returns the organization's queued run, upgraded to a full one if the new one is full.
    write runs::request_run(run: IndexRun) -> IndexRun;
    read runs::find_run(organization_id: OrganizationId, sync_id: SyncId) -> Option<IndexRun>;
    /// Finds a run of any organization. For the operator.
    read runs::find_any_run(sync_id: SyncId) -> Option<IndexRun>;
    /// Returns true if a run of the organization is queued or in flight.
    read runs::has_unfinished_run(organization_id: OrganizationId) -> bool;
    /// Counts the runs of all organizations in a state.
    read runs::count_runs(state: RunState) -> i64;
    /// Leases the next run to `owner`: an abandoned one, else the oldest queued one of an organization without a run in
    /// flight. `None` if there is none.
    write runs::claim_run(owner: String, now: Timestamp, lease_expires_at: Timestamp) -> Option<IndexRun>;
    /// Expires the leases of all runs in flight, so that they can be claimed immediately. Only safe if no other process
    /// works on runs. Returns their number.
    write runs::expire_run_leases() -> usize;
    /// Extends the lease of a run. Returns false if another worker owns the run.
    write runs::extend_run_lease(sync_id: SyncId, owner: String, lease_expires_at: Timestamp) -> bool;
    /// Extends the leases of runs that their owners still hold. Returns these runs.
    write runs::extend_run_leases(held: Vec<(SyncId, String)>, lease_expires_at: Timestamp) -> Vec<SyncId>;
    /// Moves a run from planning to running, with `enumerated` files. Returns false if another worker owns the run.
    write runs::begin_running(sync_id: SyncId, owner: String, enumerated: i64) -> bool;
    /// Stores the results of a batch of files and adds them to the run's counters; a repeated call adds nothing. A file that the run
    /// has read before counts its last outcome only. Files that were deleted while the run read them count as deleted. Returns false
    /// and stores nothing if another worker owns the run.
    bulk runs::record_file_results(organization_id: OrganizationId, sync_id: SyncId, owner: String, results: Vec<FileResult>, now: Timestamp) -> bool;
    /// Purges documents whose objects are gone and counts them; their files count as unread. Returns false and deletes nothing if
    /// another worker owns the run.
    bulk runs::record_deletions(organization_id: OrganizationId, sync_id: SyncId, owner: String, doc_ids: Vec<DocId>, now: Timestamp) -> bool;
    /// Ends a run as completed, or as failed with the error, and enqueues the event for the webhooks of its organization.
    /// Returns false if another worker owns the run.
    write runs::finish_run(sync_id: SyncId, owner: String, error: Option<String>, now: Timestamp, event: fn(&IndexRun) -> NewWebhookEvent) -> bool;

    /// Queues a research run with its first event. Returns false and stores nothing if the organization has `limit` runs that
    /// are queued or in flight.
    write research::create_research(run: ResearchRun, created: NewResearchEvent, limit: i64) -> bool;
    /// Finds a research run with the JSON of its report.
    read research::find_research(organization_id: OrganizationId, research_id: ResearchId) -> Option<(ResearchRun, Option<String>)>;
    /// Returns the status of a research run and the sequence of its last event.
    read research::find_research_status(organization_id: OrganizationId, research_id: ResearchId) -> Option<(ResearchStatus, i64)>;
    /// Lists research runs, newest first, before the run with this time and id.
    read research::list_research(organization_id: OrganizationId, status: Option<ResearchStatus>, before: Option<(Timestamp, ResearchId)>, limit: i64) -> Vec<ListedResearch>;
    /// Lists the events of a research run after this sequence, in order.
    read research::list_research_events(organization_id: OrganizationId, research_id: ResearchId, sequence: i64, limit: i64) -> Vec<ResearchEvent>;
    /// Counts the research runs of all organizations in a status.
    read research::count_research(status: ResearchStatus) -> i64;
    /// Leases the next research run to `owner`: an abandoned one, else the oldest queued one of the organization with the
    /// fewest runs in flight. A run that starts gets the event of it. `None` if there is none. Runs in `held` are in progress in this
    /// process: not abandoned, even if a change of the clock has ended their leases.
    write research_work::claim_research(owner: String, held: Vec<ResearchId>, now: Timestamp, lease_expires_at: Timestamp) -> Option<ClaimedResearch>;
    /// Stores a step of a research run with its events and extends the lease; a repeated call changes nothing. Returns false and
    /// stores nothing if another worker owns the run, if it has ended, or if a crash of the database lost earlier steps.
    relaxed research_work::record_research_step(research_id: ResearchId, owner: String, step: ResearchStep, now: Timestamp, lease_expires_at: Timestamp) -> bool;
    /// Ends a research run and enqueues the event for webhooks. Returns false and stores nothing if another worker owns the
    /// run, if it has ended, or if a crash of the database lost earlier steps.
    write research_work::finish_research(research_id: ResearchId, owner: String, end: ResearchEnd, now: Timestamp, ended: ResearchEnded) -> bool;
    /// Cancels a research run unless it has ended, and enqueues the event for webhooks. Its worker loses the lease. Returns
    /// false for an unknown run.
    write research::cancel_research(organization_id: OrganizationId, research_id: ResearchId, expires_at: Timestamp, now: Timestamp, ended: ResearchEnded) -> bool;
    /// Cancels a research run like `cancel_research` and deletes it with its events. Returns false for an unknown run.
    write research::delete_research(organization_id: OrganizationId, research_id: ResearchId, now: Timestamp, ended: ResearchEnded) -> bool;
    /// Extends the leases of research runs that their owners still hold. Returns these runs.
    relaxed research_work::extend_research_leases(held: Vec<(ResearchId, String)>, lease_expires_at: Timestamp) -> Vec<ResearchId>;
    /// Releases a research run for any worker to continue.
    write research_work::release_research(research_id: ResearchId, owner: String) -> ();
    /// Expires the leases of all research runs, so that they can be claimed immediately. Only safe if no other process works
    /// on them. Returns their number.
    write research_work::expire_research_leases() -> usize;
    /// Finds searches that a research run paid for and whose outcome it has not stored. `None` if the run is deleted: its outcomes are
    /// gone with it.
    snapshot research_work::find_unstored_searches(organization_id: OrganizationId, research_id: ResearchId) -> Option<Vec<SearchId>>;

    /// Creates a webhook. Returns false and creates nothing if the organization has `limit` webhooks.
    write webhooks::create_webhook(webhook: Webhook, limit: i64, entry: AuditEntry) -> bool;
    /// Lists the webhooks of an organization, oldest first.
    read webhooks::list_webhooks(organization_id: OrganizationId) -> Vec<Webhook>;
    /// Replaces the secret of a webhook. The replaced one also signs until `previous_expires_at`; an older one does not any
    /// more. `None` for an unknown webhook.
    write webhooks::rotate_webhook_secret(organization_id: OrganizationId, webhook_id: WebhookId, secret: String, previous_expires_at: Timestamp, entry: AuditEntry) -> Option<Webhook>;
    /// Deletes a webhook with its pending deliveries. Returns false for an unknown webhook.
    write webhooks::delete_webhook(organization_id: OrganizationId, webhook_id: WebhookId, entry: AuditEntry) -> bool;
    /// Enqueues a delivery, which may be to a single address. Does nothing if its id is enqueued already.
    write deliveries::enqueue_delivery(delivery: WebhookDelivery) -> ();
    /// Returns true if a delivery of any organization is due and not leased. A claim without one would take SQLite's only writer.
    read deliveries::has_due_deliveries(now: Timestamp) -> bool;
    /// Leases at most `limit` due deliveries of all organizations to `owner`, the oldest first, at most `share` of one
    /// organization over all owners.
    write deliveries::claim_deliveries(owner: String, now: Timestamp, lease_expires_at: Timestamp, limit: i64, share: i64) -> Vec<ClaimedDelivery>;
    /// Deletes a delivery that succeeded. Postponed deliveries of its webhook that had no attempt are due again. Returns false if
    /// another worker owns the delivery.
    write deliveries::complete_delivery(delivery_id: DeliveryId, webhook_id: Option<WebhookId>, owner: String, now: Timestamp) -> bool;
    /// Records a failed attempt, on the webhook as well. If the attempt before it failed too, the other deliveries of the webhook are
    /// not due before this one. Returns false if another worker owns the delivery.
    write deliveries::fail_delivery(delivery_id: DeliveryId, webhook_id: Option<WebhookId>, owner: String, error: String, after: AfterFailure, now: Timestamp) -> bool;
    /// Makes deliveries due that are postponed or leased for longer than possible: from before the clock was set back. One that is in
    /// progress may be attempted twice. Returns their number.
    write deliveries::replan_deliveries(now: Timestamp) -> usize;
    /// Releases the deliveries of a worker that stops, which count no attempt.
    write deliveries::release_deliveries(owner: String) -> ();

    /// Loads the vectors of captures that the organization may read, of one model, in no particular order. Skips captures that are
    /// not embedded completely, and damaged vectors.
    read vectors::load_vectors(organization_id: OrganizationId, capture_ids: Vec<CaptureId>, model: String) -> Vec<CaptureVectors>;
    /// Loads vectors like `load_vectors`, of captures of any organization. For the indexer only.
    read vectors::list_vectors(capture_ids: Vec<CaptureId>, model: String) -> Vec<CaptureVectors>;
    /// Loads vectors that may spare embedding passages of a capture: those of the same document, and of a document of the same
    /// owner with the same content. For the indexer only.
    snapshot vectors::find_reusable_vectors(capture_id: CaptureId, model: String) -> Vec<CaptureVectors>;
    /// Stores vectors of one model. If the index uses it, ends the jobs of embedded documents and enqueues these for their index.
    /// Releases the jobs of the others, if `owner` has leased them. Vectors of a capture that was replaced go to the new one.
    bulk vectors::store_vectors(model: String, new: Vec<NewVectors>, owner: String, now: Timestamp) -> ();
    /// Lists listed documents whose latest captures lack vectors of the model, in id order.
    read vectors::list_unembedded(index: IndexName, model: String, after: Option<DocId>, limit: i64) -> Vec<DocId>;
    read vectors::count_unembedded(index: IndexName, model: String) -> i64;
    /// Counts the captures with vectors of each model.
    read vectors::count_vectors() -> Vec<(String, i64)>;
    /// Deletes the vectors of other models than those `kept`, of the next `limit` captures in id order. Returns the number deleted
    /// and the last capture; `None` at the end.
    bulk vectors::prune_vectors(kept: Vec<String>, after: Option<CaptureId>, limit: i64) -> (usize, Option<CaptureId>);
    /// Returns the model whose vectors the index has.
    read index_models::find_index_model(index: IndexName) -> IndexModel;
    /// Sets the model whose vectors all indexes get. Without one, the jobs of documents end.
    write index_models::use_model(model: Option<String>) -> ();
    /// Enqueues at most `limit` documents after a change of the model: for their index if they are embedded, else to be embedded.
    /// Returns their number; `None` once all are enqueued, or if the index uses another model.
    bulk index_models::queue_for_model(index: IndexName, model: String, limit: i64, now: Timestamp) -> Option<usize>;
    /// Returns the quality of a model, as measured with this version of the texts.
    read calibrations::find_calibration(model: String, version: i32) -> Option<ModelCalibration>;
    /// Stores the quality of a model, unless it is known.
    write calibrations::store_calibration(calibration: ModelCalibration) -> ();
    /// Leases about `limit` jobs to `owner`: in equal numbers of the web and of a few organizations, those after the given one in the
    /// order of their ids.
    write embedding_queue::claim_embedding_jobs(owner: String, after: Option<OrganizationId>, now: Timestamp, lease_expires_at: Timestamp, limit: i64) -> Vec<EmbeddingJob>;
    /// Extends the leases of an owner.
    relaxed embedding_queue::extend_embedding_leases(owner: String, lease_expires_at: Timestamp) -> ();
    /// Releases the jobs of an owner that a round did not reach.
    write embedding_queue::release_embedding_jobs(owner: String, now: Timestamp) -> ();
    /// Ends the jobs of documents that need not be embedded: their vectors are stored, or they were removed or lack their capture.
    /// Returns the number of these documents.
    write vectors::settle_embedding_jobs(doc_ids: Vec<DocId>, model: String) -> usize;
    /// Counts the documents that wait to be embedded.
    read embedding_queue::count_embedding_jobs() -> i64;
    /// Returns the time since which the oldest job waits; `None` without jobs.
    read embedding_queue::oldest_embedding_job() -> Option<Timestamp>;

    /// Lists pending outbox entries of an index in the order of their ids. If there are `limit` or more, these are all that clear the index,
    /// and at most `limit` others: the oldest, of each organization in equal numbers.
    snapshot outbox::pending_outbox(index: IndexName, limit: i64) -> PendingOutbox;
    /// Enqueues documents for reindexing.
    bulk outbox::enqueue_documents(index: IndexName, doc_ids: Vec<DocId>, now: Timestamp) -> ();
    /// Enqueues clearing an index, and then every document that belongs in it. Returns the number of documents.
    bulk outbox::enqueue_rebuild(index: IndexName, now: Timestamp) -> usize;
    /// Enqueues a rebuild like `enqueue_rebuild`, unless one is pending: while a clearing waits, so do all documents. Returns 0 then.
    bulk outbox::enqueue_missing_rebuild(index: IndexName, now: Timestamp) -> usize;
    /// Enqueues the work of a batch once more: its documents, or after a clearing everything like `enqueue_rebuild`.
    bulk outbox::enqueue_again(index: IndexName, work: Vec<OutboxWork>, now: Timestamp) -> ();
    /// Deletes processed outbox entries. Idempotent.
    bulk outbox::complete_outbox(ids: Vec<i64>) -> ();
    /// Returns the generations in which the database may have left the index.
    read outbox::find_index_generations(index: IndexName) -> IndexGenerations;
    /// Records that a batch is about to move the index from the generation `from` to `next`.
    write outbox::start_generation(index: IndexName, from: Option<Generation>, next: Generation) -> ();
    /// Records that the index has reached a generation, deletes the outbox entries of its batch, and enqueues documents to be
    /// embedded if the index has a model. Returns false if another process has started a batch of its own meanwhile, and enqueues
    /// the work of this one again: the index may have received it after newer contents. Idempotent as long as it returns true.
    bulk outbox::complete_generation(index: IndexName, generation: Generation, entry_ids: Vec<i64>, work: Vec<OutboxWork>, unembedded: Vec<DocId>, now: Timestamp) -> bool;
    /// Returns the lowest and the highest entry id of an index; `None` if its outbox is empty.
    read outbox::outbox_bounds(index: IndexName) -> Option<(i64, i64)>;
    /// Returns the lowest and the highest entry id of an organization's documents; `None` if none is pending.
    read outbox::outbox_bounds_of(index: IndexName, organization_id: OrganizationId) -> Option<(i64, i64)>;
    /// Counts the outbox entries of an index.
    read outbox::count_outbox(index: IndexName) -> i64;
    /// Returns the time of the oldest outbox entry of an index; `None` if its outbox is empty.
    read outbox::oldest_outbox_entry(index: IndexName) -> Option<Timestamp>;
    /// Acquires or renews a lease. Returns false while another owner's lease has not expired.
    relaxed outbox::acquire_lease(name: String, owner: String, now: Timestamp, expires_at: Timestamp) -> bool;
    /// Releases a lease if `owner` holds it.
    relaxed outbox::release_lease(name: String, owner: String) -> ();
    /// Returns true if a lease has not expired.
    read outbox::is_leased(name: String, now: Timestamp) -> bool;
}
