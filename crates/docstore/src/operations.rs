//! Everything that the docstore can do, one line each: the query is in `queries/`, in the module named
//! before the `::`. A `read` is one query on any connection; a `snapshot` is several that must agree with each other; a
//! `write` is one transaction.

use model::{
    ApiKeyId, AuditEntryId, BalanceEntryId, CaptureId, Collection, DocId, FeedbackId, IndexName, OrganizationId,
    SearchId, SyncId, Timestamp,
};

use crate::Docstore;
use crate::backend::{Backend, postgres, sqlite};
use crate::documents::{DocumentState, LoadedDocument, NewDocument, Saved, StoredCapture};
use crate::error::Result;
use crate::rows::*;
use crate::runs::FileResult;

macro_rules! operations {
    ($($(#[$doc:meta])* $kind:ident $module:ident::$name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        impl Docstore {
            $(
                $(#[$doc])*
                pub async fn $name(&self, $($argument: $type),*) -> Result<$result> {
                    match &self.backend {
                        Backend::Postgres(pools) => {
                            let pools = pools.clone();
                            self.detached(operations!(@$kind postgres pools $module $name $($argument)*)).await
                        }
                        Backend::Sqlite(pools) => {
                            let pools = pools.clone();
                            self.detached(operations!(@$kind sqlite pools $module $name $($argument)*)).await
                        }
                    }
                }
            )*
        }
    };
    (@read $backend:ident $pools:ident $module:ident $name:ident $($argument:ident)*) => {
        async move {
            let mut connection = $pools.reader().await?;
            $backend::queries::$module::$name(&mut connection, $($argument.into()),*).await
        }
    };
    (@snapshot $backend:ident $pools:ident $module:ident $name:ident $($argument:ident)*) => {
        async move {
            $pools
                .snapshot(move |connection| {
                    Box::pin($backend::queries::$module::$name(connection, $($argument.into()),*))
                })
                .await
        }
    };
    (@write $backend:ident $pools:ident $module:ident $name:ident $($argument:ident)*) => {
        async move {
            $pools
                .write(move |connection| {
                    Box::pin($backend::queries::$module::$name(connection, $($argument.into()),*))
                })
                .await
        }
    };
}

operations! {
    /// Proof that the database answers and holds our tables.
    read accounts::check_answers() -> ();
    /// Makes the organization, with its first balance where it is billed.
    write accounts::create_organization(organization: Organization, prepaid: Option<BalanceEntry>, entry: AuditEntry) -> ();
    read accounts::list_organizations() -> Vec<Organization>;
    read accounts::find_organization(organization_id: OrganizationId) -> Option<Organization>;
    write accounts::create_api_key(key: ApiKey, entry: AuditEntry) -> ();
    read accounts::list_api_keys(organization_id: OrganizationId) -> Vec<ApiKey>;
    /// The key with this SHA-256 digest, revoked and expired ones included, and whose it is.
    read accounts::find_key_by_digest(digest: Vec<u8>) -> Option<(ApiKey, Organization)>;
    /// Revokes the key (once: a second call keeps the first time and adds no entry). `None` when there is none. Whose key
    /// it is, the entry need not say.
    write accounts::revoke_api_key(key_id: ApiKeyId, now: Timestamp, entry: AuditEntry) -> Option<ApiKey>;
    /// Notes when keys were used; a later time that is known already stays.
    write accounts::touch_api_keys(used: Vec<(ApiKeyId, Timestamp)>) -> ();

    /// Changes a balance by an entry. `None`, and no change, when the balance would leave its range: below zero, or
    /// beyond what 64 bits hold.
    write balances::post_balance_entry(entry: BalanceEntry) -> Option<i64>;
    /// The same, by hand.
    write balances::adjust_balance(posted: BalanceEntry, entry: AuditEntry) -> Option<i64>;
    /// The searches that were debited in `[from, before)` and never recorded: refunded, or lost with their server.
    read balances::find_unrecorded_searches(organization_id: OrganizationId, from: Timestamp, before: Timestamp) -> Vec<SearchId>;
    /// Gives back what these searches cost since `from`, and was not given back yet. Returns how many they were.
    write balances::refund_searches(organization_id: OrganizationId, search_ids: Vec<SearchId>, from: Timestamp, now: Timestamp) -> usize;
    /// The ledger, oldest first, after the entry of this time and id.
    read balances::list_balance_entries(organization_id: OrganizationId, after: Option<(Timestamp, BalanceEntryId)>, limit: i64) -> Vec<BalanceEntry>;
    /// Cents; `None` for an organization that never had a balance.
    read balances::find_balance(organization_id: OrganizationId) -> Option<i64>;

    /// What was changed by hand, newest first, before the entry of this time and id: for the operator.
    read audit::list_audit_entries(filter: AuditFilter, before: Option<(Timestamp, AuditEntryId)>, limit: i64) -> Vec<AuditEntry>;

    /// A document of the shared web or of the organization's own workspace, removed ones excepted.
    read documents::find_document_by_url(organization_id: OrganizationId, canonical_url: String) -> Option<Document>;
    /// A page of the shared web with its latest capture, for whoever fetches pages.
    read documents::find_web_page(canonical_url: String) -> Option<(Document, Option<Capture>)>;
    /// The content of a web page that was granted to the organization is said to be out of date.
    write documents::mark_stale(organization_id: OrganizationId, doc_id: DocId, now: Timestamp) -> ();
    /// A document that was granted to the organization, removed ones excepted.
    read documents::find_granted_document(organization_id: OrganizationId, doc_id: DocId) -> Option<Document>;
    /// The latest capture of a document that the organization may see, with its passages.
    snapshot documents::find_latest_capture(organization_id: OrganizationId, doc_id: DocId) -> Option<StoredCapture>;
    /// Documents of one collection with their content, in no
    /// order. Ids of other collections and of removed documents are left out.
    snapshot documents::load_documents(collection: Collection, doc_ids: Vec<DocId>) -> Vec<LoadedDocument>;
    /// The states of documents of one collection, in no order; of those that `load_documents` would find.
    read documents::find_latest_states(collection: Collection, doc_ids: Vec<DocId>) -> Vec<DocumentState>;
    /// What an index must know, of whatever tenant: for the indexer alone.
    read documents::load_for_indexing(doc_ids: Vec<DocId>) -> Vec<(Document, Capture)>;
    /// Ids of the documents that belong into the index, in id order.
    read documents::list_indexable_documents(index: IndexName, after: Option<DocId>, limit: i64) -> Vec<DocId>;
    /// Ids of all documents of one workspace, removed ones included.
    read documents::list_workspace_documents(organization_id: OrganizationId) -> Vec<DocId>;
    /// From now on the document answers nowhere. `false` when there is none.
    write documents::hide_workspace_document(organization_id: OrganizationId, doc_id: DocId, now: Timestamp) -> bool;

    /// Stores documents with their captures and queues those that changed for their index. The answer is
    /// in the order of the batch; of a document that comes twice, the last one counts. A removed document comes back,
    /// unless its content was read before the removal.
    write captures::save_documents(batch: Vec<NewDocument>, now: Timestamp) -> Vec<Saved>;
    /// The latest capture is still what the page says: it counts as read at `now`.
    write captures::confirm_capture(doc_id: DocId, capture_id: CaptureId, now: Timestamp) -> ();

    /// Stores ranked lists, and grants what they show. Documents that are gone meanwhile are passed over.
    write activity::record_searches(rows: Vec<Search>, granted: Vec<Grant>) -> ();
    read activity::find_search(organization_id: OrganizationId, search_id: SearchId) -> Option<Search>;
    /// Nothing, when the document is gone.
    write activity::grant_document(grant: Grant) -> ();
    read activity::is_granted(organization_id: OrganizationId, doc_id: DocId) -> bool;
    write activity::record_feedback(row: Feedback) -> ();
    /// Events of all organizations, for the operator: oldest first, after the one of this time and id.
    read activity::export_feedback(after: Option<(Timestamp, FeedbackId)>, limit: i64) -> Vec<FeedbackExport>;

    /// Counts requests into the rollups of their hours and days, and keeps them one by one where `keep_events`.
    write usage::record_usage(events: Vec<UsageEvent>, keep_events: bool) -> ();
    /// Rollups of `period` that start in `[from, to)`, in order of their start.
    read usage::list_usage_rollups(organization_id: OrganizationId, period: i64, from: Timestamp, to: Timestamp) -> Vec<UsageRollup>;
    /// Single requests in `[from, to)`, as far as they are kept.
    read usage::list_usage_events(organization_id: OrganizationId, from: Timestamp, to: Timestamp) -> Vec<UsageEvent>;
    /// Time, identity and cents of what was spent in `[from, to)`; refunds are negative.
    read usage::list_spending(organization_id: OrganizationId, from: Timestamp, to: Timestamp) -> Vec<(Timestamp, String, i64)>;
    /// Forgets single requests of before `before`, about `limit` at most; returns how many.
    write usage::prune_usage_events(before: Timestamp, limit: i64) -> usize;

    /// Makes the row of a name, or renews its upload time. `Conflict` when the key is another organization's.
    write files::register_file(file: File) -> ();
    read files::find_file(organization_id: OrganizationId, object_key: String) -> Option<File>;
    read files::count_files(organization_id: OrganizationId) -> i64;
    /// In key order, after the key given.
    read files::list_files(organization_id: OrganizationId, after: Option<String>, limit: i64) -> Vec<File>;
    /// The files that the run was the last to work on, of whatever organization: for the operator. In key order, after
    /// the key given.
    read files::list_files_of_run(sync_id: SyncId, after: Option<String>, limit: i64) -> Vec<File>;
    /// Deletes a file as far as the database goes: it is listed no more, its document answers nowhere, and where a run
    /// has worked on it, `run` is queued (unless one waits already). `None` when there is no such file.
    write files::withdraw_file(organization_id: OrganizationId, object_key: String, run: IndexRun, now: Timestamp) -> Option<Withdrawal>;
    write files::forget_files(organization_id: OrganizationId, object_keys: Vec<String>) -> ();

    /// Queues a run, or returns the one that waits already, made a full one if the new one is.
    write runs::request_run(run: IndexRun) -> IndexRun;
    read runs::find_run(organization_id: OrganizationId, sync_id: SyncId) -> Option<IndexRun>;
    /// A run of whatever organization: for the operator.
    read runs::find_any_run(sync_id: SyncId) -> Option<IndexRun>;
    /// The next run to work on, now leased to `owner`: an abandoned one first. `None` when there is none.
    write runs::claim_run(owner: String, now: Timestamp, lease_expires_at: Timestamp) -> Option<IndexRun>;
    /// Every run in flight may be taken over at once: for a process that knows itself to be the only one.
    write runs::expire_run_leases() -> usize;
    /// `false`, here and below: the run belongs to another worker by now, and nothing was written.
    write runs::extend_run_lease(sync_id: SyncId, owner: String, lease_expires_at: Timestamp) -> bool;
    write runs::begin_running(sync_id: SyncId, owner: String, enumerated: i64) -> bool;
    write runs::record_file_results(organization_id: OrganizationId, sync_id: SyncId, owner: String, results: Vec<FileResult>, now: Timestamp) -> bool;
    /// Purges documents whose object is gone and counts them.
    write runs::record_deletions(organization_id: OrganizationId, sync_id: SyncId, owner: String, doc_ids: Vec<DocId>, now: Timestamp) -> bool;
    /// Ends the run: `completed`, or `failed` with the error.
    write runs::finish_run(sync_id: SyncId, owner: String, error: Option<String>, now: Timestamp) -> bool;

    /// The oldest entries of one index.
    read outbox::pending_outbox(index: IndexName, limit: i64) -> Vec<OutboxEntry>;
    write outbox::enqueue_documents(index: IndexName, doc_ids: Vec<DocId>, now: Timestamp) -> ();
    /// Queues the emptying of an index, before the entries that follow.
    write outbox::enqueue_clear(index: IndexName, now: Timestamp) -> ();
    write outbox::complete_outbox(ids: Vec<i64>) -> ();
    /// The ids of the oldest and the newest entry of one index.
    read outbox::outbox_bounds(index: IndexName) -> Option<(i64, i64)>;
    read outbox::count_outbox(index: IndexName) -> i64;
    /// Takes or renews a lease. `false` while another owner's has not expired.
    write outbox::acquire_lease(name: String, owner: String, now: Timestamp, expires_at: Timestamp) -> bool;
    write outbox::release_lease(name: String, owner: String) -> ();
}
