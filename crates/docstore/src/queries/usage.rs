use std::collections::BTreeMap;
use std::time::Duration;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};
use diesel_async::RunQueryDsl;
use model::{OrganizationId, Timestamp};

use super::Conn;
use crate::error::Result;
use crate::histogram::DurationHistogram;
use crate::rows::{BalanceEntry, DAY, HOUR, MINUTE, RollupPosition, UsageEvent, UsageRollup};
use crate::schema::{balance_entries, usage_events, usage_rollups};
use crate::types::Bind;

/// Periods of the rollups of each request.
const PERIODS: [i64; 3] = [MINUTE, HOUR, DAY];

/// Primary key of a rollup: organization, period, start, identity, route. Rollups are locked in this order.
type RollupKey = (OrganizationId, i64, Timestamp, String, String);

/// Sums of a batch of requests by rollup.
type Increments = BTreeMap<RollupKey, (UsageRollup, DurationHistogram)>;

pub async fn record_usage(connection: &mut Conn, events: Vec<UsageEvent>, keep_events: bool) -> Result<()> {
    let mut rollups = Increments::new();
    for event in &events {
        let UsageEvent { organization_id, created_at, .. } = *event;
        increment(&mut rollups, organization_id, created_at, &event.identity, &event.route, |rollup, histogram| {
            rollup.requests += 1;
            rollup.client_errors += i64::from((400..500).contains(&event.status));
            rollup.server_errors += i64::from(event.status >= 500);
            rollup.duration_us = rollup.duration_us.saturating_add(event.duration_us);
            histogram.record(u64::try_from(event.duration_us).unwrap_or(0));
        });
    }
    add_to_rollups(connection, rollups).await?;
    if keep_events {
        insert_bulk!(connection, usage_events::table, events)?;
    }
    Ok(())
}

pub async fn count_requests(connection: &mut Conn, minutes: Vec<UsageRollup>) -> Result<()> {
    let mut rollups = Increments::new();
    for minute in &minutes {
        let UsageRollup { organization_id, start, .. } = *minute;
        let durations = DurationHistogram::from_bytes(&minute.histogram).unwrap_or_default();
        increment(&mut rollups, organization_id, start, &minute.identity, &minute.route, |rollup, histogram| {
            rollup.requests += minute.requests;
            rollup.client_errors += minute.client_errors;
            rollup.server_errors += minute.server_errors;
            rollup.duration_us = rollup.duration_us.saturating_add(minute.duration_us);
            histogram.merge(&durations);
        });
    }
    add_to_rollups(connection, rollups).await
}

/// Adds to the increments of all periods that contain a time.
fn increment(
    rollups: &mut Increments,
    organization_id: OrganizationId,
    at: Timestamp,
    identity: &str,
    route: &str,
    add: impl Fn(&mut UsageRollup, &mut DurationHistogram),
) {
    for period in PERIODS {
        let key = (organization_id, period, start_of(period, at), identity.to_owned(), route.to_owned());
        let (rollup, histogram) =
            rollups.entry(key.clone()).or_insert_with(|| (empty_rollup(key), DurationHistogram::default()));
        add(rollup, histogram);
    }
}

fn bind_key(
    (organization_id, period, start, identity, route): RollupKey,
) -> (Bind<OrganizationId>, i64, Bind<Timestamp>, String, String) {
    (Bind(organization_id), period, Bind(start), identity, route)
}

/// Returns the start of the period that contains a time.
fn start_of(period: i64, at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.as_millis().div_euclid(period) * period)
}

