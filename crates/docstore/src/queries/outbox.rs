use std::collections::HashMap;

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use model::{DocId, Generation, IndexName, OrganizationId, Timestamp};
use uuid::Uuid;

use super::embedding_queue::enqueue_jobs_of;
use super::{CLEAR_INDEX, Conn, is_workspace, lock_outbox};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::outbox_work::OutboxWork;
use crate::rows::{IndexGenerations, NewOutboxEntry, OutboxEntry, PendingOutbox};
use crate::schema::{documents, index_generations, leases, outbox};
use crate::types::{Bind, Stored};

/// Share of an organization in a listing of pending entries, for many organizations.
const LEAST_SHARE: i64 = 16;

/// Returns the pending entries that clear an index.
macro_rules! clearings {
    ($index:expr) => {
        outbox::table
            .filter(outbox::index_name.eq(Bind($index)))
            .filter(outbox::doc_id.eq(diesel::dsl::sql::<Stored<OutboxWork>>(CLEAR_INDEX)))
    };
}

pub async fn enqueue_documents(
    connection: &mut Conn,
    index: IndexName,
    doc_ids: Vec<DocId>,
    now: Timestamp,
) -> Result<()> {
    for chunk in doc_ids.chunks(MAX_VALUES_PER_STATEMENT) {
        let owners: Vec<(DocId, Option<OrganizationId>)> = documents::table
            .filter(is_one_of!(documents::doc_id, chunk.iter().copied()))
            .select((documents::doc_id, documents::organization_id))
            .load(connection)
            .await?;
        let owners: HashMap<DocId, Option<OrganizationId>> = owners.into_iter().collect();
        let owned = chunk.iter().map(|doc_id| (owners.get(doc_id).copied().flatten(), OutboxWork::Document(*doc_id)));
        enqueue(connection, index, owned, now).await?;
    }
    Ok(())
}

/// Enqueues documents of one organization, or of the web.
pub async fn enqueue_documents_of(
    connection: &mut Conn,
    index: IndexName,
    organization_id: Option<OrganizationId>,
    doc_ids: Vec<DocId>,
    now: Timestamp,
) -> Result<()> {
    let owned = doc_ids.into_iter().map(|doc_id| (organization_id, OutboxWork::Document(doc_id)));
    enqueue(connection, index, owned, now).await
}

pub async fn enqueue_rebuild(connection: &mut Conn, index: IndexName, now: Timestamp) -> Result<usize> {
    lock_outbox(connection).await?;
    enqueue(connection, index, std::iter::once((None, OutboxWork::ClearIndex)), now).await?;
    // In one statement: a million rows take a second or two, in which others wait to write.
    let documents = documents::table.filter(is_indexable!(index)).select((
        Bind(index).into_sql::<Stored<IndexName>>(),
        diesel::dsl::sql::<Stored<OutboxWork>>("documents.doc_id"),
        Bind(now).into_sql::<Stored<Timestamp>>(),
        documents::organization_id,
    ));
    let columns = (outbox::index_name, outbox::doc_id, outbox::created_at, outbox::organization_id);
    Ok(documents.insert_into(outbox::table).into_columns(columns).execute(connection).await?)
}

pub async fn enqueue_missing_rebuild(connection: &mut Conn, index: IndexName, now: Timestamp) -> Result<usize> {
    lock_outbox(connection).await?;
    // Whoever works off entries completes a clearing before it starts with the documents behind it.
    let is_pending: bool = diesel::select(diesel::dsl::exists(clearings!(index))).get_result(connection).await?;
    if is_pending { Ok(0) } else { enqueue_rebuild(connection, index, now).await }
}

/// Enqueues the work of a batch once more. After a clearing these are all documents of the index.
pub async fn enqueue_again(
    connection: &mut Conn,
    index: IndexName,
    work: Vec<OutboxWork>,
    now: Timestamp,
) -> Result<()> {
    let mut doc_ids = Vec::with_capacity(work.len());
    for item in work {
        match item {
            OutboxWork::Document(doc_id) => doc_ids.push(doc_id),
            OutboxWork::ClearIndex => return enqueue_rebuild(connection, index, now).await.map(drop),
        }
    }
    enqueue_documents(connection, index, doc_ids, now).await
}

async fn enqueue(
    connection: &mut Conn,
    index: IndexName,
    work: impl Iterator<Item = (Option<OrganizationId>, OutboxWork)>,
    now: Timestamp,
) -> Result<()> {
    let entries = work
        .map(|(organization_id, work)| NewOutboxEntry { index_name: index, work, created_at: now, organization_id })
        .collect();
    insert_bulk!(connection, outbox::table, entries)?;
    Ok(())
}

