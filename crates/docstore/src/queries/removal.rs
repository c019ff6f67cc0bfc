use std::time::Duration;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use diesel_async::RunQueryDsl;
use model::{
    DeliveryId, DocId, FeedbackId, OrganizationId, ResearchId, ResearchStatus, ResearchStop, RunState, SearchId,
    SyncId, Timestamp, WebhookId,
};

use super::documents::purge_workspace_documents;
use super::{Conn, accounts, audit, files, page_reads, run_files as outcomes, usage};
use crate::error::Result;
use crate::rows::{AuditEntry, Organization};
use crate::schema::{
    api_keys, documents, feedback, files as file_rows, grants, index_runs, organizations, page_reads as reads,
    research_runs, run_files, searches, storage_totals, usage_events, webhook_deliveries, webhooks,
};
use crate::types::{Bind, bind_all};

/// Error of runs that the deletion of their organization ends.
const RUN_ERROR: &str = "the organization was deleted";

pub async fn mark_organization_deleted(
    connection: &mut Conn,
    organization_id: OrganizationId,
    now: Timestamp,
    entry: AuditEntry,
) -> Result<Option<Organization>> {
    let active = organizations::table.find(Bind(organization_id)).filter(organizations::deleted_at.is_null());
    let marked = diesel::update(active).set(organizations::deleted_at.eq(Bind(now))).execute(connection).await?;
    if marked > 0 {
        let keys = api_keys::table
            .filter(api_keys::organization_id.eq(Bind(organization_id)))
            .filter(api_keys::revoked_at.is_null());
        diesel::update(keys).set(api_keys::revoked_at.eq(Bind(now))).execute(connection).await?;
        end_runs(connection, organization_id, now).await?;
        audit::record(connection, entry).await?;
    }
    accounts::find_organization(connection, organization_id).await
}

/// Ends the runs of an organization. A worker notices at its next write that it has lost the lease.
async fn end_runs(connection: &mut Conn, organization_id: OrganizationId, now: Timestamp) -> Result<()> {
    let unfinished = bind_all([RunState::Queued, RunState::Planning, RunState::Running]);
    let runs = index_runs::table
        .filter(index_runs::organization_id.eq(Bind(organization_id)))
        .filter(index_runs::state.eq_any(unfinished));
    diesel::update(runs)
        .set((
            index_runs::state.eq(Bind(RunState::Failed)),
            index_runs::completed_at.eq(Bind(now)),
            index_runs::error.eq(RUN_ERROR),
            index_runs::lease_owner.eq(None::<String>),
            index_runs::lease_expires_at.eq(Bind(None::<Timestamp>)),
        ))
        .execute(connection)
        .await?;
    let research = research_runs::table
        .filter(research_runs::organization_id.eq(Bind(organization_id)))
        .filter(research_runs::status.eq_any(bind_all([ResearchStatus::Queued, ResearchStatus::Running])));
    diesel::update(research)
        .set((
            research_runs::status.eq(Bind(ResearchStatus::Failed)),
            research_runs::stop_reason.eq(Bind(Some(ResearchStop::Interrupted))),
            research_runs::completed_at.eq(Bind(Some(now))),
            research_runs::lease_owner.eq(None::<String>),
            research_runs::lease_expires_at.eq(Bind(None::<Timestamp>)),
        ))
        .execute(connection)
        .await?;
    Ok(())
}

/// Returns the condition that the removal of an organization's data started earlier than `late` after its deletion. Both databases
/// compute with times; diesel does not.
macro_rules! was_removed_early {
    ($late:expr) => {{
        let late = i64::try_from($late.as_millis()).unwrap_or(i64::MAX);
        diesel::dsl::sql::<Bool>("organizations.removed_at - organizations.deleted_at < ").bind::<BigInt, _>(late)
    }};
}

/// Returns the condition that a deleted organization may have data that was stored up to `late` after its deletion.
macro_rules! may_have_data {
    ($late:expr) => {
        organizations::deleted_at.is_not_null().and(organizations::removed_at.is_null().or(was_removed_early!($late)))
    };
}

pub async fn list_organizations_to_remove(
    connection: &mut Conn,
    late: Duration,
    last: Duration,
    now: Timestamp,
) -> Result<Vec<Organization>> {
    let is_due_again = organizations::deleted_at.le(Bind(now - last)).and(was_removed_early!(last));
    Ok(organizations::table
        .filter(may_have_data!(late).or(is_due_again))
        .order((organizations::deleted_at, organizations::id))
        .select(Organization::as_select())
        .load(connection)
        .await?)
}

pub async fn purge_workspace(
    connection: &mut Conn,
    organization_id: OrganizationId,
    limit: i64,
    now: Timestamp,
) -> Result<usize> {
    let doc_ids: Vec<DocId> = documents::table
        .filter(documents::organization_id.eq(Bind(organization_id)))
        .order(documents::doc_id)
        .limit(limit)
        .select(documents::doc_id)
        .load(connection)
        .await?;
    // Not the number deleted: another instance may have deleted the same ones meanwhile, and more may be left.
    let found = doc_ids.len();
    purge_workspace_documents(connection, organization_id, doc_ids, now).await?;
    Ok(found)
}

