use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::Conn;
use crate::error::Result;
use crate::rows::{NewOutboxEntry, OutboxEntry};
use crate::schema::{leases, outbox};
use crate::types::Id;

/// Three columns a row; SQLite binds at most 32,766 values in a statement.
const ENTRIES_AT_ONCE: usize = 10_000;

/// Queues documents for their index, in the caller's transaction.
pub async fn enqueue(connection: &mut Conn, index_name: &str, doc_ids: Vec<Id>, now: i64) -> Result<()> {
    let mut entries: Vec<NewOutboxEntry> = doc_ids
        .into_iter()
        .map(|doc_id| NewOutboxEntry { index_name: index_name.to_owned(), doc_id, created_at: now })
        .collect();
    while !entries.is_empty() {
        let rest = entries.split_off(entries.len().min(ENTRIES_AT_ONCE));
        insert_rows!(connection, outbox::table, entries)?;
        entries = rest;
    }
    Ok(())
}

pub async fn enqueue_documents(connection: &mut Conn, index_name: String, doc_ids: Vec<Id>, now: i64) -> Result<()> {
    enqueue(connection, &index_name, doc_ids, now).await
}

/// The oldest entries of one index.
pub async fn pending_outbox(connection: &mut Conn, index_name: String, limit: i64) -> Result<Vec<OutboxEntry>> {
    Ok(outbox::table
        .filter(outbox::index_name.eq(index_name))
        .order(outbox::id)
        .limit(limit)
        .select(OutboxEntry::as_select())
        .load(connection)
        .await?)
}

pub async fn complete_outbox(connection: &mut Conn, ids: Vec<i64>) -> Result<()> {
    for chunk in ids.chunks(10_000) {
        diesel::delete(outbox::table.filter(outbox::id.eq_any(chunk.to_vec()))).execute(connection).await?;
    }
    Ok(())
}

/// The ids of the oldest and the newest entry of one index.
pub async fn outbox_bounds(connection: &mut Conn, index_name: String) -> Result<Option<(i64, i64)>> {
    let (oldest, newest): (Option<i64>, Option<i64>) = outbox::table
        .filter(outbox::index_name.eq(index_name))
        .select((diesel::dsl::min(outbox::id), diesel::dsl::max(outbox::id)))
        .first(connection)
        .await?;
    Ok(oldest.zip(newest))
}

pub async fn count_outbox(connection: &mut Conn, index_name: String) -> Result<i64> {
    Ok(outbox::table.filter(outbox::index_name.eq(index_name)).count().get_result(connection).await?)
}

/// Takes or renews the lease. `false` while another owner's has not expired.
pub async fn acquire_lease(
    connection: &mut Conn,
    name: String,
    owner: String,
    now: i64,
    expires_at: i64,
) -> Result<bool> {
    let renewed = diesel::update(
        leases::table.find(name.clone()).filter(leases::owner.eq(owner.clone()).or(leases::expires_at.le(now))),
    )
    .set((leases::owner.eq(owner.clone()), leases::expires_at.eq(expires_at)))
    .execute(connection)
    .await?;
    if renewed > 0 {
        return Ok(true);
    }
    let taken = diesel::insert_into(leases::table)
        .values((leases::name.eq(name), leases::owner.eq(owner), leases::expires_at.eq(expires_at)))
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
