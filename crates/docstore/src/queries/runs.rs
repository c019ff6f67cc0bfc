use std::collections::HashMap;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{DocId, FileOutcome, OrganizationId, RunMode, RunState, SyncId, Timestamp};

use super::captures::save_documents;
use super::deliveries::announce;
use super::documents::purge_workspace_documents;
use super::run_files::{find_outcomes, record_run_files};
use super::{Conn, deleted_files, storage_totals};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::{Result, StoreError};
use crate::file_result::{FileContent, FileResult};
use crate::rows::{FileChanges, IndexRun, NewWebhookEvent, RunFile};
use crate::run_counts::RunCounts;
use crate::schema::{files, index_runs};
use crate::types::{Bind, Strings, bind_all};

/// Attempts to queue a run. An attempt fails if another request queues a run and a worker claims it in between.
const REQUEST_ATTEMPTS: usize = 5;

pub async fn request_run(connection: &mut Conn, run: IndexRun) -> Result<IndexRun> {
    for _ in 0..REQUEST_ATTEMPTS {
        if let Some(waiting) = join_waiting_run(connection, &run).await? {
            return Ok(waiting);
        }
        let queued = diesel::insert_into(index_runs::table)
            .values(run.clone())
            .on_conflict_do_nothing()
            .execute(connection)
            .await?;
        if queued > 0 {
            return Ok(run);
        }
        // Lost the race against another request: its run is queued now, unless it has already been claimed.
    }
    Err(StoreError::Conflict)
}

/// Returns the organization's queued run, upgraded to a full one if `run` is full.
async fn join_waiting_run(connection: &mut Conn, run: &IndexRun) -> Result<Option<IndexRun>> {
    // Locked, so that no worker claims it as incremental during the upgrade.
    let waiting: Option<IndexRun> = lock_rows!(
        index_runs::table
            .filter(index_runs::organization_id.eq(Bind(run.organization_id)))
            .filter(index_runs::state.eq(Bind(RunState::Queued)))
            .select(IndexRun::as_select())
    )
    .first(connection)
    .await
    .optional()?;
    let Some(mut waiting) = waiting else { return Ok(None) };
    if run.mode == RunMode::Full && waiting.mode != RunMode::Full {
        diesel::update(index_runs::table.find(Bind(waiting.sync_id)))
            .set(index_runs::mode.eq(Bind(RunMode::Full)))
            .execute(connection)
            .await?;
        waiting.mode = RunMode::Full;
    }
    Ok(Some(waiting))
}

pub async fn find_run(
    connection: &mut Conn,
    organization_id: OrganizationId,
    sync_id: SyncId,
) -> Result<Option<IndexRun>> {
    Ok(index_runs::table
        .find(Bind(sync_id))
        .filter(index_runs::organization_id.eq(Bind(organization_id)))
        .select(IndexRun::as_select())
        .first(connection)
        .await
        .optional()?)
}

pub async fn find_any_run(connection: &mut Conn, sync_id: SyncId) -> Result<Option<IndexRun>> {
    Ok(index_runs::table.find(Bind(sync_id)).select(IndexRun::as_select()).first(connection).await.optional()?)
}

pub async fn has_unfinished_run(connection: &mut Conn, organization_id: OrganizationId) -> Result<bool> {
    let unfinished = index_runs::table
        .filter(index_runs::organization_id.eq(Bind(organization_id)))
        .filter(index_runs::state.eq_any(bind_all([RunState::Queued, RunState::Planning, RunState::Running])));
    Ok(diesel::select(diesel::dsl::exists(unfinished)).get_result(connection).await?)
}

pub async fn count_runs(connection: &mut Conn, state: RunState) -> Result<i64> {
    Ok(index_runs::table.filter(index_runs::state.eq(Bind(state))).count().get_result(connection).await?)
}

