use std::collections::HashMap;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CaptureId, Collection, DocId, IndexName, OrganizationId, Timestamp};

use super::activity::is_granted;
use super::outbox::enqueue_documents;
use super::parts::passages_of;
use super::{Conn, page_reads};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::documents::{DocumentState, LoadedDocument, StoredCapture};
use crate::error::Result;
use crate::rows::{Capture, Document, Passage};
use crate::schema::{captures, documents, grants, passages};
use crate::types::{Bind, bind_all};
use crate::visible::VisibleDocument;

pub async fn find_document(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
) -> Result<Option<VisibleDocument>> {
    let document: Option<Document> = documents::table
        .find(Bind(doc_id))
        .filter(documents::organization_id.is_null().or(documents::organization_id.eq(Bind(organization_id))))
        .select(Document::as_select())
        .first(connection)
        .await
        .optional()?;
    let Some(document) = document else { return Ok(None) };
    let Some(read) = page_reads::find_row(connection, organization_id, doc_id).await? else {
        return Ok(VisibleDocument::of(document, None, |_| None));
    };
    let capture_ids = bind_all(document.latest_capture_id.into_iter().chain(read.latest_capture_id));
    let times: Vec<(CaptureId, Timestamp)> = captures::table
        .filter(captures::capture_id.eq_any(capture_ids))
        .filter(captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id))))
        .select((captures::capture_id, captures::captured_at))
        .load(connection)
        .await?;
    let times: HashMap<CaptureId, Timestamp> = times.into_iter().collect();
    Ok(VisibleDocument::of(document, Some(read), |capture_id| times.get(&capture_id).copied()))
}

pub async fn find_granted_document(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
) -> Result<Option<VisibleDocument>> {
    if !is_granted(connection, organization_id, doc_id).await? {
        return Ok(None);
    }
    find_document(connection, organization_id, doc_id).await
}

pub async fn find_latest_capture(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
) -> Result<Option<StoredCapture>> {
    let found = find_document(connection, organization_id, doc_id).await?;
    let Some(capture_id) = found.and_then(|visible| visible.document.latest_capture_id) else { return Ok(None) };
    let capture: Option<Capture> = captures::table
        .find(Bind(capture_id))
        .filter(captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id))))
        .select(Capture::as_select())
        .first(connection)
        .await
        .optional()?;
    let Some(capture) = capture else { return Ok(None) };
    let passages = passages_of(connection, &capture, 0..1).await?;
    Ok(Some(StoredCapture { capture, passages }))
}

pub async fn load_documents(
    connection: &mut Conn,
    collection: Collection,
    doc_ids: Vec<DocId>,
) -> Result<Vec<LoadedDocument>> {
    let query = documents::table
        .inner_join(captures::table.on(documents::latest_capture_id.eq(captures::capture_id.nullable())))
        .filter(documents::doc_id.eq_any(bind_all(doc_ids)))
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .select((Document::as_select(), Capture::as_select()))
        .into_boxed();
    let query = match collection {
        Collection::Web => query.filter(documents::organization_id.is_null()),
        Collection::Workspace(owner) => query.filter(documents::organization_id.eq(Bind(owner))),
    };
    let rows: Vec<(Document, Capture)> = query.load(connection).await?;
    let mut by_capture = passages_by_capture(connection, &rows).await?;
    Ok(rows
        .into_iter()
        .map(|(document, capture)| {
            let passages = by_capture.remove(&capture.capture_id).unwrap_or_default();
            LoadedDocument { document, capture, passages }
        })
        .collect())
}

pub async fn find_latest_states(
    connection: &mut Conn,
    collection: Collection,
    doc_ids: Vec<DocId>,
) -> Result<Vec<DocumentState>> {
    let query = documents::table
        .filter(documents::doc_id.eq_any(bind_all(doc_ids)))
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .filter(documents::latest_capture_id.is_not_null())
        .select((documents::doc_id, documents::latest_capture_id.assume_not_null(), documents::last_seen_at))
        .into_boxed();
    let query = match collection {
        Collection::Web => query.filter(documents::organization_id.is_null()),
        Collection::Workspace(owner) => query.filter(documents::organization_id.eq(Bind(owner))),
    };
    let rows: Vec<(DocId, CaptureId, Timestamp)> = query.load(connection).await?;
    let state = |(doc_id, capture_id, last_seen_at)| DocumentState { doc_id, capture_id, last_seen_at };
    Ok(rows.into_iter().map(state).collect())
}

