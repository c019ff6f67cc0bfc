use std::collections::{HashMap, HashSet};

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CaptureFormat, CaptureId, Collection, DocId, IndexName, OrganizationId, Timestamp};

use super::outbox::enqueue_documents_of;
use super::parts::{column, passages_in};
use super::{Conn, is_workspace};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::documents::{CaptureHead, DocumentState, LoadedDocument, ReadCapture, StoredCapture};
use crate::error::Result;
use crate::parts::WantedParts;
use crate::rows::{Capture, Document, PageRead, Passage};
use crate::schema::{captures, documents, grants, page_reads, passages};
use crate::types::Bind;
use crate::visible::{Competitors, GrantState, Rank, VisibleDocument};

async fn find_document(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
) -> Result<Option<VisibleDocument>> {
    let (shared, own) = diesel::alias!(captures as shared, captures as own);
    let shared_owner = shared.field(captures::organization_id);
    let row: Option<VisibleRow> =
        documents::table
            .left_join(page_reads::table.on(
                page_reads::doc_id.eq(documents::doc_id).and(page_reads::organization_id.eq(Bind(organization_id))),
            ))
            .left_join(
                grants::table
                    .on(grants::doc_id.eq(documents::doc_id).and(grants::organization_id.eq(Bind(organization_id)))),
            )
            .left_join(
                shared.on(shared
                    .field(captures::capture_id)
                    .nullable()
                    .eq(documents::latest_capture_id)
                    .and(shared_owner.is_null().or(shared_owner.eq(Bind(organization_id))))),
            )
            .left_join(
                own.on(own
                    .field(captures::capture_id)
                    .nullable()
                    .eq(page_reads::latest_capture_id)
                    .and(own.field(captures::organization_id).eq(Bind(organization_id)))),
            )
            .filter(documents::doc_id.eq(Bind(doc_id)))
            .filter(documents::organization_id.is_null().or(documents::organization_id.eq(Bind(organization_id))))
            .select((
                Document::as_select(),
                Option::<PageRead>::as_select(),
                (shared.field(captures::captured_at).nullable(), shared.field(captures::format).nullable()),
                (own.field(captures::captured_at).nullable(), own.field(captures::format).nullable()),
                grants::granted_at.nullable(),
                grants::capture_id.nullable(),
            ))
            .first(connection)
            .await
            .optional()?;
    Ok(row.and_then(|(document, read, shared, own, granted_at, capture_id)| {
        let captures = Competitors { shared: rank(shared), own: rank(own) };
        VisibleDocument::of(document, read, captures, GrantState { granted_at, capture_id })
    }))
}

/// Columns of [`find_document`]: the shared document, the organization's own reading, their captures, the grant.
type VisibleRow = (Document, Option<PageRead>, CompetitorRow, CompetitorRow, Option<Timestamp>, Option<CaptureId>);

/// Time and format of a capture, as far as it exists.
type CompetitorRow = (Option<Timestamp>, Option<CaptureFormat>);

fn rank((captured_at, format): CompetitorRow) -> Option<Rank> {
    Some(Rank::of(captured_at?, format?))
}

pub async fn find_granted_document(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
) -> Result<Option<VisibleDocument>> {
    let found = find_document(connection, organization_id, doc_id).await?;
    Ok(found.filter(|visible| visible.granted_at.is_some()))
}

pub async fn read_document(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
) -> Result<Option<(VisibleDocument, Option<StoredCapture>)>> {
    let Some(visible) = find_document(connection, organization_id, doc_id).await? else { return Ok(None) };
    let stored = find_capture(connection, organization_id, visible.document.latest_capture_id).await?;
    Ok(Some((visible, stored)))
}

pub async fn read_granted_document(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
) -> Result<Option<(VisibleDocument, Option<StoredCapture>)>> {
    let Some(visible) = find_granted_document(connection, organization_id, doc_id).await? else { return Ok(None) };
    let stored = find_capture(connection, organization_id, visible.document.latest_capture_id).await?;
    Ok(Some((visible, stored)))
}