pub async fn pending_outbox(connection: &mut Conn, index: IndexName, limit: i64) -> Result<PendingOutbox> {
    let oldest: Vec<OutboxEntry> = outbox::table
        .filter(outbox::index_name.eq(Bind(index)))
        .order(outbox::id)
        .limit(limit)
        .select(OutboxEntry::as_select())
        .load(connection)
        .await?;
    if usize::try_from(limit).is_ok_and(|limit| oldest.len() < limit) {
        return Ok(PendingOutbox { entries: oldest, has_more: false });
    }
    let waiting = waiting_organizations(connection, index).await?;
    let mut entries = if waiting.len() < 2 { oldest } else { share(connection, index, waiting, limit).await? };
    // No entry may be processed before an older clearing. A clearing may precede older entries: every document is enqueued behind it, and
    // an index that is damaged accepts none before.
    entries.retain(|entry| entry.work != OutboxWork::ClearIndex);
    entries.extend(clearings!(index).select(OutboxEntry::as_select()).load::<OutboxEntry>(connection).await?);
    entries.sort_unstable_by_key(|entry| entry.id);
    Ok(PendingOutbox { entries, has_more: true })
}

/// Organization with pending entries.
#[derive(QueryableByName)]
struct Waiting {
    #[diesel(sql_type = Stored<OrganizationId>)]
    organization_id: OrganizationId,
    /// Id of its oldest entry.
    #[diesel(sql_type = BigInt)]
    oldest: i64,
}

/// Lists the organizations with pending entries, and `None` for the entries without one, each with the id of the oldest.
async fn waiting_organizations(connection: &mut Conn, index: IndexName) -> Result<Vec<(Option<OrganizationId>, i64)>> {
    // Also ordered by the organization, so that PostgreSQL uses the index of organizations.
    let unowned: Option<i64> = outbox::table
        .filter(outbox::index_name.eq(Bind(index)))
        .filter(outbox::organization_id.is_null())
        .order((outbox::organization_id, outbox::id))
        .select(outbox::id)
        .first(connection)
        .await
        .optional()?;
    // One statement, which reads about two entries of an index per organization, however many documents of it wait. It begins at the
    // lowest id: to skip the entries without an organization, SQLite would read them.
    let query = diesel::sql_query(
        "WITH RECURSIVE owners(organization_id) AS (
             SELECT lowest.organization_id
             FROM (
                 SELECT organization_id FROM outbox
                 WHERE index_name = $1 AND organization_id >= $2
                 ORDER BY organization_id LIMIT 1
             ) AS lowest
             UNION ALL
             SELECT (
                 SELECT higher.organization_id FROM outbox AS higher
                 WHERE higher.index_name = $1 AND higher.organization_id > owners.organization_id
                 ORDER BY higher.organization_id LIMIT 1
             )
             FROM owners WHERE owners.organization_id IS NOT NULL
         )
         SELECT owners.organization_id, (
             SELECT entry.id FROM outbox AS entry
             WHERE entry.index_name = $1 AND entry.organization_id = owners.organization_id
             ORDER BY entry.id LIMIT 1
         ) AS oldest
         FROM owners WHERE owners.organization_id IS NOT NULL",
    );
    let query = query.bind::<Stored<IndexName>, _>(Bind(index));
    let query = query.bind::<Stored<OrganizationId>, _>(Bind(OrganizationId(Uuid::nil())));
    let owned: Vec<Waiting> = query.load(connection).await?;
    let owned = owned.into_iter().map(|waiting| (Some(waiting.organization_id), waiting.oldest));
    Ok(unowned.map(|oldest| (None, oldest)).into_iter().chain(owned).collect())
}

/// Lists the oldest entries of each organization, in equal numbers. Among many organizations, those with the oldest entries.
async fn share(
    connection: &mut Conn,
    index: IndexName,
    mut waiting: Vec<(Option<OrganizationId>, i64)>,
    limit: i64,
) -> Result<Vec<OutboxEntry>> {
    waiting.sort_unstable_by_key(|(_, oldest)| *oldest);
    let count = i64::try_from(waiting.len()).unwrap_or(i64::MAX);
    let share = (limit / count).max(LEAST_SHARE.min(limit));
    let mut entries: Vec<OutboxEntry> = Vec::new();
    for (organization_id, _) in waiting.into_iter().take(usize::try_from(limit / share).unwrap_or(1)) {
        let mut query = outbox::table
            .filter(outbox::index_name.eq(Bind(index)))
            .order(outbox::id)
            .limit(share)
            .select(OutboxEntry::as_select())
            .into_boxed();
        query = match organization_id {
            Some(organization_id) => query.filter(outbox::organization_id.eq(Bind(Some(organization_id)))),
            None => query.filter(outbox::organization_id.is_null()),
        };
        entries.extend(query.load::<OutboxEntry>(connection).await?);
    }
    Ok(entries)
}

pub async fn complete_outbox(connection: &mut Conn, ids: Vec<i64>) -> Result<()> {
    for chunk in ids.chunks(MAX_VALUES_PER_STATEMENT) {
        diesel::delete(outbox::table.filter(outbox::id.eq_any(chunk.to_vec()))).execute(connection).await?;
    }
    Ok(())
}

