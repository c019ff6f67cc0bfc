use std::collections::HashMap;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CaptureFormat, CaptureId, Collection, DocId, OrganizationId, Timestamp};

use super::captures::update_reread;
use super::documents::passages_by_capture;
use super::parts::insert_parts;
use super::{Conn, activity, evidence, lock_documents};
use crate::documents::{LoadedDocument, NewPage, NewPageRead};
use crate::error::Result;
use crate::nul::strip_nul;
use crate::rows::{Capture, Document, Grant, PageRead};
use crate::schema::{captures, documents, page_reads, passages};
use crate::types::{Bind, Strings};
use crate::visible::{is_current, private};

pub async fn register_page(connection: &mut Conn, page: NewPage, now: Timestamp) -> Result<()> {
    let NewPage { organization_id, doc_id, canonical_url, source_url } = page;
    lock_documents(connection, &[doc_id]).await?;
    insert_anchors(connection, vec![(doc_id, canonical_url)]).await?;
    current_readings(connection, organization_id, &[doc_id]).await?;
    let read = PageRead {
        organization_id,
        doc_id,
        source_url: strip_nul(source_url),
        title: None,
        description: None,
        mime: None,
        language: None,
        labels: Strings::default(),
        published_at: None,
        first_seen_at: now,
        last_seen_at: now,
        last_crawled_at: None,
        stale_at: None,
        latest_capture_id: None,
    };
    insert_missing_rows!(connection, page_reads::table, vec![read])?;
    activity::grant_document(connection, Grant { organization_id, doc_id, granted_at: now, capture_id: None }).await
}

/// Inserts the rows that foreign keys need, of documents that are unknown, given with their canonical URLs in the order of their ids. They
/// tell nothing about the pages or their readers.
pub async fn insert_anchors(connection: &mut Conn, pages: Vec<(DocId, String)>) -> Result<()> {
    let anchor = |(doc_id, canonical_url): (DocId, String)| Document {
        doc_id,
        collection: Collection::Web,
        source_url: canonical_url.clone(),
        canonical_url,
        source_uri: None,
        title: None,
        description: None,
        mime: None,
        language: None,
        country: None,
        labels: Strings::default(),
        published_at: None,
        first_seen_at: Timestamp::UNIX_EPOCH,
        last_seen_at: Timestamp::UNIX_EPOCH,
        last_crawled_at: None,
        latest_capture_id: None,
        removed_at: None,
        listed: false,
    };
    let anchors: Vec<Document> = pages.into_iter().map(anchor).collect();
    insert_missing_rows!(connection, documents::table, anchors)?;
    Ok(())
}

/// Returns the organization's own readings of pages with the formats of their captures, and deletes those of pages that the operator
/// removed since.
pub async fn current_readings(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_ids: &[DocId],
) -> Result<Vec<(PageRead, Option<CaptureFormat>)>> {
    let of_reading = captures::capture_id.nullable().eq(page_reads::latest_capture_id);
    let rows: Vec<(PageRead, Option<Timestamp>, Option<CaptureFormat>)> = page_reads::table
        .inner_join(documents::table.on(documents::doc_id.eq(page_reads::doc_id)))
        .left_join(captures::table.on(of_reading.and(captures::organization_id.eq(Bind(organization_id)))))
        .filter(page_reads::organization_id.eq(Bind(organization_id)))
        .filter(is_one_of!(page_reads::doc_id, doc_ids.iter().copied()))
        .select((PageRead::as_select(), documents::removed_at, captures::format.nullable()))
        .load(connection)
        .await?;
    let mut current = Vec::with_capacity(rows.len());
    let mut removed: Vec<DocId> = Vec::new();
    for (read, removed_at, format) in rows {
        if is_current(&read, removed_at) {
            current.push((read, format));
        } else {
            removed.push(read.doc_id);
        }
    }
    if !removed.is_empty() {
        delete_own(connection, organization_id, &removed).await?;
    }
    Ok(current)
}

async fn find_row(connection: &mut Conn, organization_id: OrganizationId, doc_id: DocId) -> Result<Option<PageRead>> {
    Ok(page_reads::table
        .find((Bind(organization_id), Bind(doc_id)))
        .select(PageRead::as_select())
        .first(connection)
        .await
        .optional()?)
}

pub async fn find_page_read(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
) -> Result<Option<(PageRead, Option<Capture>)>> {
    let Some(read) = find_row(connection, organization_id, doc_id).await? else { return Ok(None) };
    let Some(capture_id) = read.latest_capture_id else { return Ok(Some((read, None))) };
    let capture = captures::table
        .find(Bind(capture_id))
        .filter(captures::organization_id.eq(Bind(organization_id)))
        .select(Capture::as_select())
        .first(connection)
        .await
        .optional()?;
    Ok(Some((read, capture)))
}

