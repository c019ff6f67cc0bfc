use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{DocId, FeedbackId, OrganizationId, ResearchId, SearchId, Timestamp};

use super::{Conn, page_reads};
use crate::error::Result;
use crate::schema::{feedback, grants, page_reads as reads, research_runs, searches};
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
        .order(research_runs::expires_at)
        .limit(limit)
        .select(research_runs::research_id)
        .load(connection)
        .await?;
    let expired = research_runs::table.filter(is_one_of!(research_runs::research_id, expired));
    Ok(diesel::delete(expired).execute(connection).await?)
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