pub async fn read_capture(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
    capture_id: CaptureId,
    superseded_after: Timestamp,
    now: Timestamp,
) -> Result<Option<ReadCapture>> {
    let Some(visible) = find_document(connection, organization_id, doc_id).await? else { return Ok(None) };
    let own = captures::organization_id.eq(Bind(organization_id));
    let is_kept = captures::superseded_at
        .is_null()
        .or(captures::superseded_at.gt(Bind(superseded_after)))
        .or(captures::kept_until.gt(Bind(now)));
    let mut query = captures::table
        .find(Bind(capture_id))
        .filter(captures::doc_id.eq(Bind(doc_id)))
        .filter(is_kept)
        .select(captures::superseded_at)
        .into_boxed();
    query = if visible.document.listed {
        query.filter(captures::organization_id.is_null().or(own))
    } else {
        // Of a page that is not or no longer shared, an organization sees its own readings only.
        query.filter(own)
    };
    let superseded_at: Option<Option<Timestamp>> = query.first(connection).await.optional()?;
    let Some(superseded_at) = superseded_at else { return Ok(None) };
    let Some(stored) = find_capture(connection, organization_id, Some(capture_id)).await? else { return Ok(None) };
    let latest = find_head(connection, organization_id, visible.document.latest_capture_id).await?;
    Ok(Some(ReadCapture { visible, stored, superseded_at, latest }))
}

async fn find_head(
    connection: &mut Conn,
    organization_id: OrganizationId,
    capture_id: Option<CaptureId>,
) -> Result<Option<CaptureHead>> {
    let Some(capture_id) = capture_id else { return Ok(None) };
    let row: Option<(Timestamp, CaptureFormat, String)> = captures::table
        .find(Bind(capture_id))
        .filter(captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id))))
        .select((captures::captured_at, captures::format, captures::content_digest))
        .first(connection)
        .await
        .optional()?;
    Ok(row.map(|(captured_at, format, content_digest)| CaptureHead { capture_id, captured_at, format, content_digest }))
}

/// Returns a capture that the organization may read, with its passages.
async fn find_capture(
    connection: &mut Conn,
    organization_id: OrganizationId,
    capture_id: Option<CaptureId>,
) -> Result<Option<StoredCapture>> {
    let Some(capture_id) = capture_id else { return Ok(None) };
    let is_readable = captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id)));
    let capture: Option<Capture> = captures::table
        .find(Bind(capture_id))
        .filter(is_readable.clone())
        .select(Capture::as_select())
        .first(connection)
        .await
        .optional()?;
    let Some(capture) = capture else { return Ok(None) };
    let mut passages = passages::table
        .inner_join(captures::table.on(captures::capture_id.eq(passages::capture_id)))
        .filter(passages::capture_id.eq(Bind(capture_id)))
        .filter(is_readable)
        .order(passages::ordinal)
        .select(Passage::as_select())
        .into_boxed();
    if let Some(map) = &capture.parts {
        passages = passages.filter(passages::ordinal.lt(column(map.start(1).passage)));
    }
    let passages = passages.load(connection).await?;
    Ok(Some(StoredCapture { capture, passages }))
}

/// Selects listed documents of a collection with their latest captures.
macro_rules! with_latest_captures {
    ($collection:expr, $doc_ids:expr) => {{
        let query = documents::table
            .inner_join(captures::table.on(documents::latest_capture_id.eq(captures::capture_id.nullable())))
            .filter(is_one_of!(documents::doc_id, $doc_ids))
            .filter(documents::listed)
            .filter(documents::removed_at.is_null())
            .select((Document::as_select(), Capture::as_select()))
            .into_boxed();
        match $collection {
            Collection::Web => query.filter(documents::organization_id.is_null()),
            Collection::Workspace(owner) => query.filter(documents::organization_id.eq(Bind(owner))),
        }
    }};
}

pub async fn load_documents(
    connection: &mut Conn,
    collection: Collection,
    doc_ids: Vec<DocId>,
) -> Result<Vec<LoadedDocument>> {
    let rows: Vec<(Document, Capture)> = load_rows!(connection, with_latest_captures!(collection, doc_ids))?;
    let by_capture = passages_by_capture(connection, &rows).await?;
    Ok(loaded(rows, by_capture))
}

pub async fn load_known_documents(
    connection: &mut Conn,
    collection: Collection,
    known: Vec<(DocId, CaptureId)>,
) -> Result<Vec<LoadedDocument>> {
    let (doc_ids, capture_ids): (Vec<DocId>, Vec<CaptureId>) = known.into_iter().unzip();
    let is_known: HashSet<CaptureId> = capture_ids.iter().copied().collect();
    let of_captures = passages::table
        .filter(is_one_of!(passages::capture_id, capture_ids))
        .order((passages::capture_id, passages::ordinal))
        .select(Passage::as_select());
    // The passages first: a capture that is still there afterwards had all of them.
    let (passages, mut rows): (Vec<Passage>, Vec<(Document, Capture)>) = run_both!(
        connection,
        |shared| load_rows!(shared, of_captures),
        load_rows!(shared, with_latest_captures!(collection, doc_ids))
    )?;
    rows.retain(|(_, capture)| capture.parts.is_none() && is_known.contains(&capture.capture_id));
    Ok(loaded(rows, by_capture(passages)))
}