async fn passages_by_capture(
    connection: &mut Conn,
    rows: &[(Document, Capture)],
) -> Result<HashMap<CaptureId, Vec<Passage>>> {
    let (whole, divided): (Vec<_>, Vec<_>) =
        rows.iter().map(|(_, capture)| capture).partition(|capture| capture.parts.is_none());
    let capture_ids = whole.iter().map(|capture| capture.capture_id);
    let found = passages::table
        .filter(passages::capture_id.eq_any(bind_all(capture_ids)))
        .order((passages::capture_id, passages::ordinal))
        .select(Passage::as_select())
        .load(connection)
        .await?;
    let mut by_capture: HashMap<CaptureId, Vec<Passage>> = HashMap::with_capacity(rows.len());
    for passage in found {
        by_capture.entry(passage.capture_id).or_default().push(passage);
    }
    for capture in divided {
        by_capture.insert(capture.capture_id, passages_of(connection, capture, 0..1).await?);
    }
    Ok(by_capture)
}

pub async fn load_for_indexing(connection: &mut Conn, doc_ids: Vec<DocId>) -> Result<Vec<(Document, Capture)>> {
    Ok(documents::table
        .inner_join(captures::table.on(documents::latest_capture_id.eq(captures::capture_id.nullable())))
        .filter(documents::doc_id.eq_any(bind_all(doc_ids)))
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .select((Document::as_select(), Capture::as_select()))
        .load(connection)
        .await?)
}

pub async fn list_indexable_documents(
    connection: &mut Conn,
    index: IndexName,
    after: Option<DocId>,
    limit: i64,
) -> Result<Vec<DocId>> {
    let is_workspace = match index {
        IndexName::Web => false,
        IndexName::Workspace => true,
    };
    let mut query = documents::table
        .filter(documents::organization_id.is_not_null().eq(is_workspace))
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .filter(documents::latest_capture_id.is_not_null())
        .order(documents::doc_id)
        .limit(limit)
        .select(documents::doc_id)
        .into_boxed();
    if let Some(after) = after {
        query = query.filter(documents::doc_id.gt(Bind(after)));
    }
    Ok(query.load(connection).await?)
}

pub async fn list_workspace_documents(connection: &mut Conn, organization_id: OrganizationId) -> Result<Vec<DocId>> {
    Ok(documents::table
        .filter(documents::organization_id.eq(Bind(organization_id)))
        .select(documents::doc_id)
        .load(connection)
        .await?)
}

pub async fn hide_workspace_document(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
    now: Timestamp,
) -> Result<bool> {
    let hidden = diesel::update(
        documents::table
            .find(Bind(doc_id))
            .filter(documents::organization_id.eq(Bind(organization_id)))
            .filter(documents::removed_at.is_null()),
    )
    .set(documents::removed_at.eq(Bind(now)))
    .execute(connection)
    .await?;
    if hidden > 0 {
        diesel::delete(grants::table.filter(grants::doc_id.eq(Bind(doc_id)))).execute(connection).await?;
        enqueue_documents(connection, IndexName::Workspace, vec![doc_id], now).await?;
    }
    Ok(hidden > 0)
}

/// Deletes the documents that belong to this workspace, with their captures, passages and grants, and enqueues them.
/// Returns the number deleted.
pub async fn purge_workspace_documents(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_ids: Vec<DocId>,
    now: Timestamp,
) -> Result<usize> {
    let mut doc_ids = doc_ids;
    doc_ids.sort_unstable();
    let mut purged = 0;
    for chunk in doc_ids.chunks(MAX_VALUES_PER_STATEMENT) {
        // Locked in key order before the deletion, as concurrent grants do; otherwise the two could deadlock.
        let known: Vec<DocId> = lock_rows!(
            documents::table
                .filter(documents::organization_id.eq(Bind(organization_id)))
                .filter(documents::doc_id.eq_any(bind_all(chunk.iter().copied())))
                .order(documents::doc_id)
                .select(documents::doc_id)
        )
        .load(connection)
        .await?;
        diesel::delete(documents::table.filter(documents::doc_id.eq_any(bind_all(known.clone()))))
            .execute(connection)
            .await?;
        purged += known.len();
        enqueue_documents(connection, IndexName::Workspace, known, now).await?;
    }
    Ok(purged)
}