pub async fn claim_run(
    connection: &mut Conn,
    owner: String,
    now: Timestamp,
    lease_expires_at: Timestamp,
) -> Result<Option<IndexRun>> {
    let in_flight = [RunState::Planning, RunState::Running];
    let abandoned: Option<IndexRun> = lock_available_rows!(
        index_runs::table
            .filter(index_runs::state.eq_any(bind_all(in_flight)))
            .filter(index_runs::lease_expires_at.le(Bind(now)))
            .order(index_runs::requested_at)
            .select(IndexRun::as_select())
    )
    .first(connection)
    .await
    .optional()?;
    let run = match abandoned {
        Some(run) => run,
        None => {
            // A subquery in the same statement: a list that was read earlier could be outdated.
            let other_runs = diesel::alias!(index_runs as other_runs);
            let busy = other_runs
                .filter(other_runs.field(index_runs::state).eq_any(bind_all(in_flight)))
                .select(other_runs.field(index_runs::organization_id));
            let queued: Option<IndexRun> = lock_available_rows!(
                index_runs::table
                    .filter(index_runs::state.eq(Bind(RunState::Queued)))
                    .filter(index_runs::organization_id.ne_all(busy))
                    .order(index_runs::requested_at)
                    .select(IndexRun::as_select())
            )
            .first(connection)
            .await
            .optional()?;
            let Some(run) = queued else { return Ok(None) };
            run
        }
    };
    let state = if run.state == RunState::Queued { RunState::Planning } else { run.state };
    diesel::update(index_runs::table.find(Bind(run.sync_id)))
        .set((
            index_runs::state.eq(Bind(state)),
            index_runs::started_at.eq(Bind(run.started_at.unwrap_or(now))),
            index_runs::lease_owner.eq(&owner),
            index_runs::lease_expires_at.eq(Bind(lease_expires_at)),
        ))
        .execute(connection)
        .await?;
    Ok(index_runs::table.find(Bind(run.sync_id)).select(IndexRun::as_select()).first(connection).await.optional()?)
}

pub async fn expire_run_leases(connection: &mut Conn) -> Result<usize> {
    Ok(diesel::update(index_runs::table.filter(index_runs::lease_expires_at.is_not_null()))
        .set(index_runs::lease_expires_at.eq(Bind(Timestamp::UNIX_EPOCH)))
        .execute(connection)
        .await?)
}

pub async fn extend_run_lease(
    connection: &mut Conn,
    sync_id: SyncId,
    owner: String,
    lease_expires_at: Timestamp,
) -> Result<bool> {
    let kept = diesel::update(index_runs::table.find(Bind(sync_id)).filter(index_runs::lease_owner.eq(owner)))
        .set(index_runs::lease_expires_at.eq(Bind(lease_expires_at)))
        .execute(connection)
        .await?;
    Ok(kept > 0)
}

pub async fn extend_run_leases(
    connection: &mut Conn,
    held: Vec<(SyncId, String)>,
    lease_expires_at: Timestamp,
) -> Result<Vec<SyncId>> {
    let mut kept = Vec::with_capacity(held.len());
    for chunk in held.chunks(MAX_VALUES_PER_STATEMENT / 2) {
        let (runs, owners): (Vec<SyncId>, Vec<String>) = chunk.iter().cloned().unzip();
        // The name of an owner is unique, so it matches its own run only.
        let ours = || {
            index_runs::table
                .filter(is_one_of!(index_runs::sync_id, runs.iter().copied()))
                .filter(index_runs::lease_owner.eq_any(owners.clone()))
        };
        let renewed = index_runs::lease_expires_at.eq(Bind(lease_expires_at));
        diesel::update(ours()).set(renewed).execute(connection).await?;
        kept.extend(ours().select(index_runs::sync_id).load::<SyncId>(connection).await?);
    }
    Ok(kept)
}

pub async fn begin_running(connection: &mut Conn, sync_id: SyncId, owner: String, enumerated: i64) -> Result<bool> {
    let kept = diesel::update(index_runs::table.find(Bind(sync_id)).filter(index_runs::lease_owner.eq(owner)))
        .set((index_runs::state.eq(Bind(RunState::Running)), index_runs::enumerated.eq(enumerated)))
        .execute(connection)
        .await?;
    Ok(kept > 0)
}

