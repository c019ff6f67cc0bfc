use std::collections::HashMap;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{DocId, FileOutcome, OrganizationId, Timestamp};

use super::Conn;
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::file_result::FileResult;
use crate::schema::files;
use crate::types::Bind;

/// Replaces the results of files that were deleted while the run read them: their text must not come back. The totals of the
/// organization must be locked.
pub async fn without_deleted(
    connection: &mut Conn,
    organization_id: OrganizationId,
    results: Vec<FileResult>,
) -> Result<Vec<FileResult>> {
    let mut deleted: HashMap<String, Timestamp> = HashMap::new();
    for chunk in results.chunks(MAX_VALUES_PER_STATEMENT) {
        let keys = chunk.iter().map(|result| result.object_key.clone());
        let rows: Vec<(String, Timestamp)> = files::table
            .filter(files::organization_id.eq(Bind(organization_id)))
            .filter(files::object_key.eq_any(keys))
            .filter(files::withdrawn_at.is_not_null())
            .select((files::object_key, files::withdrawn_at.assume_not_null()))
            .load(connection)
            .await?;
        deleted.extend(rows);
    }
    let is_deleted = |result: &FileResult| {
        // An upload that came after the deletion is read later.
        deleted.get(&result.object_key).is_some_and(|at| result.read_at().is_none_or(|read_at| read_at <= *at))
    };
    Ok(results.into_iter().map(|result| if is_deleted(&result) { result.of_deleted() } else { result }).collect())
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
