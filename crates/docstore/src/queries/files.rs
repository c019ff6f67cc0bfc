use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{FileOutcome, OrganizationId, SyncId, Timestamp};

use super::{Conn, documents, runs};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::{Result, StoreError};
use crate::nul::strip_nul;
use crate::rows::{File, IndexRun, Withdrawal};
use crate::schema::files;
use crate::types::Bind;

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
    // Fully qualified: `filter` of an upsert comes from another trait than that of the prelude.
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

// One transaction, so that a crash of the caller leaves nothing half deleted: the run also deletes the object.
pub async fn withdraw_file(
    connection: &mut Conn,
    organization_id: OrganizationId,
    object_key: String,
    run: IndexRun,
    now: Timestamp,
) -> Result<Option<Withdrawal>> {
    let file = || files::table.find(object_key.clone()).filter(files::organization_id.eq(Bind(organization_id)));
    let known: Option<File> = file().select(File::as_select()).first(connection).await.optional()?;
    let Some(File { doc_id, outcome, withdrawn_at: earlier, .. }) = known else { return Ok(None) };
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
    Ok(Some(Withdrawal { hidden, queued, earlier }))
}

pub async fn delete_files(
    connection: &mut Conn,
    organization_id: OrganizationId,
    object_keys: Vec<String>,
) -> Result<()> {
    for chunk in object_keys.chunks(MAX_VALUES_PER_STATEMENT) {
        diesel::delete(files::table.filter(files::organization_id.eq(Bind(organization_id))))
            .filter(files::object_key.eq_any(chunk.to_vec()))
            .execute(connection)
            .await?;
    }
    Ok(())
}
