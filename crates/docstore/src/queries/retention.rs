use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CaptureId, DocId, FeedbackId, OrganizationId, ResearchId, SearchId, SyncId, Timestamp};

use super::{Conn, embedding_queue, evidence, lock_documents, page_reads};
use crate::error::Result;
use crate::schema::{
    documents, feedback, grants, index_runs, page_reads as reads, research_runs, run_files, searches, term_vectors,
};
use crate::types::Bind;

pub async fn prune_searches(connection: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    let expired: Vec<SearchId> = searches::table
        .filter(searches::created_at.lt(Bind(before)))
        .order(searches::created_at)
        .limit(limit)
        .select(searches::search_id)
        .load(connection)
        .await?;
    let expired = searches::table.filter(is_one_of!(searches::search_id, expired));
    Ok(diesel::delete(expired).execute(connection).await?)
}

pub async fn prune_feedback(connection: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    let expired: Vec<FeedbackId> = feedback::table
        .filter(feedback::created_at.lt(Bind(before)))
        .order(feedback::created_at)
        .limit(limit)
        .select(feedback::feedback_id)
        .load(connection)
        .await?;
    let expired = feedback::table.filter(is_one_of!(feedback::feedback_id, expired));
    Ok(diesel::delete(expired).execute(connection).await?)
}

pub async fn prune_grants(connection: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    let expired: Vec<(OrganizationId, DocId)> = grants::table
        .filter(grants::granted_at.lt(Bind(before)))
        .order(grants::granted_at)
        .limit(limit)
        .select((grants::organization_id, grants::doc_id))
        .load(connection)
        .await?;
    let mut pruned = 0;
    for (organization_id, doc_ids) in by_organization(expired) {
        let expired = grants::table
            .filter(grants::organization_id.eq(Bind(organization_id)))
            .filter(is_one_of!(grants::doc_id, doc_ids))
            // Unless it was renewed meanwhile.
            .filter(grants::granted_at.lt(Bind(before)));
        pruned += diesel::delete(expired).execute(connection).await?;
    }
    Ok(pruned)
}

pub async fn prune_page_reads(connection: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    let expired = || {
        let granted = grants::table
            .filter(grants::organization_id.eq(reads::organization_id))
            .filter(grants::doc_id.eq(reads::doc_id));
        reads::table
            .filter(reads::last_seen_at.lt(Bind(before)))
            .filter(diesel::dsl::not(diesel::dsl::exists(granted)))
            .order(reads::last_seen_at)
    };
    let doc_ids: Vec<DocId> = expired().limit(limit).select(reads::doc_id).load(connection).await?;
    if doc_ids.is_empty() {
        return Ok(0);
    }
    page_reads::lock_readings(connection, &doc_ids).await?;
    // Selected again: some may have been read or granted before the lock.
    let expired: Vec<(OrganizationId, DocId)> = expired()
        .filter(is_one_of!(reads::doc_id, doc_ids))
        .select((reads::organization_id, reads::doc_id))
        .load(connection)
        .await?;
    let pruned = expired.len();
    for (organization_id, doc_ids) in by_organization(expired) {
        page_reads::delete_page_reads(connection, organization_id, doc_ids).await?;
    }
    Ok(pruned)
}

pub async fn prune_research(connection: &mut Conn, now: Timestamp, limit: i64) -> Result<usize> {
    let expired: Vec<ResearchId> = research_runs::table
        .filter(research_runs::expires_at.le(Bind(now)))
        // A run that waits longer than ended ones are kept is still to be executed.
        .filter(research_runs::completed_at.is_not_null())
        .order(research_runs::expires_at)
        .limit(limit)
        .select(research_runs::research_id)
        .load(connection)
        .await?;
    let expired = research_runs::table.filter(is_one_of!(research_runs::research_id, expired));
    Ok(diesel::delete(expired).execute(connection).await?)
}

pub async fn prune_removed_pages(
    connection: &mut Conn,
    before: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<usize> {
    let doc_ids: Vec<DocId> = documents::table
        .filter(documents::organization_id.is_null())
        .filter(documents::listed)
        .filter(documents::removed_at.lt(Bind(before)))
        .filter(documents::latest_capture_id.is_not_null())
        .order(documents::removed_at)
        .limit(limit)
        .select(documents::doc_id)
        .load(connection)
        .await?;
    if doc_ids.is_empty() {
        return Ok(0);
    }
    lock_documents(connection, &doc_ids).await?;
    let locked = documents::table.filter(is_one_of!(documents::doc_id, doc_ids)).order(documents::doc_id).select((
        documents::doc_id,
        documents::removed_at,
        documents::latest_capture_id,
    ));
    let locked: Vec<(DocId, Option<Timestamp>, Option<CaptureId>)> = lock_rows!(locked).load(connection).await?;
    // Some may have been restored before the lock.
    let removed = locked.into_iter().filter(|(_, removed_at, _)| removed_at.is_some_and(|at| at < before));
    let (doc_ids, replaced): (Vec<DocId>, Vec<(CaptureId, Option<CaptureId>)>) =
        removed.filter_map(|(doc_id, _, capture_id)| Some((doc_id, (capture_id?, None)))).unzip();
    evidence::supersede(connection, &replaced, now).await?;
    let pruned = doc_ids.len();
    diesel::delete(term_vectors::table.filter(is_one_of!(term_vectors::doc_id, doc_ids.iter().copied())))
        .execute(connection)
        .await?;
    diesel::update(documents::table.filter(is_one_of!(documents::doc_id, doc_ids.iter().copied())))
        .set(documents::latest_capture_id.eq(Bind(None::<CaptureId>)))
        .execute(connection)
        .await?;
    embedding_queue::drop_embedding_jobs(connection, doc_ids).await?;
    Ok(pruned)
}

pub async fn prune_runs(connection: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    let outcomes = run_files::table.filter(run_files::sync_id.eq(index_runs::sync_id));
    let ended: Vec<SyncId> = index_runs::table
        .filter(index_runs::completed_at.lt(Bind(before)))
        .filter(diesel::dsl::not(diesel::dsl::exists(outcomes)))
        .order(index_runs::completed_at)
        .limit(limit)
        .select(index_runs::sync_id)
        .load(connection)
        .await?;
    let ended = index_runs::table.filter(is_one_of!(index_runs::sync_id, ended));
    Ok(diesel::delete(ended).execute(connection).await?)
}

/// Groups documents by organization, each in key order.
fn by_organization(mut rows: Vec<(OrganizationId, DocId)>) -> BTreeMap<OrganizationId, Vec<DocId>> {
    rows.sort_unstable();
    let mut groups: BTreeMap<OrganizationId, Vec<DocId>> = BTreeMap::new();
    for (organization_id, doc_id) in rows {
        groups.entry(organization_id).or_default().push(doc_id);
    }
    groups
}
