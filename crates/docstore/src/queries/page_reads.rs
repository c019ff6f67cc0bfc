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
    insert_anchor(connection, doc_id, canonical_url).await?;
    delete_removed(connection, organization_id, doc_id).await?;
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

/// Inserts the row that foreign keys need, if the document is unknown. It tells nothing about the page or its readers.
async fn insert_anchor(connection: &mut Conn, doc_id: DocId, canonical_url: String) -> Result<()> {
    let anchor = Document {
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
    insert_missing_rows!(connection, documents::table, vec![anchor])?;
    Ok(())
}

/// Deletes the organization's reading of a page that the operator removed since.
async fn delete_removed(connection: &mut Conn, organization_id: OrganizationId, doc_id: DocId) -> Result<()> {
    let removed_at: Option<Timestamp> =
        documents::table.find(Bind(doc_id)).select(documents::removed_at).first(connection).await?;
    let read = find_row(connection, organization_id, doc_id).await?;
    if read.is_some_and(|read| !is_current(&read, removed_at)) {
        delete_captures(connection, organization_id, doc_id).await?;
        diesel::delete(page_reads::table.find((Bind(organization_id), Bind(doc_id)))).execute(connection).await?;
    }
    Ok(())
}

pub async fn find_row(
    connection: &mut Conn,
    organization_id: OrganizationId,
    doc_id: DocId,
) -> Result<Option<PageRead>> {
    Ok(page_reads::table
        .find((Bind(organization_id), Bind(doc_id)))
        .select(PageRead::as_select())
        .first(connection)
        .await
        .optional()?)
}

async fn delete_captures(connection: &mut Conn, organization_id: OrganizationId, doc_id: DocId) -> Result<()> {
    let own = captures::table
        .filter(captures::doc_id.eq(Bind(doc_id)))
        .filter(captures::organization_id.eq(Bind(organization_id)));
    diesel::delete(own).execute(connection).await?;
    Ok(())
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

pub async fn save_snippets(
    connection: &mut Conn,
    organization_id: OrganizationId,
    mut snippets: Vec<NewPageRead>,
) -> Result<Vec<(DocId, CaptureId)>> {
    snippets.sort_unstable_by_key(|new| new.read.doc_id);
    snippets.dedup_by_key(|new| new.read.doc_id);
    let doc_ids: Vec<DocId> = snippets.iter().map(|new| new.read.doc_id).collect();
    lock_documents(connection, &doc_ids).await?;
    let mut saved = Vec::with_capacity(snippets.len());
    for mut new in snippets {
        let doc_id = new.read.doc_id;
        new.read.organization_id = organization_id;
        insert_anchor(connection, doc_id, new.canonical_url.clone()).await?;
        delete_removed(connection, organization_id, doc_id).await?;
        if !is_whole_page_known(connection, organization_id, doc_id).await? {
            saved.push((doc_id, save_reading(connection, new).await?));
        }
    }
    Ok(saved)
}

/// Returns true if the organization may read more of a page than a snippet: the shared document, or its own reading.
async fn is_whole_page_known(connection: &mut Conn, organization_id: OrganizationId, doc_id: DocId) -> Result<bool> {
    let is_visible = captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id)));
    let formats: Vec<CaptureFormat> = captures::table
        .filter(captures::doc_id.eq(Bind(doc_id)))
        .filter(is_visible)
        .select(captures::format)
        .load(connection)
        .await?;
    if !formats.contains(&CaptureFormat::Markdown) {
        return Ok(false);
    }
    let own = find_page_read(connection, organization_id, doc_id).await?;
    if own.and_then(|(_, capture)| capture).is_some_and(|capture| capture.format == CaptureFormat::Markdown) {
        return Ok(true);
    }
    let shared: Option<CaptureFormat> = documents::table
        .inner_join(captures::table.on(captures::capture_id.nullable().eq(documents::latest_capture_id)))
        .filter(documents::doc_id.eq(Bind(doc_id)))
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .select(captures::format)
        .first(connection)
        .await
        .optional()?;
    Ok(shared == Some(CaptureFormat::Markdown))
}

pub async fn save_page_read(connection: &mut Conn, new: NewPageRead) -> Result<()> {
    lock_documents(connection, &[new.read.doc_id]).await?;
    insert_anchor(connection, new.read.doc_id, new.canonical_url.clone()).await?;
    save_reading(connection, new).await?;
    Ok(())
}

pub async fn save_long_page_read(connection: &mut Conn, new: NewPageRead) -> Result<()> {
    save_page_read(connection, new).await
}

/// Stores a reading of a known page and returns its capture: the one before if the content is unchanged.
async fn save_reading(connection: &mut Conn, new: NewPageRead) -> Result<CaptureId> {
    let NewPageRead { canonical_url: _, mut read, mut capture, passages, parts } = new;
    let (organization_id, doc_id) = (read.organization_id, read.doc_id);
    let before = find_row(connection, organization_id, doc_id).await?;
    let known = before.as_ref().and_then(|before| before.latest_capture_id);
    let reread = find_same(connection, organization_id, &capture).await?;
    if let Some(before) = before {
        read = PageRead {
            source_url: before.source_url,
            first_seen_at: before.first_seen_at,
            stale_at: before.stale_at,
            ..read
        };
    }
    let latest = reread.unwrap_or(capture.capture_id);
    read.latest_capture_id = Some(latest);
    insert_missing_rows!(connection, page_reads::table, vec![read.clone()])?;
    diesel::update(page_reads::table.find((Bind(organization_id), Bind(doc_id)))).set(read).execute(connection).await?;
    if known.is_some() && known != reread {
        // Somebody of the organization waited for it, so it was shown.
        evidence::supersede_reading(connection, organization_id, doc_id, capture.captured_at).await?;
    }
    if let Some(capture_id) = reread {
        update_reread(connection, vec![(capture_id, capture)]).await?;
        return Ok(latest);
    }
    capture.organization_id = Some(organization_id);
    insert_bulk!(connection, captures::table, vec![capture.clone()])?;
    if let Some(parts) = parts {
        insert_parts(connection, &capture, parts).await?;
    }
    insert_bulk!(connection, passages::table, passages)?;
    Ok(latest)
}

/// Returns the organization's capture with the content of the new one, replaced or not. Compares digests only: contents can be
/// large.
async fn find_same(connection: &mut Conn, organization_id: OrganizationId, new: &Capture) -> Result<Option<CaptureId>> {
    let same = captures::table
        .filter(captures::doc_id.eq(Bind(new.doc_id)))
        .filter(captures::organization_id.eq(Bind(organization_id)))
        .filter(captures::format.eq(Bind(new.format)))
        .filter(captures::content_digest.eq(&new.content_digest))
        .order(captures::superseded_at.is_not_null())
        .select(captures::capture_id);
    // Locked, so that it is not pruned if it takes its place again.
    Ok(lock_rows!(same).first(connection).await.optional()?)
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
    let own = captures::table
        .filter(captures::organization_id.eq(Bind(organization_id)))
        .filter(is_one_of!(captures::doc_id, doc_ids.iter().copied()));
    diesel::delete(own).execute(connection).await?;
    let own = page_reads::table
        .filter(page_reads::organization_id.eq(Bind(organization_id)))
        .filter(is_one_of!(page_reads::doc_id, doc_ids.iter().copied()));
    diesel::delete(own).execute(connection).await?;
    delete_unread_pages(connection, doc_ids).await
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