pub async fn load_page_reads(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_ids: Vec<DocId>,
) -> Result<Vec<LoadedDocument>> {
    let rows: Vec<(Document, PageRead, Capture)> = page_reads::table
        .inner_join(documents::table.on(documents::doc_id.eq(page_reads::doc_id)))
        .inner_join(captures::table.on(captures::capture_id.nullable().eq(page_reads::latest_capture_id)))
        .filter(page_reads::organization_id.eq(Bind(organization_id)))
        .filter(captures::organization_id.eq(Bind(organization_id)))
        .filter(is_one_of!(page_reads::doc_id, doc_ids))
        .select((Document::as_select(), PageRead::as_select(), Capture::as_select()))
        .load(connection)
        .await?;
    let current = rows.into_iter().filter(|(document, read, _)| is_current(read, document.removed_at));
    let rows: Vec<(Document, Capture)> =
        current.map(|(document, read, capture)| (private(document, read), capture)).collect();
    let mut by_capture = passages_by_capture(connection, &rows).await?;
    let loaded = rows.into_iter().map(|(document, capture)| {
        let passages = by_capture.remove(&capture.capture_id).unwrap_or_default();
        LoadedDocument { document, capture, passages }
    });
    Ok(loaded.collect())
}

pub async fn save_page_read(connection: &mut Conn, new: NewPageRead) -> Result<()> {
    let (organization_id, doc_id) = (new.read.organization_id, new.read.doc_id);
    lock_documents(connection, &[doc_id]).await?;
    insert_anchors(connection, vec![(doc_id, new.canonical_url.clone())]).await?;
    let before = find_row(connection, organization_id, doc_id).await?;
    let before = before.into_iter().map(|read| (doc_id, read)).collect();
    save_readings(connection, organization_id, before, vec![new]).await?;
    Ok(())
}

pub async fn save_long_page_read(connection: &mut Conn, new: NewPageRead) -> Result<()> {
    save_page_read(connection, new).await
}

