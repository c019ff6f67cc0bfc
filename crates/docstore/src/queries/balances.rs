use std::collections::{BTreeMap, BTreeSet};

use diesel::dsl::{exists, not};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::RunQueryDsl;
use model::{BalanceEntryId, BalanceReason, OrganizationId, SearchId, Timestamp};
use uuid::Uuid;

use super::usage::count_spending;
use super::{Conn, audit};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::rows::{AuditEntry, BalanceEntry};
use crate::schema::{balance_entries, balances, searches};
use crate::types::Bind;

/// Route that spending is attributed to.
const SEARCH_ROUTE: &str = "POST /v1/search";

pub async fn post_balance_entry(connection: &mut Conn, entry: BalanceEntry) -> Result<Option<i64>> {
    Ok(post_balance_entries(connection, vec![entry]).await?.into_iter().next().flatten())
}

pub async fn post_balance_entries(connection: &mut Conn, entries: Vec<BalanceEntry>) -> Result<Vec<Option<i64>>> {
    let mut balances = lock_balances(connection, &entries).await?;
    let mut outcomes = Vec::with_capacity(entries.len());
    let mut posted = Vec::with_capacity(entries.len());
    for entry in entries {
        let balance = balances.get_mut(&entry.organization_id);
        let outcome = balance.and_then(|balance| {
            *balance = balance.checked_add(entry.cents).filter(|cents| *cents >= 0)?;
            Some(*balance)
        });
        posted.extend(outcome.is_some().then_some(entry));
        outcomes.push(outcome);
    }
    let changed: BTreeSet<OrganizationId> = posted.iter().map(|entry| entry.organization_id).collect();
    balances.retain(|organization_id, _| changed.contains(organization_id));
    let update = |(organization_id, cents): (OrganizationId, i64)| {
        diesel::update(balances::table.find(Bind(organization_id))).set(balances::cents.eq(cents))
    };
    execute_all!(connection, balances.into_iter().map(update))?;
    count_spending(connection, &posted, SEARCH_ROUTE).await?;
    insert_bulk!(connection, balance_entries::table, posted)?;
    Ok(outcomes)
}

/// Creates missing balances for deposits, and locks the balances that the entries change, so that no two debits spend the same cent.
/// All transactions do both in the order of the organizations.
async fn lock_balances(connection: &mut Conn, entries: &[BalanceEntry]) -> Result<BTreeMap<OrganizationId, i64>> {
    let mut deposits: BTreeMap<OrganizationId, bool> = BTreeMap::new();
    for entry in entries {
        *deposits.entry(entry.organization_id).or_default() |= entry.cents >= 0;
    }
    let missing = deposits.iter().filter(|(_, has_deposit)| **has_deposit);
    let missing: Vec<_> =
        missing.map(|(id, _)| (balances::organization_id.eq(Bind(*id)), balances::cents.eq(0))).collect();
    insert_missing_rows!(connection, balances::table, missing)?;
    let organization_ids: Vec<OrganizationId> = deposits.into_keys().collect();
    let mut locked = BTreeMap::new();
    for chunk in organization_ids.chunks(MAX_VALUES_PER_STATEMENT) {
        let of_chunk = balances::table
            .filter(is_one_of!(balances::organization_id, chunk.iter().copied()))
            .order(balances::organization_id)
            .select((balances::organization_id, balances::cents));
        let found: Vec<(OrganizationId, i64)> = lock_rows!(of_chunk).load(connection).await?;
        locked.extend(found);
    }
    Ok(locked)
}

pub async fn adjust_balance(connection: &mut Conn, posted: BalanceEntry, entry: AuditEntry) -> Result<Option<i64>> {
    let balance = post_balance_entry(connection, posted).await?;
    if balance.is_some() {
        audit::record(connection, entry).await?;
    }
    Ok(balance)
}

