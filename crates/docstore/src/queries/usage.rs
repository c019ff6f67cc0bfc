use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{OrganizationId, Timestamp};

use super::Conn;
use crate::error::Result;
use crate::histogram::DurationHistogram;
use crate::rows::{BalanceEntry, DAY, HOUR, UsageEvent, UsageRollup};
use crate::schema::{balance_entries, usage_events, usage_rollups};
use crate::types::Bind;

/// Organization, period, start, identity, route: in the order of the table's key, in which cells are locked.
type Cell = (OrganizationId, i64, Timestamp, String, String);

/// Counts requests into their hours and days, and stores them one by one where that is asked for.
pub async fn record_usage(connection: &mut Conn, events: Vec<UsageEvent>, keep_events: bool) -> Result<()> {
    let mut cells: BTreeMap<Cell, (UsageRollup, DurationHistogram)> = BTreeMap::new();
    for event in &events {
        for period in [HOUR, DAY] {
            let start = start_of(period, event.created_at);
            let cell = (event.organization_id, period, start, event.identity.clone(), event.route.clone());
            let (rollup, histogram) =
                cells.entry(cell.clone()).or_insert_with(|| (empty(cell), DurationHistogram::default()));
            rollup.requests += 1;
            rollup.client_errors += i64::from((400..500).contains(&event.status));
            rollup.server_errors += i64::from(event.status >= 500);
            rollup.duration_us = rollup.duration_us.saturating_add(event.duration_us);
            histogram.record(u64::try_from(event.duration_us).unwrap_or(0));
        }
    }
    for (cell, (more, histogram)) in cells {
        add_to(connection, cell, more, histogram).await?;
    }
    if keep_events {
        insert_rows!(connection, usage_events::table, events)?;
    }
    Ok(())
}

/// The cell as a primary key.
fn key(
    (organization_id, period, start, identity, route): Cell,
) -> (Bind<OrganizationId>, i64, Bind<Timestamp>, String, String) {
    (Bind(organization_id), period, Bind(start), identity, route)
}

/// The start of the period that a time lies in.
fn start_of(period: i64, at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.as_millis().div_euclid(period) * period)
}

fn empty((organization_id, period, start, identity, route): Cell) -> UsageRollup {
    UsageRollup {
        organization_id,
        period,
        start,
        identity,
        route,
        requests: 0,
        client_errors: 0,
        server_errors: 0,
        duration_us: 0,
        spend_cents: 0,
        histogram: Vec::new(),
    }
}

/// A cell exists before it is locked and changed: of two instances that meet in a new one, neither is lost.
async fn add_to(connection: &mut Conn, cell: Cell, more: UsageRollup, histogram: DurationHistogram) -> Result<()> {
    make(connection, cell.clone()).await?;
    let row = usage_rollups::table.find(key(cell.clone()));
    let stored: Vec<u8> = lock_rows!(row.select(usage_rollups::histogram)).first(connection).await?;
    let mut all = DurationHistogram::from_bytes(&stored).unwrap_or_default();
    all.merge(&histogram);
    diesel::update(usage_rollups::table.find(key(cell)))
        .set((
            usage_rollups::requests.eq(usage_rollups::requests + more.requests),
            usage_rollups::client_errors.eq(usage_rollups::client_errors + more.client_errors),
            usage_rollups::server_errors.eq(usage_rollups::server_errors + more.server_errors),
            usage_rollups::duration_us.eq(usage_rollups::duration_us + more.duration_us),
            usage_rollups::histogram.eq(all.to_bytes()),
        ))
        .execute(connection)
        .await?;
    Ok(())
}

async fn make(connection: &mut Conn, cell: Cell) -> Result<()> {
    diesel::insert_into(usage_rollups::table).values(empty(cell)).on_conflict_do_nothing().execute(connection).await?;
    Ok(())
}

/// What an entry of the ledger spends (or gives back) is counted in the same transaction.
pub async fn count_spending(connection: &mut Conn, entry: &BalanceEntry, route: &str) -> Result<()> {
    let Some(identity) = &entry.identity else { return Ok(()) };
    for period in [HOUR, DAY] {
        let start = start_of(period, entry.created_at);
        let cell = (entry.organization_id, period, start, identity.clone(), route.to_owned());
        make(connection, cell.clone()).await?;
        diesel::update(usage_rollups::table.find(key(cell)))
            .set(usage_rollups::spend_cents.eq(usage_rollups::spend_cents - entry.cents))
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// The cells of one organization that start in `[from, to)`, in order of their start.
pub async fn list_usage_rollups(
    connection: &mut Conn,
    organization_id: OrganizationId,
    period: i64,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<UsageRollup>> {
    Ok(usage_rollups::table
        .filter(usage_rollups::organization_id.eq(Bind(organization_id)))
        .filter(usage_rollups::period.eq(period))
        .filter(usage_rollups::start.ge(Bind(from)))
        .filter(usage_rollups::start.lt(Bind(to)))
        .order(usage_rollups::start)
        .select(UsageRollup::as_select())
        .load(connection)
        .await?)
}

/// The single requests of one organization in `[from, to)`, as far as they are kept.
pub async fn list_usage_events(
    connection: &mut Conn,
    organization_id: OrganizationId,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<UsageEvent>> {
    Ok(usage_events::table
        .filter(usage_events::organization_id.eq(Bind(organization_id)))
        .filter(usage_events::created_at.ge(Bind(from)))
        .filter(usage_events::created_at.lt(Bind(to)))
        .select(UsageEvent::as_select())
        .load(connection)
        .await?)
}

/// What was spent in `[from, to)`: time, identity and cents of each entry, refunds as negative cents.
pub async fn list_spending(
    connection: &mut Conn,
    organization_id: OrganizationId,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<(Timestamp, String, i64)>> {
    let entries: Vec<(Timestamp, String, i64)> = balance_entries::table
        .filter(balance_entries::organization_id.eq(Bind(organization_id)))
        .filter(balance_entries::identity.is_not_null())
        .filter(balance_entries::created_at.ge(Bind(from)))
        .filter(balance_entries::created_at.lt(Bind(to)))
        .select((balance_entries::created_at, balance_entries::identity.assume_not_null(), balance_entries::cents))
        .load(connection)
        .await?;
    Ok(entries.into_iter().map(|(at, identity, cents)| (at, identity, -cents)).collect())
}

/// Forgets single requests of before `before`; at most about `limit` of them. Returns how many.
pub async fn prune_usage_events(connection: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    let newest: Option<Timestamp> = usage_events::table
        .filter(usage_events::created_at.lt(Bind(before)))
        .order(usage_events::created_at)
        .offset(limit)
        .select(usage_events::created_at)
        .first(connection)
        .await
        .optional()?;
    let end = newest.unwrap_or(before);
    Ok(diesel::delete(usage_events::table.filter(usage_events::created_at.lt(Bind(end)))).execute(connection).await?)
}