/// Stores the organization's readings of different pages, whose documents are known and locked, in the order of their ids. `before` has
/// the readings that they replace. Returns the captures: of unchanged content the one that is stored.
pub async fn save_readings(
    connection: &mut Conn,
    organization_id: OrganizationId,
    mut before: HashMap<DocId, PageRead>,
    new: Vec<NewPageRead>,
) -> Result<Vec<(DocId, CaptureId)>> {
    let same = find_same(connection, organization_id, &new).await?;
    let mut saved = Vec::with_capacity(new.len());
    let (mut inserted, mut updated, mut replaced) = (Vec::new(), Vec::new(), Vec::new());
    let (mut reread, mut added, mut divided, mut texts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for NewPageRead { canonical_url: _, mut read, mut capture, passages, parts } in new {
        let doc_id = read.doc_id;
        let known = same.get(&doc_id).copied();
        let latest = known.unwrap_or(capture.capture_id);
        saved.push((doc_id, latest));
        read.organization_id = organization_id;
        read.latest_capture_id = Some(latest);
        match before.remove(&doc_id) {
            Some(before) => {
                if before.latest_capture_id.is_some() && before.latest_capture_id != known {
                    replaced.push((doc_id, capture.captured_at));
                }
                updated.push(PageRead {
                    source_url: before.source_url,
                    first_seen_at: before.first_seen_at,
                    stale_at: before.stale_at,
                    ..read
                });
            }
            None => inserted.push(read),
        }
        match known {
            Some(capture_id) => reread.push((capture_id, capture)),
            None => {
                capture.organization_id = Some(organization_id);
                divided.extend(parts.map(|parts| (capture.clone(), parts)));
                added.push(capture);
                texts.extend(passages);
            }
        }
    }
    insert_missing_rows!(connection, page_reads::table, inserted)?;
    let update =
        |read: PageRead| diesel::update(page_reads::table.find((Bind(organization_id), Bind(read.doc_id)))).set(read);
    execute_all!(connection, updated.into_iter().map(update))?;
    for (doc_id, captured_at) in replaced {
        // Somebody of the organization waited for it, so it was shown.
        evidence::supersede_reading(connection, organization_id, doc_id, captured_at).await?;
    }
    update_reread(connection, reread).await?;
    insert_bulk!(connection, captures::table, added)?;
    for (capture, parts) in divided {
        insert_parts(connection, &capture, parts).await?;
    }
    insert_bulk!(connection, passages::table, texts)?;
    Ok(saved)
}

/// Returns the organization's captures with the contents of the new ones, replaced or not. Compares digests only: contents can be
/// large.
async fn find_same(
    connection: &mut Conn,
    organization_id: OrganizationId,
    new: &[NewPageRead],
) -> Result<HashMap<DocId, CaptureId>> {
    let digests: Vec<String> = new.iter().map(|new| new.capture.content_digest.clone()).collect();
    let known = captures::table
        .filter(is_one_of!(captures::doc_id, new.iter().map(|new| new.capture.doc_id)))
        .filter(captures::organization_id.eq(Bind(organization_id)))
        .filter(captures::content_digest.eq_any(digests))
        .order((captures::superseded_at.is_not_null(), captures::capture_id))
        .select((captures::doc_id, captures::format, captures::content_digest, captures::capture_id));
    // Locked, so that none is pruned that takes its place again.
    let known: Vec<(DocId, CaptureFormat, String, CaptureId)> = lock_rows!(known).load(connection).await?;
    let mut same = HashMap::new();
    for NewPageRead { capture, .. } in new {
        let is_same = |(doc_id, format, digest, _): &&(DocId, CaptureFormat, String, CaptureId)| {
            *doc_id == capture.doc_id && *format == capture.format && *digest == capture.content_digest
        };
        if let Some((_, _, _, capture_id)) = known.iter().find(is_same) {
            same.insert(capture.doc_id, *capture_id);
        }
    }
    Ok(same)
}

pub async fn confirm_page_read(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
    capture_id: CaptureId,
    now: Timestamp,
) -> Result<()> {
    lock_documents(connection, &[doc_id]).await?;
    let read = page_reads::table
        .find((Bind(organization_id), Bind(doc_id)))
        .filter(page_reads::latest_capture_id.eq(Bind(capture_id)));
    let confirmed = diesel::update(read)
        .set((page_reads::last_seen_at.eq(Bind(now)), page_reads::last_crawled_at.eq(Bind(now))))
        .execute(connection)
        .await?;
    if confirmed > 0 {
        let own = captures::table.find(Bind(capture_id)).filter(captures::organization_id.eq(Bind(organization_id)));
        diesel::update(own).set(captures::captured_at.eq(Bind(now))).execute(connection).await?;
    }
    Ok(())
}

/// Marks a web page that was granted to the organization as outdated, for this organization only. Ignores workspace documents, whose
/// content is that of their file.
pub async fn mark_stale(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
    now: Timestamp,
) -> Result<()> {
    let page = documents::table.find(Bind(doc_id)).filter(documents::organization_id.is_null());
    let canonical_url: Option<String> = page.select(documents::canonical_url).first(connection).await.optional()?;
    let Some(canonical_url) = canonical_url else { return Ok(()) };
    if !activity::is_granted(connection, organization_id, doc_id).await? {
        return Ok(());
    }
    // A listed page has no reading of this organization yet, and the shared document must not change.
    let source_url = canonical_url.clone();
    register_page(connection, NewPage { organization_id, doc_id, canonical_url, source_url }, now).await?;
    diesel::update(page_reads::table.find((Bind(organization_id), Bind(doc_id))))
        .set(page_reads::stale_at.eq(Bind(now)))
        .execute(connection)
        .await?;
    Ok(())
}

/// Locks documents whose readings are to be deleted: until the end of the transaction nobody saves a reading or grants one of them.
pub async fn lock_readings(connection: &mut Conn, doc_ids: &[DocId]) -> Result<()> {
    lock_documents(connection, doc_ids).await?;
    // In key order, as concurrent grants do.
    let documents = documents::table.filter(is_one_of!(documents::doc_id, doc_ids.iter().copied()));
    let _locked: Vec<DocId> =
        lock_rows_for_deletion!(documents.order(documents::doc_id).select(documents::doc_id)).load(connection).await?;
    Ok(())
}

/// Deletes an organization's own readings, whose documents are locked, and the rows of unlisted pages that nobody reads any more.
pub async fn delete_page_reads(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_ids: Vec<DocId>,
) -> Result<()> {
    delete_own(connection, organization_id, &doc_ids).await?;
    delete_unread_pages(connection, doc_ids).await
}

/// Deletes an organization's own readings with their captures.
async fn delete_own(connection: &mut Conn, organization_id: OrganizationId, doc_ids: &[DocId]) -> Result<()> {
    let own = captures::table
        .filter(captures::organization_id.eq(Bind(organization_id)))
        .filter(is_one_of!(captures::doc_id, doc_ids.iter().copied()));
    diesel::delete(own).execute(connection).await?;
    let own = page_reads::table
        .filter(page_reads::organization_id.eq(Bind(organization_id)))
        .filter(is_one_of!(page_reads::doc_id, doc_ids.iter().copied()));
    diesel::delete(own).execute(connection).await?;
    Ok(())
}

async fn delete_unread_pages(connection: &mut Conn, doc_ids: Vec<DocId>) -> Result<()> {
    let readers = page_reads::table.filter(page_reads::doc_id.eq(documents::doc_id));
    let unread = documents::table
        .filter(is_one_of!(documents::doc_id, doc_ids))
        .filter(documents::organization_id.is_null())
        .filter(diesel::dsl::not(documents::listed))
        .filter(diesel::dsl::not(diesel::dsl::exists(readers)));
    diesel::delete(unread).execute(connection).await?;
    Ok(())
}