fn loaded(rows: Vec<(Document, Capture)>, mut by_capture: HashMap<CaptureId, Vec<Passage>>) -> Vec<LoadedDocument> {
    let with_passages = rows.into_iter().map(|(document, capture)| {
        let passages = by_capture.remove(&capture.capture_id).unwrap_or_default();
        LoadedDocument { document, capture, passages }
    });
    with_passages.collect()
}

/// Divides passages, which are in the order of each capture.
fn by_capture(passages: Vec<Passage>) -> HashMap<CaptureId, Vec<Passage>> {
    let mut by_capture: HashMap<CaptureId, Vec<Passage>> = HashMap::new();
    for passage in passages {
        by_capture.entry(passage.capture_id).or_default().push(passage);
    }
    by_capture
}

pub async fn find_latest_states(
    connection: &mut Conn,
    collection: Collection,
    doc_ids: Vec<DocId>,
) -> Result<Vec<DocumentState>> {
    let query = documents::table
        .filter(is_one_of!(documents::doc_id, doc_ids))
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .filter(documents::latest_capture_id.is_not_null())
        .select((documents::doc_id, documents::latest_capture_id.assume_not_null(), documents::last_seen_at))
        .into_boxed();
    let query = match collection {
        Collection::Web => query.filter(documents::organization_id.is_null()),
        Collection::Workspace(owner) => query.filter(documents::organization_id.eq(Bind(owner))),
    };
    let rows: Vec<(DocId, CaptureId, Timestamp)> = load_rows!(connection, query)?;
    let state = |(doc_id, capture_id, last_seen_at)| DocumentState { doc_id, capture_id, last_seen_at };
    Ok(rows.into_iter().map(state).collect())
}

/// Loads the passages of captures; of a divided one those of its first part.
pub async fn passages_by_capture(
    connection: &mut Conn,
    rows: &[(Document, Capture)],
) -> Result<HashMap<CaptureId, Vec<Passage>>> {
    let (whole, divided): (Vec<_>, Vec<_>) =
        rows.iter().map(|(_, capture)| capture).partition(|capture| capture.parts.is_none());
    let ids = |captures: &[&Capture]| captures.iter().map(|capture| capture.capture_id).collect::<Vec<CaptureId>>();
    let query = passages::table
        .filter(is_one_of!(passages::capture_id, ids(&whole)))
        .order((passages::capture_id, passages::ordinal))
        .select(Passage::as_select());
    let mut found: Vec<Passage> = load_rows!(connection, query)?;
    let firsts = divided.iter().map(|capture| WantedParts { capture_id: capture.capture_id, parts: vec![0] });
    let maps = divided.iter().filter_map(|capture| Some((capture.capture_id, capture.parts.as_ref()?))).collect();
    found.extend(passages_in(connection, &maps, &firsts.collect::<Vec<_>>()).await?);
    Ok(by_capture(found))
}

pub async fn load_for_indexing(connection: &mut Conn, doc_ids: Vec<DocId>) -> Result<Vec<(Document, Capture)>> {
    Ok(documents::table
        .inner_join(captures::table.on(documents::latest_capture_id.eq(captures::capture_id.nullable())))
        .filter(is_one_of!(documents::doc_id, doc_ids))
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
    let mut query = documents::table
        .filter(is_indexable!(index))
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
        enqueue_documents_of(connection, IndexName::Workspace, Some(organization_id), vec![doc_id], now).await?;
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
        let known: Vec<DocId> = lock_rows_for_deletion!(
            documents::table
                .filter(documents::organization_id.eq(Bind(organization_id)))
                .filter(is_one_of!(documents::doc_id, chunk.iter().copied()))
                .order(documents::doc_id)
                .select(documents::doc_id)
        )
        .load(connection)
        .await?;
        diesel::delete(documents::table.filter(is_one_of!(documents::doc_id, known.clone())))
            .execute(connection)
            .await?;
        purged += known.len();
        enqueue_documents_of(connection, IndexName::Workspace, Some(organization_id), known, now).await?;
    }
    Ok(purged)
}
