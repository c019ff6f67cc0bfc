use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{DocId, FileOutcome, OrganizationId, SyncId, Timestamp};

use super::{Conn, documents, runs};
use crate::backend::VALUES_AT_ONCE;
use crate::error::{Result, StoreError};
use crate::nul::strip_nul;
use crate::rows::{File, IndexRun, Withdrawal};
use crate::schema::files;
use crate::types::Bind;

/// Makes the row of a name, or renews its upload time when there is one. `Conflict` when the key is another's.
pub async fn register_file(connection: &mut Conn, file: File) -> Result<()> {
    let file = File { content_type: file.content_type.map(strip_nul), ..file };
    let content_type = file.content_type.clone();
    let created_at = file.created_at;
    let organization_id = file.organization_id;
    let upsert = diesel::insert_into(files::table).values(file).on_conflict(files::object_key).do_update().set((
        files::content_type.eq(content_type),
        files::created_at.eq(Bind(created_at)),
        files::withdrawn_at.eq(Bind(None::<Timestamp>)),
    ));
    // By its full name: an upsert has a condition of its own kind.
    let registered =
        diesel::query_dsl::methods::FilterDsl::filter(upsert, files::organization_id.eq(Bind(organization_id)))
            .execute(connection)
            .await?;
    if registered == 0 { Err(StoreError::Conflict) } else { Ok(()) }
}

pub async fn find_file(
    connection: &mut Conn,
    organization_id: OrganizationId,
    object_key: String,
) -> Result<Option<File>> {
    Ok(files::table
        .find(object_key)
        .filter(files::organization_id.eq(Bind(organization_id)))
        .select(File::as_select())
        .first(connection)
        .await
        .optional()?)
}

pub async fn count_files(connection: &mut Conn, organization_id: OrganizationId) -> Result<i64> {
    let files = files::table.filter(files::organization_id.eq(Bind(organization_id)));
    Ok(files.filter(files::withdrawn_at.is_null()).count().get_result(connection).await?)
}

/// The organization's files in key order.
pub async fn list_files(
    connection: &mut Conn,
    organization_id: OrganizationId,
    after: Option<String>,
    limit: i64,
) -> Result<Vec<File>> {
    let mut query = files::table
        .filter(files::organization_id.eq(Bind(organization_id)))
        .order(files::object_key)
        .limit(limit)
        .select(File::as_select())
        .into_boxed();
    if let Some(after) = after {
        query = query.filter(files::object_key.gt(after));
    }
    Ok(query.load(connection).await?)
}

/// The files that this run was the last to work on, in key order: of whatever organization, for the operator alone.
pub async fn list_files_of_run(
    connection: &mut Conn,
    sync_id: SyncId,
    after: Option<String>,
    limit: i64,
) -> Result<Vec<File>> {
    let mut query = files::table
        .filter(files::last_run_id.eq(Bind(sync_id)))
        .order(files::object_key)
        .limit(limit)
        .select(File::as_select())
        .into_boxed();
    if let Some(after) = after {
        query = query.filter(files::object_key.gt(after));
    }
    Ok(query.load(connection).await?)
}

/// In one step, so that a caller who dies afterwards leaves nothing half deleted: the run deletes the object, too.
pub async fn withdraw_file(
    connection: &mut Conn,
    organization_id: OrganizationId,
    object_key: String,
    run: IndexRun,
    now: Timestamp,
) -> Result<Option<Withdrawal>> {
    let file = || files::table.find(object_key.clone()).filter(files::organization_id.eq(Bind(organization_id)));
    let known: Option<(DocId, Option<FileOutcome>)> =
        file().select((files::doc_id, files::outcome)).first(connection).await.optional()?;
    let Some((doc_id, outcome)) = known else { return Ok(None) };
    diesel::update(file())
        .set((
            files::withdrawn_at.eq(Bind(now)),
            files::processed_etag.eq(None::<String>),
            files::processed_size.eq(None::<i64>),
            files::outcome.eq(Bind(None::<FileOutcome>)),
            files::reason.eq(None::<String>),
        ))
        .execute(connection)
        .await?;
    let hidden = documents::hide_workspace_document(connection, organization_id, doc_id, now).await?;
    let queued = hidden || outcome.is_some();
    if queued {
        runs::request_run(connection, run).await?;
    }
    Ok(Some(Withdrawal { hidden, queued }))
}

/// Forgets names whose object is gone.
pub async fn forget_files(
    connection: &mut Conn,
    organization_id: OrganizationId,
    object_keys: Vec<String>,
) -> Result<()> {
    for part in object_keys.chunks(VALUES_AT_ONCE) {
        diesel::delete(files::table.filter(files::organization_id.eq(Bind(organization_id))))
            .filter(files::object_key.eq_any(part.to_vec()))
            .execute(connection)
            .await?;
    }
    Ok(())
}