pub async fn find_unrecorded_searches(
    connection: &mut Conn,
    organization_id: OrganizationId,
    from: Timestamp,
    before: Timestamp,
) -> Result<Vec<SearchId>> {
    let recorded = searches::table.filter(searches::search_id.nullable().eq(balance_entries::search_id));
    let debited: Vec<Option<SearchId>> = balance_entries::table
        .filter(balance_entries::organization_id.eq(Bind(organization_id)))
        .filter(balance_entries::created_at.ge(Bind(from)))
        .filter(balance_entries::created_at.lt(Bind(before)))
        .filter(balance_entries::search_id.is_not_null())
        .filter(balance_entries::cents.lt(0))
        .filter(not(exists(recorded)))
        .select(balance_entries::search_id)
        .distinct()
        .load(connection)
        .await?;
    let debited: Vec<SearchId> = debited.into_iter().flatten().collect();
    let mut unrecorded = Vec::new();
    for chunk in debited.chunks(MAX_VALUES_PER_STATEMENT) {
        // Of all times: a refund may come long after its debit.
        let unpaid: Vec<Option<SearchId>> = balance_entries::table
            .filter(balance_entries::organization_id.eq(Bind(organization_id)))
            .filter(is_one_of!(balance_entries::search_id.assume_not_null(), chunk.iter().copied()))
            .group_by(balance_entries::search_id)
            .having(diesel::dsl::sql::<Bool>("sum(balance_entries.cents) < 0"))
            .select(balance_entries::search_id)
            .load(connection)
            .await?;
        unrecorded.extend(unpaid.into_iter().flatten());
    }
    Ok(unrecorded)
}

pub async fn refund_searches(
    connection: &mut Conn,
    organization_id: OrganizationId,
    search_ids: Vec<SearchId>,
    now: Timestamp,
) -> Result<usize> {
    // Locks the balance, so that two instances cannot both issue a refund.
    let balance = lock_rows!(balances::table.find(Bind(organization_id)).select(balances::cents));
    if balance.first::<i64>(connection).await.optional()?.is_none() {
        return Ok(0);
    }
    // Whatever their times: the clock of an instance that refunded before may be behind that of the charge.
    let entries: Vec<BalanceEntry> = balance_entries::table
        .filter(balance_entries::organization_id.eq(Bind(organization_id)))
        .filter(is_one_of!(balance_entries::search_id.assume_not_null(), search_ids))
        .order((balance_entries::search_id, balance_entries::cents))
        .select(BalanceEntry::as_select())
        .load(connection)
        .await?;
    let refunds = entries.chunk_by(|entry, next| entry.search_id == next.search_id).filter_map(|entries| {
        let spent = entries.iter().fold(0_i64, |sum, entry| sum.saturating_add(entry.cents));
        let debit = entries.first().filter(|_| spent < 0)?;
        Some(BalanceEntry {
            id: BalanceEntryId(Uuid::now_v7()),
            cents: spent.saturating_neg(),
            reason: BalanceReason::Refund,
            created_at: now,
            ..debit.clone()
        })
    });
    let outcomes = post_balance_entries(connection, refunds.collect()).await?;
    Ok(outcomes.into_iter().flatten().count())
}

pub async fn list_balance_entries(
    connection: &mut Conn,
    organization_id: OrganizationId,
    after: Option<(Timestamp, BalanceEntryId)>,
    limit: i64,
) -> Result<Vec<BalanceEntry>> {
    let mut query = balance_entries::table
        .filter(balance_entries::organization_id.eq(Bind(organization_id)))
        .order((balance_entries::created_at, balance_entries::id))
        .limit(limit)
        .select(BalanceEntry::as_select())
        .into_boxed();
    if let Some((at, id)) = after {
        query = query.filter(is_after!(balance_entries::created_at, balance_entries::id, (at, id)));
    }
    Ok(query.load(connection).await?)
}

pub async fn find_balance(connection: &mut Conn, organization_id: OrganizationId) -> Result<Option<i64>> {
    Ok(balances::table.find(Bind(organization_id)).select(balances::cents).first(connection).await.optional()?)
}