pub async fn find_index_generations(connection: &mut Conn, index: IndexName) -> Result<IndexGenerations> {
    let found = index_generations::table
        .find(Bind(index))
        .select(IndexGenerations::as_select())
        .first(connection)
        .await
        .optional()?;
    Ok(found.unwrap_or_default())
}

pub async fn start_generation(
    connection: &mut Conn,
    index: IndexName,
    from: Option<Generation>,
    next: Generation,
) -> Result<()> {
    let completed = || index_generations::completed.eq(Bind(from));
    let started = || index_generations::started.eq(Bind(Some(next)));
    diesel::insert_into(index_generations::table)
        .values((index_generations::index_name.eq(Bind(index)), completed(), started()))
        .on_conflict(index_generations::index_name)
        .do_update()
        .set((completed(), started()))
        .execute(connection)
        .await?;
    Ok(())
}

pub async fn complete_generation(
    connection: &mut Conn,
    index: IndexName,
    generation: Generation,
    entry_ids: Vec<i64>,
    work: Vec<OutboxWork>,
    unembedded: Vec<DocId>,
    now: Timestamp,
) -> Result<bool> {
    enqueue_jobs_of(connection, index, unembedded, now).await?;
    // Unless another process has taken over and started a batch of its own.
    let is_started = index_generations::started.eq(Bind(Some(generation)));
    let is_completed =
        index_generations::started.is_null().and(index_generations::completed.eq(Bind(Some(generation))));
    let completed = diesel::update(index_generations::table.find(Bind(index)).filter(is_started.or(is_completed)))
        .set((
            index_generations::completed.eq(Bind(Some(generation))),
            index_generations::started.eq(Bind(None::<Generation>)),
        ))
        .execute(connection)
        .await?;
    if completed == 0 {
        enqueue_again(connection, index, work, now).await?;
    }
    complete_outbox(connection, entry_ids).await?;
    Ok(completed > 0)
}

/// Returns the lowest and the highest id of entries, each as a query of its own within one statement: SQLite would read all of them to
/// find both at once.
macro_rules! bounds {
    ($connection:expr, $entries:expr) => {{
        let oldest = $entries.order(outbox::id.asc()).select(outbox::id).single_value();
        let newest = $entries.order(outbox::id.desc()).select(outbox::id).single_value();
        let (oldest, newest): (Option<i64>, Option<i64>) =
            diesel::select((oldest, newest)).get_result($connection).await?;
        Ok(oldest.zip(newest))
    }};
}

pub async fn outbox_bounds(connection: &mut Conn, index: IndexName) -> Result<Option<(i64, i64)>> {
    bounds!(connection, outbox::table.filter(outbox::index_name.eq(Bind(index))))
}

pub async fn outbox_bounds_of(
    connection: &mut Conn,
    index: IndexName,
    organization_id: OrganizationId,
) -> Result<Option<(i64, i64)>> {
    bounds!(
        connection,
        outbox::table
            .filter(outbox::index_name.eq(Bind(index)))
            .filter(outbox::organization_id.eq(Bind(Some(organization_id))))
    )
}

pub async fn count_outbox(connection: &mut Conn, index: IndexName) -> Result<i64> {
    Ok(outbox::table.filter(outbox::index_name.eq(Bind(index))).count().get_result(connection).await?)
}

pub async fn oldest_outbox_entry(connection: &mut Conn, index: IndexName) -> Result<Option<Timestamp>> {
    let oldest = outbox::table.filter(outbox::index_name.eq(Bind(index))).order(outbox::id).select(outbox::created_at);
    Ok(oldest.first(connection).await.optional()?)
}

pub async fn acquire_lease(
    connection: &mut Conn,
    name: String,
    owner: String,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<bool> {
    let renewed = diesel::update(
        leases::table.find(name.clone()).filter(leases::owner.eq(owner.clone()).or(leases::expires_at.le(Bind(now)))),
    )
    .set((leases::owner.eq(owner.clone()), leases::expires_at.eq(Bind(expires_at))))
    .execute(connection)
    .await?;
    if renewed > 0 {
        return Ok(true);
    }
    let taken = diesel::insert_into(leases::table)
        .values((leases::name.eq(name), leases::owner.eq(owner), leases::expires_at.eq(Bind(expires_at))))
        .on_conflict(leases::name)
        .do_nothing()
        .execute(connection)
        .await?;
    Ok(taken > 0)
}

pub async fn release_lease(connection: &mut Conn, name: String, owner: String) -> Result<()> {
    diesel::delete(leases::table.find(name).filter(leases::owner.eq(owner))).execute(connection).await?;
    Ok(())
}

pub async fn is_leased(connection: &mut Conn, name: String, now: Timestamp) -> Result<bool> {
    let lease = leases::table.find(name).filter(leases::expires_at.gt(Bind(now)));
    Ok(diesel::select(diesel::dsl::exists(lease)).get_result(connection).await?)
}
