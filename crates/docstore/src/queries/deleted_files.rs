use std::collections::{HashMap, HashSet};

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{DocId, FileOutcome, OrganizationId, Timestamp};

use super::{Conn, storage_totals};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::file_result::FileResult;
use crate::rows::{DeletedObject, FileChanges};
use crate::schema::{documents, files};
use crate::types::Bind;

/// Replaces the results of files that were deleted before the run recorded them: their text must not come back. The totals of the
/// organization must be locked.
pub async fn without_deleted(
    connection: &mut Conn,
    organization_id: OrganizationId,
    results: Vec<FileResult>,
) -> Result<Vec<FileResult>> {
    let mut deleted: HashMap<String, DeletedObject> = HashMap::new();
    for chunk in results.chunks(MAX_VALUES_PER_STATEMENT) {
        let keys = chunk.iter().map(|result| result.object_key.clone());
        let rows: Vec<(String, Timestamp, Option<String>)> = files::table
            .filter(files::organization_id.eq(Bind(organization_id)))
            .filter(files::object_key.eq_any(keys))
            .filter(files::withdrawn_at.is_not_null())
            .select((files::object_key, files::withdrawn_at.assume_not_null(), files::withdrawn_etag))
            .load(connection)
            .await?;
        deleted.extend(rows.into_iter().map(|(object_key, at, etag)| (object_key, DeletedObject { at, etag })));
    }
    let is_deleted =
        |result: &FileResult| deleted.get(&result.object_key).is_some_and(|deleted| result.is_withdrawn(deleted));
    Ok(results.into_iter().map(|result| if is_deleted(&result) { result.of_deleted() } else { result }).collect())
}

pub async fn record_deleted_object(
    connection: &mut Conn,
    organization_id: OrganizationId,
    object_key: String,
    withdrawn_at: Timestamp,
    etag: Option<String>,
) -> Result<()> {
    storage_totals::lock(connection, organization_id).await?;
    let deleted = files::table
        .find(object_key)
        .filter(files::organization_id.eq(Bind(organization_id)))
        .filter(files::withdrawn_at.eq(Bind(withdrawn_at)));
    diesel::update(deleted).set(files::withdrawn_etag.eq(etag.unwrap_or_default())).execute(connection).await?;
    Ok(())
}

/// Writes these columns of files whose documents are still removed: they were deleted while the run read them. The same content may
/// be uploaded again, and no run would read it if this one counted.
pub async fn forget_removed(
    connection: &mut Conn,
    organization_id: OrganizationId,
    replaced: Vec<(DocId, String, FileChanges)>,
) -> Result<()> {
    let mut removed: HashSet<DocId> = HashSet::new();
    for chunk in replaced.chunks(MAX_VALUES_PER_STATEMENT) {
        let found: Vec<DocId> = documents::table
            .filter(documents::organization_id.eq(Bind(Some(organization_id))))
            .filter(is_one_of!(documents::doc_id, chunk.iter().map(|(doc_id, ..)| *doc_id)))
            .filter(documents::removed_at.is_not_null())
            .select(documents::doc_id)
            .load(connection)
            .await?;
        removed.extend(found);
    }
    for (_, object_key, changes) in replaced.into_iter().filter(|(doc_id, ..)| removed.contains(doc_id)) {
        diesel::update(files::table.find(object_key).filter(files::organization_id.eq(Bind(organization_id))))
            .set(changes)
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// Forgets that the files of these documents were processed: the next upload is read even if it has the same content. The totals of
/// the organization must be locked.
pub async fn forget_processing(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_ids: &[DocId],
) -> Result<()> {
    for chunk in doc_ids.chunks(MAX_VALUES_PER_STATEMENT) {
        let of_documents = files::table
            .filter(files::organization_id.eq(Bind(organization_id)))
            .filter(is_one_of!(files::doc_id, chunk.iter().copied()));
        diesel::update(of_documents)
            .set((
                files::processed_etag.eq(None::<String>),
                files::processed_size.eq(None::<i64>),
                files::outcome.eq(Bind(None::<FileOutcome>)),
                files::reason.eq(None::<String>),
                files::processed_at.eq(Bind(None::<Timestamp>)),
            ))
            .execute(connection)
            .await?;
    }
    Ok(())
}
