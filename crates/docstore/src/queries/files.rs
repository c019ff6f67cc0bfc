use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{DocId, FileOutcome, IndexName, OrganizationId, SyncId, Timestamp};

use super::outbox::enqueue_documents_of;
use super::{Conn, documents, lock_documents, runs, storage_totals};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::{Result, StoreError};
use crate::nul::strip_nul;
use crate::rows::{File, IndexRun, Registration, ReplacedUpload, StorageQuotas, StorageTotals, Withdrawal};
use crate::schema::{documents as document_rows, files};
use crate::types::{Bind, Strings};

pub async fn register_file(connection: &mut Conn, file: File, quotas: StorageQuotas) -> Result<Registration> {
    let organization_id = file.organization_id;
    let totals = storage_totals::lock(connection, organization_id).await?;
    let known = find_file(connection, organization_id, file.object_key.clone()).await?;
    let before = known
        .as_ref()
        .map_or(StorageTotals::default(), |known| StorageTotals::of_file(known.withdrawn_at, known.bytes));
    // The object remains until another one replaces it.
    let bytes = before.bytes.max(file.bytes);
    let added = StorageTotals::of_file(None, bytes) - before;
    if added.files > 0 && totals.files.saturating_add(added.files) > quotas.files {
        return Ok(Registration::TooManyFiles(totals));
    }
    if let Some(max) = quotas.bytes
        && added.bytes > 0
        && totals.bytes.saturating_add(added.bytes) > max
    {
        return Ok(Registration::TooManyBytes(totals));
    }
    let labels = file.labels.or_else(|| known.as_ref().and_then(|known| known.labels.clone()));
    let file = File {
        content_type: file.content_type.map(strip_nul),
        original_name: file.original_name.map(strip_nul),
        labels: labels.clone(),
        bytes,
        ..file
    };
    let (content_type, original_name) = (file.content_type.clone(), file.original_name.clone());
    let (doc_id, created_at, upload_expires_at) = (file.doc_id, file.created_at, file.upload_expires_at);
    // A run that read the deleted upload has not read this one. The id outlives the deletion, so that the run counts the file once.
    let last_run_id = known.as_ref().filter(|known| known.withdrawn_at.is_none()).and_then(|known| known.last_run_id);
    let upsert = diesel::insert_into(files::table).values(file).on_conflict(files::object_key).do_update().set((
        files::content_type.eq(content_type),
        files::created_at.eq(Bind(created_at)),
        files::last_run_id.eq(Bind(last_run_id)),
        files::withdrawn_at.eq(Bind(None::<Timestamp>)),
        files::bytes.eq(bytes),
        files::upload_expires_at.eq(Bind(upload_expires_at)),
        files::labels.eq(Bind(labels.clone())),
        files::original_name.eq(original_name.clone()),
    ));
    // Fully qualified: `filter` of an upsert comes from another trait than that of the prelude.
    let registered =
        diesel::query_dsl::methods::FilterDsl::filter(upsert, files::organization_id.eq(Bind(organization_id)))
            .execute(connection)
            .await?;
    if registered == 0 {
        return Err(StoreError::Conflict);
    }
    storage_totals::add(connection, organization_id, added).await?;
    let Some(known) = known else { return Ok(Registration::Registered { replaced: None }) };
    let (before, after) = (known.labels.unwrap_or_default(), labels.unwrap_or_default());
    if before != after {
        relabel_document(connection, organization_id, doc_id, &before, &after, created_at).await?;
    }
    let is_withdrawn = known.withdrawn_at.is_some();
    let replaced = known.original_name.filter(|earlier| !is_withdrawn && Some(earlier) != original_name.as_ref());
    let replaced =
        replaced.map(|original_name| ReplacedUpload { original_name, upload_expires_at: known.upload_expires_at });
    Ok(Registration::Registered { replaced })
}