pub async fn record_file_results(
    connection: &mut Conn,
    organization_id: OrganizationId,
    sync_id: SyncId,
    owner: String,
    results: Vec<FileResult>,
    now: Timestamp,
) -> Result<bool> {
    storage_totals::lock(connection, organization_id).await?;
    let results = deleted_files::without_deleted(connection, organization_id, results).await?;
    let counts = count_results(connection, organization_id, sync_id, &results).await?;
    if !add_counts(connection, sync_id, owner, counts).await? {
        return Ok(false);
    }
    let mut documents = Vec::with_capacity(results.len());
    let mut unreadable = Vec::new();
    let mut processed = Vec::with_capacity(results.len());
    let mut replaced = Vec::with_capacity(results.len());
    for FileResult { object_key, doc_id, changes, content, counts: _, uploaded_at: _ } in results {
        processed.push((object_key.clone(), changes.outcome, changes.reason.clone()));
        let again = changes.to_be_read_again();
        diesel::update(files::table.find(object_key.clone()).filter(files::organization_id.eq(Bind(organization_id))))
            .set((changes, files::processed_at.eq(Bind(now))))
            .execute(connection)
            .await?;
        match content {
            FileContent::Replace(document) => {
                replaced.push((doc_id, object_key, again));
                documents.push(*document);
            }
            FileContent::Remove => unreadable.push(doc_id),
            FileContent::Keep => {}
        }
    }
    // Read after the updates, which lock the rows: labels that a registration changes later reach the documents with it.
    let mut labels = record_outcomes(connection, organization_id, sync_id, processed, now).await?;
    for new in &mut documents {
        new.document.labels.0.extend(labels.remove(&new.document.doc_id).unwrap_or_default());
    }
    save_documents(connection, documents, now).await?;
    deleted_files::forget_removed(connection, organization_id, replaced).await?;
    if !unreadable.is_empty() {
        purge_workspace_documents(connection, organization_id, unreadable, now).await?;
    }
    Ok(true)
}

/// Sums what results change in the counters of their run.
async fn count_results(
    connection: &mut Conn,
    organization_id: OrganizationId,
    sync_id: SyncId,
    results: &[FileResult],
) -> Result<RunCounts> {
    let mut counts = RunCounts::default();
    for chunk in results.chunks(MAX_VALUES_PER_STATEMENT) {
        let keys = chunk.iter().map(|result| result.object_key.clone());
        let stored: Vec<(String, String, FileChanges)> = files::table
            .filter(files::organization_id.eq(Bind(organization_id)))
            .filter(files::object_key.eq_any(keys))
            .select((files::object_key, files::name, FileChanges::as_select()))
            .load(connection)
            .await?;
        let names = stored.iter().map(|(_, name, _)| name.clone()).collect();
        let recorded = find_outcomes(connection, sync_id, names).await?;
        let known: HashMap<String, (FileChanges, Option<FileOutcome>)> = stored
            .into_iter()
            .map(|(object_key, name, stored)| (object_key, (stored, recorded.get(&name).copied())))
            .collect();
        for result in chunk {
            let known = known.get(&result.object_key);
            counts.add(result, known.map(|(stored, _)| stored), known.and_then(|(_, recorded)| *recorded));
        }
    }
    Ok(counts)
}