/// Deletes at most `limit` rows of the organization from a table, by their ids. Evaluates to the number of rows found, some of which
/// another instance may delete meanwhile. The rows come in the order of whichever index finds them: any other order would read and sort
/// all that are left, for each batch.
macro_rules! delete_some {
    ($connection:expr, $table:ident . $id:ident: $type:ty, $organization_id:expr, $limit:expr) => {{
        let ids: Vec<$type> = $table::table
            .filter($table::organization_id.eq(Bind($organization_id)))
            .limit($limit)
            .select($table::$id)
            .load($connection)
            .await?;
        let found = ids.len();
        let rows = $table::table
            .filter($table::organization_id.eq(Bind($organization_id)))
            .filter($table::$id.eq_any(bind_all(ids)));
        diesel::delete(rows).execute($connection).await?;
        found
    }};
}

async fn delete_usage_events(connection: &mut Conn, organization_id: OrganizationId, limit: i64) -> Result<usize> {
    let ids: Vec<i64> = usage_events::table
        .filter(usage_events::organization_id.eq(Bind(organization_id)))
        .limit(limit)
        .select(usage_events::id)
        .load(connection)
        .await?;
    let found = ids.len();
    diesel::delete(usage_events::table.filter(usage_events::id.eq_any(ids))).execute(connection).await?;
    Ok(found)
}

/// Deletes runs once the outcomes of their files are deleted: a run can have a hundred thousand.
async fn delete_runs(connection: &mut Conn, organization_id: OrganizationId, limit: i64) -> Result<usize> {
    let runs: Vec<SyncId> = index_runs::table
        .filter(index_runs::organization_id.eq(Bind(organization_id)))
        .limit(limit)
        .select(index_runs::sync_id)
        .load(connection)
        .await?;
    let files: Vec<(SyncId, String)> = run_files::table
        .filter(is_one_of!(run_files::sync_id, runs.iter().copied()))
        .limit(limit)
        .select((run_files::sync_id, run_files::name))
        .load(connection)
        .await?;
    if !files.is_empty() {
        let found = files.len();
        outcomes::delete_outcomes(connection, files).await?;
        return Ok(found);
    }
    let found = runs.len();
    let runs = index_runs::table
        .filter(index_runs::organization_id.eq(Bind(organization_id)))
        .filter(is_one_of!(index_runs::sync_id, runs));
    diesel::delete(runs).execute(connection).await?;
    Ok(found)
}

/// Deletes webhooks once their deliveries are deleted.
async fn delete_webhooks(connection: &mut Conn, organization_id: OrganizationId, limit: i64) -> Result<usize> {
    let deliveries = delete_some!(connection, webhook_deliveries.delivery_id: DeliveryId, organization_id, limit);
    if deliveries > 0 {
        return Ok(deliveries);
    }
    Ok(delete_some!(connection, webhooks.webhook_id: WebhookId, organization_id, limit))
}

pub async fn delete_tenant_rows(connection: &mut Conn, organization_id: OrganizationId, limit: i64) -> Result<usize> {
    let found = delete_some!(connection, searches.search_id: SearchId, organization_id, limit)
        + delete_some!(connection, feedback.feedback_id: FeedbackId, organization_id, limit)
        + delete_some!(connection, grants.doc_id: DocId, organization_id, limit)
        + usage::delete_rollups(connection, organization_id, limit).await?
        + delete_usage_events(connection, organization_id, limit).await?
        + delete_runs(connection, organization_id, limit).await?
        + delete_some!(connection, research_runs.research_id: ResearchId, organization_id, limit)
        + delete_webhooks(connection, organization_id, limit).await?;
    let read: Vec<DocId> = reads::table
        .filter(reads::organization_id.eq(Bind(organization_id)))
        .order(reads::doc_id)
        .limit(limit)
        .select(reads::doc_id)
        .load(connection)
        .await?;
    let keys: Vec<String> = file_rows::table
        .filter(file_rows::organization_id.eq(Bind(organization_id)))
        .order(file_rows::object_key)
        .limit(limit)
        .select(file_rows::object_key)
        .load(connection)
        .await?;
    let found = found + read.len() + keys.len();
    if !read.is_empty() {
        page_reads::lock_readings(connection, &read).await?;
        page_reads::delete_page_reads(connection, organization_id, read).await?;
    }
    files::delete_files(connection, organization_id, keys, Timestamp::MAX).await?;
    if found == 0 {
        let totals = storage_totals::table.find(Bind(organization_id));
        diesel::delete(totals).execute(connection).await?;
    }
    Ok(found)
}

pub async fn complete_removal(
    connection: &mut Conn,
    organization_id: OrganizationId,
    started_at: Timestamp,
    late: Duration,
) -> Result<bool> {
    let of_workspace = documents::table.filter(documents::organization_id.eq(Bind(organization_id)));
    let has_documents: bool = diesel::select(diesel::dsl::exists(of_workspace)).get_result(connection).await?;
    let of_organization = file_rows::table.filter(file_rows::organization_id.eq(Bind(organization_id)));
    let has_files: bool = diesel::select(diesel::dsl::exists(of_organization)).get_result(connection).await?;
    if has_documents || has_files {
        return Ok(false);
    }
    let removed = organizations::table.find(Bind(organization_id)).filter(may_have_data!(late));
    diesel::update(removed).set(organizations::removed_at.eq(Bind(started_at))).execute(connection).await?;
    Ok(true)
}
