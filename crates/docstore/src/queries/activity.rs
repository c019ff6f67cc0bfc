use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CaptureId, DocId, FeedbackId, OrganizationId, SearchId, Timestamp};

use super::Conn;
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::nul::strip_nul;
use crate::rows::{Document, Feedback, FeedbackExport, Grant, Search};
use crate::schema::{documents, feedback, grants, searches};
use crate::types::Bind;

/// Age at which a grant that is granted again is renewed.
const RENEWAL: Duration = Duration::from_hours(24);

pub async fn record_searches(connection: &mut Conn, rows: Vec<Search>, granted: Vec<Grant>) -> Result<()> {
    // JSON escapes NUL.
    let rows = rows.into_iter().map(|row| Search { query: strip_nul(row.query), ..row }).collect();
    insert_rows!(connection, searches::table, rows)?;
    insert_grants(connection, granted).await
}

/// Inserts grants of existing documents, and renews those that are stored. A document may have been deleted since the search;
/// that must not fail the searches recorded in the same transaction.
async fn insert_grants(connection: &mut Conn, mut granted: Vec<Grant>) -> Result<()> {
    // Sorted and deduplicated, so that transactions with the same grants cannot deadlock.
    granted.sort_unstable_by_key(|grant| (grant.doc_id, grant.organization_id));
    granted.dedup_by_key(|grant| (grant.doc_id, grant.organization_id));
    let current = find_current_grants(connection, granted.clone()).await?;
    granted.retain(|grant| !current.contains(&(grant.organization_id, grant.doc_id)));
    if granted.is_empty() {
        return Ok(());
    }
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

/// Returns which of the grants are stored and need no renewal. Mostly these are all, since searches are repeated: then this is
/// the only query. It takes no lock, and a document with a grant exists.
async fn find_current_grants(connection: &mut Conn, granted: Vec<Grant>) -> Result<BTreeSet<(OrganizationId, DocId)>> {
    let mut current = BTreeSet::new();
    for (organization_id, granted) in by_organization(granted) {
        for chunk in granted.chunks(MAX_VALUES_PER_STATEMENT) {
            let query = grants::table
                .filter(grants::organization_id.eq(Bind(organization_id)))
                .filter(is_one_of!(grants::doc_id, chunk.iter().map(|grant| grant.doc_id)))
                .select((grants::doc_id, grants::granted_at, grants::capture_id));
            let stored: Vec<(DocId, Timestamp, Option<CaptureId>)> = query.load(connection).await?;
            let stored: HashMap<DocId, (Timestamp, Option<CaptureId>)> =
                stored.into_iter().map(|(doc_id, at, named)| (doc_id, (at, named))).collect();
            let Some(now) = chunk.iter().map(|grant| grant.granted_at).max() else { continue };
            let is_current = |grant: &&Grant| {
                stored.get(&grant.doc_id).is_some_and(|(granted_at, named)| {
                    *granted_at >= now - RENEWAL && (grant.capture_id.is_none() || grant.capture_id == *named)
                })
            };
            current.extend(chunk.iter().filter(is_current).map(|grant| (organization_id, grant.doc_id)));
        }
    }
    Ok(current)
}

fn by_organization(granted: Vec<Grant>) -> BTreeMap<OrganizationId, Vec<Grant>> {
    let mut by_organization: BTreeMap<OrganizationId, Vec<Grant>> = BTreeMap::new();
    for grant in granted {
        by_organization.entry(grant.organization_id).or_default().push(grant);
    }
    by_organization
}

/// Renews grants that are older than [`RENEWAL`], so that retention counts from the last use, or that name another capture than
/// the one that is shown. Others cost no write.
async fn renew_grants(connection: &mut Conn, granted: Vec<Grant>) -> Result<()> {
    for (organization_id, granted) in by_organization(granted) {
        for chunk in granted.chunks(MAX_VALUES_PER_STATEMENT) {
            renew_grants_of(connection, organization_id, chunk).await?;
        }
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
    insert_grants(connection, vec![granted]).await
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

pub async fn export_feedback(
    connection: &mut Conn,
    after: Option<(Timestamp, FeedbackId)>,
    limit: i64,
) -> Result<Vec<FeedbackExport>> {
    let mut query = feedback::table
        .left_join(
            searches::table.on(feedback::search_id
                .eq(searches::search_id.nullable())
                .and(feedback::organization_id.eq(searches::organization_id))),
        )
        .left_join(documents::table.on(feedback::doc_id.eq(documents::doc_id.nullable())))
        .order((feedback::created_at, feedback::feedback_id))
        .limit(limit)
        .select((Feedback::as_select(), Option::<Search>::as_select(), Option::<Document>::as_select()))
        .into_boxed();
    if let Some((at, id)) = after {
        let later = feedback::created_at.gt(Bind(at));
        query = query.filter(later.or(feedback::created_at.eq(Bind(at)).and(feedback::feedback_id.gt(Bind(id)))));
    }
    let rows: Vec<(Feedback, Option<Search>, Option<Document>)> = query.load(connection).await?;
    Ok(rows.into_iter().map(|(event, search, document)| FeedbackExport { event, search, document }).collect())
}

pub async fn record_feedback(connection: &mut Conn, row: Feedback) -> Result<()> {
    let row = Feedback {
        comment: row.comment.map(strip_nul),
        query: row.query.map(strip_nul),
        client_model: row.client_model.map(strip_nul),
        ..row
    };
    diesel::insert_into(feedback::table).values(row).execute(connection).await?;
    Ok(())
}