/// Records the outcomes of files in a run, given by object key; `None` for those that are gone. Returns the labels of the files by document.
async fn record_outcomes(
    connection: &mut Conn,
    organization_id: OrganizationId,
    sync_id: SyncId,
    processed: Vec<(String, Option<FileOutcome>, Option<String>)>,
    now: Timestamp,
) -> Result<HashMap<DocId, Vec<String>>> {
    let mut labels = HashMap::with_capacity(processed.len());
    let (mut recorded, mut gone) = (Vec::with_capacity(processed.len()), Vec::new());
    for chunk in processed.chunks(MAX_VALUES_PER_STATEMENT) {
        let keys: Vec<String> = chunk.iter().map(|(object_key, ..)| object_key.clone()).collect();
        let rows: Vec<(String, DocId, String, Option<Strings>)> = files::table
            .filter(files::organization_id.eq(Bind(organization_id)))
            .filter(files::object_key.eq_any(keys))
            .select((files::object_key, files::doc_id, files::name, files::labels))
            .load(connection)
            .await?;
        let mut rows: HashMap<String, (DocId, String, Option<Strings>)> =
            rows.into_iter().map(|(object_key, doc_id, name, labels)| (object_key, (doc_id, name, labels))).collect();
        for (object_key, outcome, reason) in chunk {
            let Some((doc_id, name, of_file)) = rows.remove(object_key) else { continue };
            labels.insert(doc_id, of_file.unwrap_or_default().0);
            let Some(outcome) = *outcome else {
                gone.push(name);
                continue;
            };
            let reason = reason.clone();
            recorded.push(RunFile { sync_id, name, organization_id, outcome, reason, processed_at: now });
        }
    }
    record_run_files(connection, sync_id, recorded, gone).await?;
    Ok(labels)
}

pub async fn record_deletions(
    connection: &mut Conn,
    organization_id: OrganizationId,
    sync_id: SyncId,
    owner: String,
    doc_ids: Vec<DocId>,
    now: Timestamp,
) -> Result<bool> {
    storage_totals::lock(connection, organization_id).await?;
    // Verifies ownership of the run first, since deletions must be counted.
    if !add_counts(connection, sync_id, owner.clone(), RunCounts::default()).await? {
        return Ok(false);
    }
    deleted_files::forget_processing(connection, organization_id, &doc_ids).await?;
    let deleted = purge_workspace_documents(connection, organization_id, doc_ids, now).await?;
    let counts = RunCounts { deleted: i64::try_from(deleted).unwrap_or(i64::MAX), ..RunCounts::default() };
    add_counts(connection, sync_id, owner, counts).await
}

/// Changes the run's counters. Returns false if another worker owns the run.
async fn add_counts(connection: &mut Conn, sync_id: SyncId, owner: String, counts: RunCounts) -> Result<bool> {
    let kept = diesel::update(index_runs::table.find(Bind(sync_id)).filter(index_runs::lease_owner.eq(owner)))
        .set((
            index_runs::fetched.eq(index_runs::fetched + counts.fetched),
            index_runs::indexed.eq(index_runs::indexed + counts.indexed),
            index_runs::failed.eq(index_runs::failed + counts.failed),
            index_runs::skipped_unsupported.eq(index_runs::skipped_unsupported + counts.skipped_unsupported),
            index_runs::deleted.eq(index_runs::deleted + counts.deleted),
            index_runs::bytes.eq(index_runs::bytes + counts.bytes),
        ))
        .execute(connection)
        .await?;
    Ok(kept > 0)
}

pub async fn finish_run(
    connection: &mut Conn,
    sync_id: SyncId,
    owner: String,
    error: Option<String>,
    now: Timestamp,
    event: fn(&IndexRun) -> NewWebhookEvent,
) -> Result<bool> {
    let state = if error.is_none() { RunState::Completed } else { RunState::Failed };
    let kept = diesel::update(index_runs::table.find(Bind(sync_id)).filter(index_runs::lease_owner.eq(owner)))
        .set((
            index_runs::state.eq(Bind(state)),
            index_runs::completed_at.eq(Bind(now)),
            index_runs::error.eq(error),
            index_runs::lease_owner.eq(None::<String>),
            index_runs::lease_expires_at.eq(Bind(None::<Timestamp>)),
        ))
        .execute(connection)
        .await?;
    if kept > 0
        && let Some(run) = find_any_run(connection, sync_id).await?
    {
        announce(connection, run.organization_id, now, || event(&run)).await?;
    }
    Ok(kept > 0)
}