fn empty_rollup((organization_id, period, start, identity, route): RollupKey) -> UsageRollup {
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

/// Adds increments to rollups. All are created before the first one is locked, so that two instances that create the same rollup both
/// count, and all are locked before the first one changes.
async fn add_to_rollups(connection: &mut Conn, increments: Increments) -> Result<()> {
    create_rollups(connection, increments.keys().cloned().collect()).await?;
    let lock = |key: RollupKey| lock_rows!(usage_rollups::table.find(bind_key(key)).select(usage_rollups::histogram));
    let rows: Vec<_> = increments.keys().cloned().map(lock).collect();
    let stored: Vec<Vec<Vec<u8>>> = load_all_in_order!(connection, rows)?;
    let updates = increments.into_iter().zip(stored).map(|((key, (increment, mut histogram)), stored)| {
        for stored in stored.iter().filter_map(|bytes| DurationHistogram::from_bytes(bytes)) {
            histogram.merge(&stored);
        }
        diesel::update(usage_rollups::table.find(bind_key(key))).set((
            usage_rollups::requests.eq(usage_rollups::requests + increment.requests),
            usage_rollups::client_errors.eq(usage_rollups::client_errors + increment.client_errors),
            usage_rollups::server_errors.eq(usage_rollups::server_errors + increment.server_errors),
            usage_rollups::duration_us.eq(usage_rollups::duration_us + increment.duration_us),
            usage_rollups::histogram.eq(histogram.to_bytes()),
        ))
    });
    execute_all!(connection, updates)?;
    Ok(())
}

/// Creates missing rollups, given in the order of their keys. Call it with all rollups of a transaction, before it locks the first one:
/// two transactions that lock some rollups and then create others could deadlock.
async fn create_rollups(connection: &mut Conn, keys: Vec<RollupKey>) -> Result<()> {
    let rows: Vec<UsageRollup> = keys.into_iter().map(empty_rollup).collect();
    insert_missing_rows!(connection, usage_rollups::table, rows)?;
    Ok(())
}

/// Adds the spending and the refunds of ledger entries to the rollups. Call it in the transaction of the entries.
pub async fn count_spending(connection: &mut Conn, entries: &[BalanceEntry], route: &str) -> Result<()> {
    let mut spending: BTreeMap<RollupKey, i64> = BTreeMap::new();
    for entry in entries {
        let Some(identity) = &entry.identity else { continue };
        for period in PERIODS {
            let start = start_of(period, entry.created_at);
            let key = (entry.organization_id, period, start, identity.clone(), route.to_owned());
            let cents = spending.entry(key).or_default();
            *cents = cents.saturating_sub(entry.cents);
        }
    }
    create_rollups(connection, spending.keys().cloned().collect()).await?;
    let add = |(key, cents): (RollupKey, i64)| {
        diesel::update(usage_rollups::table.find(bind_key(key)))
            .set(usage_rollups::spend_cents.eq(usage_rollups::spend_cents + cents))
    };
    execute_all!(connection, spending.into_iter().map(add))?;
    Ok(())
}

pub async fn list_usage_rollups(
    connection: &mut Conn,
    organization_id: OrganizationId,
    period: i64,
    after: RollupPosition,
    to: Timestamp,
    limit: i64,
) -> Result<Vec<UsageRollup>> {
    // Both databases compare rows, and find the first one by the primary key; diesel has no such comparison.
    let is_later = diesel::dsl::sql::<Bool>("(usage_rollups.start, usage_rollups.identity, usage_rollups.route) > (")
        .bind::<BigInt, _>(after.start.as_millis())
        .sql(", ")
        .bind::<Text, _>(after.identity)
        .sql(", ")
        .bind::<Text, _>(after.route)
        .sql(")");
    Ok(usage_rollups::table
        .filter(usage_rollups::organization_id.eq(Bind(organization_id)))
        .filter(usage_rollups::period.eq(period))
        .filter(is_later)
        .filter(usage_rollups::start.lt(Bind(to)))
        .order((usage_rollups::start, usage_rollups::identity, usage_rollups::route))
        .limit(limit)
        .select(UsageRollup::as_select())
        .load(connection)
        .await?)
}

pub async fn list_busiest_identities(
    connection: &mut Conn,
    organization_id: OrganizationId,
    from: Timestamp,
    to: Timestamp,
    limit: i64,
) -> Result<Vec<String>> {
    Ok(usage_rollups::table
        .filter(usage_rollups::organization_id.eq(Bind(organization_id)))
        .filter(usage_rollups::period.eq(DAY))
        .filter(usage_rollups::start.ge(Bind(start_of(DAY, from))))
        .filter(usage_rollups::start.lt(Bind(to)))
        .filter(usage_rollups::requests.gt(0))
        .group_by(usage_rollups::identity)
        .select(usage_rollups::identity)
        .order((diesel::dsl::sum(usage_rollups::requests).desc(), usage_rollups::identity))
        .limit(limit)
        .load(connection)
        .await?)
}

pub async fn list_usage_events(
    connection: &mut Conn,
    organization_id: OrganizationId,
    from: Timestamp,
    to: Timestamp,
    limit: i64,
) -> Result<Vec<UsageEvent>> {
    Ok(usage_events::table
        .filter(usage_events::organization_id.eq(Bind(organization_id)))
        .filter(usage_events::created_at.ge(Bind(from)))
        .filter(usage_events::created_at.lt(Bind(to)))
        .limit(limit)
        .select(UsageEvent::as_select())
        .load(connection)
        .await?)
}

pub async fn count_usage_events(
    connection: &mut Conn,
    organization_id: OrganizationId,
    from: Timestamp,
    to: Timestamp,
) -> Result<i64> {
    Ok(usage_events::table
        .filter(usage_events::organization_id.eq(Bind(organization_id)))
        .filter(usage_events::created_at.ge(Bind(from)))
        .filter(usage_events::created_at.lt(Bind(to)))
        .count()
        .get_result(connection)
        .await?)
}

pub async fn list_spending(
    connection: &mut Conn,
    organization_id: OrganizationId,
    from: Timestamp,
    to: Timestamp,
    limit: i64,
) -> Result<Vec<(Timestamp, String, i64)>> {
    let entries: Vec<(Timestamp, String, i64)> = balance_entries::table
        .filter(balance_entries::organization_id.eq(Bind(organization_id)))
        .filter(balance_entries::identity.is_not_null())
        .filter(balance_entries::created_at.ge(Bind(from)))
        .filter(balance_entries::created_at.lt(Bind(to)))
        .limit(limit)
        .select((balance_entries::created_at, balance_entries::identity.assume_not_null(), balance_entries::cents))
        .load(connection)
        .await?;
    Ok(entries.into_iter().map(|(at, identity, cents)| (at, identity, -cents)).collect())
}

pub async fn prune_usage_events(connection: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    let newest: Option<Timestamp> = usage_events::table
        .filter(usage_events::created_at.lt(Bind(before)))
        .order(usage_events::created_at)
        .offset(limit)
        .select(usage_events::created_at)
        .first(connection)
        .await
        .optional()?;
    let end = end_of_batch(newest, before);
    Ok(diesel::delete(usage_events::table.filter(usage_events::created_at.lt(Bind(end)))).execute(connection).await?)
}

pub async fn prune_usage_minutes(connection: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    let minutes =
        || usage_rollups::table.filter(usage_rollups::period.eq(MINUTE)).filter(usage_rollups::start.lt(Bind(before)));
    let newest: Option<Timestamp> = minutes()
        .order(usage_rollups::start)
        .offset(limit)
        .select(usage_rollups::start)
        .first(connection)
        .await
        .optional()?;
    let end = end_of_batch(newest, before);
    let expired =
        usage_rollups::table.filter(usage_rollups::period.eq(MINUTE)).filter(usage_rollups::start.lt(Bind(end)));
    Ok(diesel::delete(expired).execute(connection).await?)
}

/// Returns the end of a batch of expired rows: right after `newest`, the time of the row beyond the limit, which is before `before`.
/// Rows of one time are deleted together, so that a batch is never smaller than the limit while there are more.
fn end_of_batch(newest: Option<Timestamp>, before: Timestamp) -> Timestamp {
    newest.map_or(before, |newest| newest + Duration::from_millis(1))
}

/// Deletes at most `limit` rollups of an organization, in the order of their keys. Returns their number.
pub async fn delete_rollups(connection: &mut Conn, organization_id: OrganizationId, limit: i64) -> Result<usize> {
    let keys: Vec<RollupKey> = usage_rollups::table
        .filter(usage_rollups::organization_id.eq(Bind(organization_id)))
        .order((usage_rollups::period, usage_rollups::start, usage_rollups::identity, usage_rollups::route))
        .limit(limit)
        .select((
            usage_rollups::organization_id,
            usage_rollups::period,
            usage_rollups::start,
            usage_rollups::identity,
            usage_rollups::route,
        ))
        .load(connection)
        .await?;
    let deleted = keys.len();
    let delete = |key| diesel::delete(usage_rollups::table.find(bind_key(key)));
    execute_all!(connection, keys.into_iter().map(delete))?;
    Ok(deleted)
}
