use std::collections::HashSet;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{DocId, IndexName, Timestamp};

use super::Conn;
use super::documents::list_indexable_documents;
use super::embedding_queue::{enqueue_jobs, lock_index_model};
use super::outbox::enqueue_documents;
use crate::error::Result;
use crate::rows::IndexModel;
use crate::schema::{capture_vectors, documents, embedding_jobs as jobs, index_models};
use crate::types::Bind;

pub async fn find_index_model(connection: &mut Conn, index: IndexName) -> Result<IndexModel> {
    let found = index_models::table.find(Bind(index)).select(IndexModel::as_select()).first(connection).await;
    Ok(found.optional()?.unwrap_or_default())
}

pub async fn use_model(connection: &mut Conn, model: Option<String>) -> Result<()> {
    for index in IndexName::ALL {
        // A row to lock: of two first servers, the second one waits here.
        let without_model = (
            index_models::index_name.eq(Bind(*index)),
            index_models::model.eq(None::<String>),
            index_models::queued_to.eq(Bind(None::<DocId>)),
            index_models::queued.eq(true),
        );
        diesel::insert_into(index_models::table)
            .values(without_model)
            .on_conflict(index_models::index_name)
            .do_nothing()
            .execute(connection)
            .await?;
    }
    // All are locked before one is changed, in the order in which vectors are stored.
    let mut changed = Vec::new();
    for index in IndexName::ALL {
        if lock_index_model(connection, *index).await? != model {
            changed.push(*index);
        }
    }
    for index in changed {
        let state = (
            index_models::model.eq(model.clone()),
            index_models::queued_to.eq(Bind(None::<DocId>)),
            index_models::queued.eq(model.is_none()),
        );
        diesel::update(index_models::table.find(Bind(index))).set(state).execute(connection).await?;
    }
    if model.is_none() {
        // In any case: an instance that still had a model may have enqueued jobs later.
        diesel::delete(jobs::table).execute(connection).await?;
    }
    Ok(())
}

pub async fn queue_for_model(
    connection: &mut Conn,
    index: IndexName,
    model: String,
    limit: i64,
    now: Timestamp,
) -> Result<Option<usize>> {
    let state: Option<(Option<String>, Option<DocId>, bool)> =
        lock_rows!(index_models::table.find(Bind(index)).select((
            index_models::model,
            index_models::queued_to,
            index_models::queued
        )))
        .first(connection)
        .await
        .optional()?;
    let Some((Some(used), queued_to, false)) = state else { return Ok(None) };
    if used != model {
        return Ok(None);
    }
    let page = list_indexable_documents(connection, index, queued_to, limit).await?;
    let Some(last) = page.last().copied() else {
        diesel::update(index_models::table.find(Bind(index)))
            .set(index_models::queued.eq(true))
            .execute(connection)
            .await?;
        return Ok(None);
    };
    let embedded: Vec<DocId> = documents::table
        .inner_join(capture_vectors::table.on(capture_vectors::capture_id.nullable().eq(documents::latest_capture_id)))
        .filter(is_one_of!(documents::doc_id, page.iter().copied()))
        .filter(capture_vectors::model.eq(model))
        .filter(capture_vectors::complete)
        .order(documents::doc_id)
        .select(documents::doc_id)
        .load(connection)
        .await?;
    let known: HashSet<DocId> = embedded.iter().copied().collect();
    let queued = page.len();
    enqueue_jobs(connection, page.into_iter().filter(|doc_id| !known.contains(doc_id)).collect(), now).await?;
    enqueue_documents(connection, index, embedded, now).await?;
    diesel::update(index_models::table.find(Bind(index)))
        .set(index_models::queued_to.eq(Bind(Some(last))))
        .execute(connection)
        .await?;
    Ok(Some(queued))
}
