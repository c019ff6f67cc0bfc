use std::collections::{HashMap, HashSet};
use std::time::Duration;

use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use model::{CaptureId, DocId, OrganizationId, SearchId, Timestamp};

use super::Conn;
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::nul::strip_nul;
use crate::rows::{Grant, Search};
use crate::schema::{documents, grants, searches};
use crate::types::Bind;

/// Age at which a grant that is granted again is renewed.
const RENEWAL: Duration = Duration::from_hours(24);

/// Columns of a stored grant.
type StoredGrant = (DocId, Timestamp, Option<CaptureId>);

pub async fn record_searches(connection: &mut Conn, rows: Vec<Search>, granted: Vec<Grant>) -> Result<()> {
    // JSON escapes NUL.
    let rows: Vec<Search> = rows.into_iter().map(|row| Search { query: strip_nul(row.query), ..row }).collect();
    let granted = chunks_by_organization(granted);
    let find_stored = |(organization_id, granted): &(OrganizationId, Vec<Grant>)| {
        grants::table
            .filter(grants::organization_id.eq(Bind(*organization_id)))
            .filter(is_one_of!(grants::doc_id, granted.iter().map(|grant| grant.doc_id)))
            .select((grants::doc_id, grants::granted_at, grants::capture_id))
    };
    let queries: Vec<_> = granted.iter().map(find_stored).collect();
    let ((), stored): ((), Vec<Vec<StoredGrant>>) = run_both!(
        connection,
        |shared| insert_missing_bulk!(shared, searches::table, rows),
        load_all!(shared, queries)
    )?;
    let missing = granted.into_iter().zip(stored).flat_map(|((_, granted), stored)| without_current(granted, stored));
    let missing: Vec<Grant> = missing.collect();
    if missing.is_empty() {
        return Ok(());
    }
    connection.transaction(async move |connection| insert_grants(connection, missing).await).await
}

/// Keeps the grants that are not stored or need renewal. Mostly there are none, since searches are repeated.
fn without_current(mut granted: Vec<Grant>, stored: Vec<StoredGrant>) -> Vec<Grant> {
    let stored: HashMap<DocId, (Timestamp, Option<CaptureId>)> =
        stored.into_iter().map(|(doc_id, at, named)| (doc_id, (at, named))).collect();
    let now = granted.iter().map(|grant| grant.granted_at).max();
    let is_current = |grant: &Grant| {
        stored.get(&grant.doc_id).is_some_and(|(granted_at, named)| {
            now.is_none_or(|now| *granted_at >= now - RENEWAL)
                && (grant.capture_id.is_none() || grant.capture_id == *named)
        })
    };
    granted.retain(|grant| !is_current(grant));
    granted
}

/// Returns the distinct grants of each organization, in parts that fit into one statement.
fn chunks_by_organization(mut granted: Vec<Grant>) -> Vec<(OrganizationId, Vec<Grant>)> {
    granted.sort_by_key(|grant| (grant.organization_id, grant.doc_id));
    granted.dedup_by_key(|grant| (grant.organization_id, grant.doc_id));
    let of_organizations = granted.chunk_by(|grant, next| grant.organization_id == next.organization_id);
    let parts = of_organizations.flat_map(|granted| granted.chunks(MAX_VALUES_PER_STATEMENT));
    parts.filter_map(|part| Some((part.first()?.organization_id, part.to_vec()))).collect()
}

/// Inserts distinct grants of existing documents, and renews those that are stored. A document may have been deleted since the
/// search.
async fn insert_grants(connection: &mut Conn, mut granted: Vec<Grant>) -> Result<()> {
    // Transactions with the same grants cannot deadlock.
    granted.sort_unstable_by_key(|grant| (grant.doc_id, grant.organization_id));
    let mut doc_ids: Vec<DocId> = granted.iter().map(|grant| grant.doc_id).collect();
    doc_ids.dedup();
    let mut existing: HashSet<DocId> = HashSet::with_capacity(doc_ids.len());
    for chunk in doc_ids.chunks(MAX_VALUES_PER_STATEMENT) {
        let query =
            documents::table.filter(is_one_of!(documents::doc_id, chunk.iter().copied())).order(documents::doc_id);
        let found: Vec<DocId> = lock_rows_against_deletion!(query.select(documents::doc_id)).load(connection).await?;
        existing.extend(found);
    }
    granted.retain(|grant| existing.contains(&grant.doc_id));
    let inserted = insert_missing_rows!(connection, grants::table, granted.clone())?;
    if inserted == granted.len() {
        return Ok(());
    }
    renew_grants(connection, granted).await
}

/// Renews grants that are older than [`RENEWAL`], so that retention counts from the last use, or that name another capture than
/// the one that is shown. Others cost no write.
async fn renew_grants(connection: &mut Conn, granted: Vec<Grant>) -> Result<()> {
    for (organization_id, chunk) in chunks_by_organization(granted) {
        renew_grants_of(connection, organization_id, &chunk).await?;
    }
    Ok(())
}

async fn renew_grants_of(connection: &mut Conn, organization_id: OrganizationId, granted: &[Grant]) -> Result<()> {
    let Some(now) = granted.iter().map(|grant| grant.granted_at).max() else { return Ok(()) };
    let shown: HashMap<DocId, CaptureId> =
        granted.iter().filter_map(|grant| Some((grant.doc_id, grant.capture_id?))).collect();
    let own = || grants::table.filter(grants::organization_id.eq(Bind(organization_id)));
    let named = is_one_of!(grants::capture_id.assume_not_null(), shown.values().copied());
    let names_another =
        is_one_of!(grants::doc_id, shown.keys().copied()).and(grants::capture_id.is_null().or(diesel::dsl::not(named)));
    let outdated = own()
        .filter(is_one_of!(grants::doc_id, granted.iter().map(|grant| grant.doc_id)))
        .filter(grants::granted_at.lt(Bind(now - RENEWAL)).or(names_another))
        .order(grants::doc_id);
    let outdated: Vec<(DocId, Option<CaptureId>)> =
        lock_rows!(outdated.select((grants::doc_id, grants::capture_id))).load(connection).await?;
    if outdated.is_empty() {
        return Ok(());
    }
    for (doc_id, named) in &outdated {
        let shown = shown.get(doc_id).copied();
        if shown.is_some() && shown != *named {
            let one = own().filter(grants::doc_id.eq(Bind(*doc_id)));
            diesel::update(one).set(grants::capture_id.eq(Bind(shown))).execute(connection).await?;
        }
    }
    let outdated = own().filter(is_one_of!(grants::doc_id, outdated.into_iter().map(|(doc_id, _)| doc_id)));
    diesel::update(outdated).set(grants::granted_at.eq(Bind(now))).execute(connection).await?;
    Ok(())
}

pub async fn find_search(
    connection: &mut Conn,
    organization_id: OrganizationId,
    search_id: SearchId,
) -> Result<Option<Search>> {
    Ok(searches::table
        .find(Bind(search_id))
        .filter(searches::organization_id.eq(Bind(organization_id)))
        .select(Search::as_select())
        .first(connection)
        .await
        .optional()?)
}

pub async fn grant_document(connection: &mut Conn, granted: Grant) -> Result<()> {
    record_searches(connection, Vec::new(), vec![granted]).await
}

pub async fn is_granted(connection: &mut Conn, organization_id: OrganizationId, doc_id: DocId) -> Result<bool> {
    let found: Option<DocId> = grants::table
        .find((Bind(organization_id), Bind(doc_id)))
        .select(grants::doc_id)
        .first(connection)
        .await
        .optional()?;
    Ok(found.is_some())
}
