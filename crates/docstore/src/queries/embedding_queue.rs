use std::time::Duration;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{DocId, IndexName, OrganizationId, Timestamp};

use super::Conn;
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::rows::EmbeddingJob;
use crate::schema::{documents, embedding_jobs as jobs, index_models};
use crate::types::Bind;

/// Organizations, besides the web, that one claim serves.
const ORGANIZATIONS_PER_CLAIM: usize = 8;

/// Maximum time that a pause or a lease can last. A later end was written before the clock was set back.
const LONGEST: Duration = Duration::from_hours(1);

macro_rules! is_due {
    ($now:expr) => {
        jobs::not_before.le(Bind($now)).or(jobs::not_before.gt(Bind($now + LONGEST)))
    };
}

/// Enqueues documents to be embedded, except deleted ones. Those that wait after a rejection are due again: they may have changed.
pub async fn enqueue_jobs(connection: &mut Conn, mut doc_ids: Vec<DocId>, now: Timestamp) -> Result<()> {
    // Sorted and deduplicated, so that transactions with the same documents cannot deadlock.
    doc_ids.sort_unstable();
    doc_ids.dedup();
    for chunk in doc_ids.chunks(MAX_VALUES_PER_STATEMENT) {
        let query =
            documents::table.filter(is_one_of!(documents::doc_id, chunk.iter().copied())).order(documents::doc_id);
        let found: Vec<(DocId, Option<OrganizationId>)> =
            lock_rows_against_deletion!(query.select((documents::doc_id, documents::organization_id)))
                .load(connection)
                .await?;
        let job = |(doc_id, organization_id)| EmbeddingJob {
            doc_id,
            organization_id,
            enqueued_at: now,
            attempts: 0,
            not_before: now,
            lease_owner: None,
        };
        let rows: Vec<EmbeddingJob> = found.into_iter().map(job).collect();
        let waiting = is_one_of!(jobs::doc_id, rows.iter().map(|job| job.doc_id));
        let waiting = jobs::table.filter(waiting).filter(jobs::lease_owner.is_null()).filter(jobs::attempts.gt(0));
        diesel::update(waiting).set((jobs::attempts.eq(0), jobs::not_before.eq(Bind(now)))).execute(connection).await?;
        insert_missing_rows!(connection, jobs::table, rows)?;
    }
    Ok(())
}

/// Enqueues documents of an index like [`enqueue_jobs`] if the index has a model. Without one nobody works on jobs, and an instance that
/// still has a model may feed the index.
pub async fn enqueue_jobs_of(
    connection: &mut Conn,
    index: IndexName,
    doc_ids: Vec<DocId>,
    now: Timestamp,
) -> Result<()> {
    if doc_ids.is_empty() {
        return Ok(());
    }
    // Locked, so that jobs are enqueued before the model is taken away, which deletes them, or not at all.
    match lock_index_model(connection, index).await? {
        Some(_) => enqueue_jobs(connection, doc_ids, now).await,
        None => Ok(()),
    }
}

/// Returns the model of an index, which does not change before the transaction ends.
pub async fn lock_index_model(connection: &mut Conn, index: IndexName) -> Result<Option<String>> {
    let model = lock_rows!(index_models::table.find(Bind(index)).select(index_models::model));
    let model: Option<Option<String>> = model.first(connection).await.optional()?;
    Ok(model.flatten())
}

