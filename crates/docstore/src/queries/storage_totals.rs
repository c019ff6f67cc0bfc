use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{OrganizationId, Timestamp};

use super::Conn;
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::rows::{File, MeasuredUpload, StorageTotals, UPLOAD_PRECISION};
use crate::schema::{files, storage_totals};
use crate::types::Bind;

/// Locks the totals of an organization until the end of the transaction, and returns them. Call it before reading files that
/// the transaction changes: it serializes the changes of an organization's files.
pub async fn lock(connection: &mut Conn, organization_id: OrganizationId) -> Result<StorageTotals> {
    diesel::insert_into(storage_totals::table)
        .values((
            storage_totals::organization_id.eq(Bind(organization_id)),
            storage_totals::files.eq(0),
            storage_totals::bytes.eq(0),
        ))
        .on_conflict(storage_totals::organization_id)
        .do_nothing()
        .execute(connection)
        .await?;
    let totals =
        storage_totals::table.find(Bind(organization_id)).select((storage_totals::files, storage_totals::bytes));
    Ok(lock_rows!(totals).first(connection).await?)
}

/// Adds to the totals; negative numbers subtract.
pub async fn add(connection: &mut Conn, organization_id: OrganizationId, added: StorageTotals) -> Result<()> {
    if added == StorageTotals::default() {
        return Ok(());
    }
    diesel::update(storage_totals::table.find(Bind(organization_id)))
        .set((
            storage_totals::files.eq(storage_totals::files + added.files),
            storage_totals::bytes.eq(storage_totals::bytes + added.bytes),
        ))
        .execute(connection)
        .await?;
    Ok(())
}

pub async fn find_storage_totals(connection: &mut Conn, organization_id: OrganizationId) -> Result<StorageTotals> {
    let found = storage_totals::table
        .find(Bind(organization_id))
        .select((storage_totals::files, storage_totals::bytes))
        .first(connection)
        .await
        .optional()?;
    Ok(found.unwrap_or_default())
}

pub async fn list_expired_uploads(
    connection: &mut Conn,
    organization_id: Option<OrganizationId>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<File>> {
    let mut query = files::table
        .filter(files::upload_expires_at.le(Bind(now)))
        .order(files::upload_expires_at)
        .limit(limit)
        .select(File::as_select())
        .into_boxed();
    if let Some(organization_id) = organization_id {
        query = query.filter(files::organization_id.eq(Bind(organization_id)));
    }
    Ok(query.load(connection).await?)
}

/// Returns the bytes that a deleted file counts while an upload of `bytes` may bring it back. An empty one must count, too: it is a file.
pub fn deleted_bytes(bytes: i64) -> i64 {
    bytes.max(1)
}

pub async fn settle_uploads(
    connection: &mut Conn,
    organization_id: OrganizationId,
    measured: Vec<MeasuredUpload>,
    now: Timestamp,
) -> Result<()> {
    lock(connection, organization_id).await?;
    let mut added = StorageTotals::default();
    for MeasuredUpload { object_key, object } in measured {
        let expired = || {
            files::table
                .find(object_key.clone())
                .filter(files::organization_id.eq(Bind(organization_id)))
                // A URL that was issued meanwhile keeps the file unmeasured.
                .filter(files::upload_expires_at.le(Bind(now)))
        };
        let known: Option<File> = expired().select(File::as_select()).first(connection).await.optional()?;
        let Some(file) = known else { continue };
        let bytes = object.as_ref().map_or(0, |object| object.bytes);
        let is_later = object.is_some_and(|object| !file.is_withdrawn(object.uploaded_at, &object.etag));
        let withdrawn_at = file.withdrawn_at.filter(|_| !is_later);
        diesel::update(expired())
            .set((
                files::withdrawn_at.eq(Bind(withdrawn_at)),
                files::bytes.eq(bytes),
                files::upload_expires_at.eq(Bind(None::<Timestamp>)),
            ))
            .execute(connection)
            .await?;
        added += StorageTotals::of_file(withdrawn_at, bytes) - StorageTotals::of_file(file.withdrawn_at, file.bytes);
    }
    add(connection, organization_id, added).await
}

/// Writes the time until which uploads may come, to files of these keys that match a condition.
macro_rules! write_upload_ends {
    ($connection:expr, $organization_id:expr, $object_keys:expr, $condition:expr, $end:expr) => {{
        lock($connection, $organization_id).await?;
        for chunk in $object_keys.chunks(MAX_VALUES_PER_STATEMENT) {
            let matching = files::table
                .filter(files::organization_id.eq(Bind($organization_id)))
                .filter(files::object_key.eq_any(chunk.to_vec()))
                .filter($condition);
            diesel::update(matching).set(files::upload_expires_at.eq(Bind($end))).execute($connection).await?;
        }
        Ok(())
    }};
}

pub async fn remeasure_uploads(
    connection: &mut Conn,
    organization_id: OrganizationId,
    object_keys: Vec<String>,
    now: Timestamp,
) -> Result<()> {
    write_upload_ends!(connection, organization_id, object_keys, files::upload_expires_at.is_null(), now)
}

pub async fn postpone_uploads(
    connection: &mut Conn,
    organization_id: OrganizationId,
    object_keys: Vec<String>,
    now: Timestamp,
    until: Timestamp,
) -> Result<()> {
    write_upload_ends!(connection, organization_id, object_keys, files::upload_expires_at.le(Bind(now)), until)
}

pub async fn release_upload(
    connection: &mut Conn,
    organization_id: OrganizationId,
    object_key: String,
    bytes: i64,
    uploaded_at: Timestamp,
) -> Result<()> {
    lock(connection, organization_id).await?;
    let bytes = deleted_bytes(bytes);
    let deleted = || {
        files::table
            .find(object_key.clone())
            .filter(files::organization_id.eq(Bind(organization_id)))
            .filter(files::withdrawn_at.is_not_null())
    };
    let counted =
        deleted().filter(files::bytes.eq(bytes)).filter(files::created_at.le(Bind(uploaded_at + UPLOAD_PRECISION)));
    // It stays unmeasured: stores that accept a URL again may get another upload.
    let released = diesel::update(counted).set(files::bytes.eq(0)).execute(connection).await?;
    let removed = if released > 0 { StorageTotals { files: -1, bytes: -bytes } } else { StorageTotals::default() };
    add(connection, organization_id, removed).await
}