/// Replaces the labels of the owner in a document: the last ones, after those of its content.
async fn relabel_document(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
    before: &Strings,
    after: &Strings,
    now: Timestamp,
) -> Result<()> {
    lock_documents(connection, &[doc_id]).await?;
    let document = || {
        document_rows::table.find(Bind(doc_id)).filter(document_rows::organization_id.eq(Bind(Some(organization_id))))
    };
    let stored: Option<Strings> = document().select(document_rows::labels).first(connection).await.optional()?;
    let Some(Strings(mut labels)) = stored else { return Ok(()) };
    if labels.ends_with(&before.0) {
        labels.truncate(labels.len() - before.0.len());
    }
    labels.extend(after.0.iter().cloned());
    diesel::update(document()).set(document_rows::labels.eq(Strings(labels))).execute(connection).await?;
    enqueue_documents_of(connection, IndexName::Workspace, Some(organization_id), vec![doc_id], now).await
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

pub async fn list_files_by_name(
    connection: &mut Conn,
    organization_id: OrganizationId,
    after: Option<String>,
    limit: i64,
) -> Result<Vec<File>> {
    let mut query = files::table
        .filter(files::organization_id.eq(Bind(organization_id)))
        .order(files::name)
        .limit(limit)
        .select(File::as_select())
        .into_boxed();
    if let Some(after) = after {
        query = query.filter(files::name.gt(after));
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
    storage_totals::lock(connection, organization_id).await?;
    let file = || files::table.find(object_key.clone()).filter(files::organization_id.eq(Bind(organization_id)));
    let known: Option<File> = file().select(File::as_select()).first(connection).await.optional()?;
    let Some(File { doc_id, outcome, withdrawn_at: earlier, bytes, upload_expires_at, .. }) = known else {
        return Ok(None);
    };
    // Until its URL expires, an upload may bring the object back.
    let kept = if upload_expires_at.is_some_and(|at| at > now) { storage_totals::deleted_bytes(bytes) } else { 0 };
    diesel::update(file())
        .set((
            files::withdrawn_at.eq(Bind(now)),
            files::withdrawn_etag.eq(None::<String>),
            files::processed_etag.eq(None::<String>),
            files::processed_size.eq(None::<i64>),
            files::outcome.eq(Bind(None::<FileOutcome>)),
            files::reason.eq(None::<String>),
            files::processed_at.eq(Bind(None::<Timestamp>)),
            files::labels.eq(Bind(None::<Strings>)),
            files::bytes.eq(kept),
        ))
        .execute(connection)
        .await?;
    let added = StorageTotals::of_file(Some(now), kept) - StorageTotals::of_file(earlier, bytes);
    storage_totals::add(connection, organization_id, added).await?;
    let hidden = documents::hide_workspace_document(connection, organization_id, doc_id, now).await?;
    // Also for a file that no run has processed: its object may exist, and a run may be reading it.
    let queued = hidden || outcome.is_some() || earlier.is_none();
    if queued {
        runs::request_run(connection, run).await?;
    }
    Ok(Some(Withdrawal { hidden, queued, earlier }))
}

pub async fn delete_files(
    connection: &mut Conn,
    organization_id: OrganizationId,
    object_keys: Vec<String>,
    created_before: Timestamp,
) -> Result<()> {
    storage_totals::lock(connection, organization_id).await?;
    for chunk in object_keys.chunks(MAX_VALUES_PER_STATEMENT) {
        let deleted = || {
            files::table
                .filter(files::organization_id.eq(Bind(organization_id)))
                .filter(files::object_key.eq_any(chunk.to_vec()))
                .filter(files::created_at.lt(Bind(created_before)))
        };
        let rows: Vec<(Option<Timestamp>, i64)> =
            deleted().select((files::withdrawn_at, files::bytes)).load(connection).await?;
        diesel::delete(deleted()).execute(connection).await?;
        let mut removed = StorageTotals::default();
        for (withdrawn_at, bytes) in rows {
            removed += StorageTotals::of_file(withdrawn_at, bytes);
        }
        storage_totals::add(connection, organization_id, StorageTotals::default() - removed).await?;
    }
    Ok(())
}