pub async fn claim_embedding_jobs(
    connection: &mut Conn,
    owner: String,
    after: Option<OrganizationId>,
    now: Timestamp,
    lease_expires_at: Timestamp,
    limit: i64,
) -> Result<Vec<EmbeddingJob>> {
    let waiting = waiting_organizations(connection, after, now).await?;
    let due = || jobs::table.filter(is_due!(now)).order((jobs::enqueued_at, jobs::doc_id));
    let share = (limit / i64::try_from(waiting.len() + 1).unwrap_or(i64::MAX)).max(1);
    let mut claimed: Vec<EmbeddingJob> = Vec::new();
    for organization_id in waiting {
        let of_organization = lock_available_rows!(
            due()
                .filter(jobs::organization_id.eq(Bind(Some(organization_id))))
                .limit(share)
                .select(EmbeddingJob::as_select())
        );
        claimed.extend(of_organization.load::<EmbeddingJob>(connection).await?);
    }
    let rest = limit.saturating_sub(i64::try_from(claimed.len()).unwrap_or(i64::MAX)).max(1);
    let of_web = lock_available_rows!(
        due().filter(jobs::organization_id.is_null()).limit(rest).select(EmbeddingJob::as_select())
    );
    claimed.extend(of_web.load::<EmbeddingJob>(connection).await?);
    let ids = claimed.iter().map(|job| job.doc_id);
    diesel::update(jobs::table.filter(is_one_of!(jobs::doc_id, ids)))
        .set((jobs::lease_owner.eq(Some(owner)), jobs::not_before.eq(Bind(lease_expires_at))))
        .execute(connection)
        .await?;
    Ok(claimed)
}

/// Lists organizations with due jobs in the order of their ids, first those after the given one.
async fn waiting_organizations(
    connection: &mut Conn,
    after: Option<OrganizationId>,
    now: Timestamp,
) -> Result<Vec<OrganizationId>> {
    let mut waiting: Vec<OrganizationId> = Vec::new();
    let (mut last, mut from_start) = (after, after.is_none());
    while waiting.len() < ORGANIZATIONS_PER_CLAIM {
        // One entry of the index per organization, however many jobs it has.
        let mut query = jobs::table
            .filter(jobs::organization_id.is_not_null())
            .filter(is_due!(now))
            .order(jobs::organization_id)
            .limit(1)
            .select(jobs::organization_id.assume_not_null())
            .into_boxed();
        if let Some(last) = last {
            query = query.filter(jobs::organization_id.gt(Bind(Some(last))));
        }
        match query.first::<OrganizationId>(connection).await.optional()? {
            Some(next) if waiting.contains(&next) => break,
            Some(next) => {
                waiting.push(next);
                last = Some(next);
            }
            None if from_start => break,
            None => (last, from_start) = (None, true),
        }
    }
    Ok(waiting)
}

pub async fn extend_embedding_leases(connection: &mut Conn, owner: String, lease_expires_at: Timestamp) -> Result<()> {
    diesel::update(jobs::table.filter(jobs::lease_owner.eq(owner)))
        .set(jobs::not_before.eq(Bind(lease_expires_at)))
        .execute(connection)
        .await?;
    Ok(())
}

pub async fn release_embedding_jobs(connection: &mut Conn, owner: String, now: Timestamp) -> Result<()> {
    diesel::update(jobs::table.filter(jobs::lease_owner.eq(owner)))
        .set((jobs::lease_owner.eq(None::<String>), jobs::not_before.eq(Bind(now))))
        .execute(connection)
        .await?;
    Ok(())
}

/// Ends the lease of a job that is continued later.
pub async fn postpone(
    connection: &mut Conn,
    doc_id: DocId,
    owner: String,
    attempts: i32,
    not_before: Timestamp,
) -> Result<()> {
    diesel::update(jobs::table.find(Bind(doc_id)).filter(jobs::lease_owner.eq(owner)))
        .set((jobs::attempts.eq(attempts), jobs::not_before.eq(Bind(not_before)), jobs::lease_owner.eq(None::<String>)))
        .execute(connection)
        .await?;
    Ok(())
}

pub async fn drop_embedding_jobs(connection: &mut Conn, doc_ids: Vec<DocId>) -> Result<()> {
    for chunk in doc_ids.chunks(MAX_VALUES_PER_STATEMENT) {
        diesel::delete(jobs::table.filter(is_one_of!(jobs::doc_id, chunk.iter().copied()))).execute(connection).await?;
    }
    Ok(())
}

pub async fn count_embedding_jobs(connection: &mut Conn) -> Result<i64> {
    Ok(jobs::table.count().get_result(connection).await?)
}

pub async fn oldest_embedding_job(connection: &mut Conn) -> Result<Option<Timestamp>> {
    let oldest = jobs::table.order(jobs::enqueued_at).select(jobs::enqueued_at);
    Ok(oldest.first(connection).await.optional()?)
}
