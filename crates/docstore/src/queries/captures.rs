use std::collections::{BTreeSet, HashMap};

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CaptureFormat, CaptureId, DocId, IndexName, OrganizationId, Timestamp};

use super::evidence::Restored;
use super::outbox::enqueue_documents_of;
use super::parts::insert_parts;
use super::{Conn, evidence, lock_documents, vectors};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::documents::{NewDocument, SaveOutcome};
use crate::error::Result;
use crate::parts::NewParts;
use crate::rows::{Capture, Document, Passage};
use crate::schema::{captures, documents, passages};
use crate::types::Bind;

pub async fn save_documents(
    connection: &mut Conn,
    batch: Vec<NewDocument>,
    now: Timestamp,
) -> Result<Vec<SaveOutcome>> {
    let mut doc_ids: Vec<DocId> = batch.iter().map(|new| new.document.doc_id).collect();
    doc_ids.sort_unstable();
    doc_ids.dedup();
    lock_documents(connection, &doc_ids).await?;
    let stored = load_stored(connection, &doc_ids).await?;
    let last: HashMap<DocId, usize> =
        batch.iter().enumerate().map(|(position, new)| (new.document.doc_id, position)).collect();
    let mut outcome = vec![SaveOutcome::Unchanged; batch.len()];
    let mut changes = Changes::default();
    for (position, new) in batch.into_iter().enumerate() {
        if last.get(&new.document.doc_id) == Some(&position) {
            outcome[position] = changes.add(new, &stored);
        }
    }
    changes.write(connection, now).await?;
    Ok(outcome)
}

/// Identity of the content of a stored capture.
struct ContentKey {
    format: CaptureFormat,
    digest: String,
}

impl ContentKey {
    /// Returns true if the contents are equal. A snippet with the text of the whole page still differs in format.
    fn matches(&self, capture: &Capture) -> bool {
        self.format == capture.format && self.digest == capture.content_digest
    }
}

/// Known document.
struct Stored {
    document: Document,
    /// Content of the latest capture.
    content: Option<ContentKey>,
    /// Contents of captures that were replaced and are kept.
    kept: Vec<(CaptureId, ContentKey)>,
}

/// Loads known documents and the content of their latest captures.
///
/// Locks the rows until the end of the transaction: otherwise a document removed in between would be restored by what was
/// read here.
async fn load_stored(connection: &mut Conn, doc_ids: &[DocId]) -> Result<HashMap<DocId, Stored>> {
    let mut stored = HashMap::new();
    for chunk in doc_ids.chunks(MAX_VALUES_PER_STATEMENT) {
        let known: Vec<Document> = lock_rows!(
            documents::table
                .filter(is_one_of!(documents::doc_id, chunk.iter().copied()))
                .order(documents::doc_id)
                .select(Document::as_select())
        )
        .load(connection)
        .await?;
        let capture_ids: Vec<CaptureId> = known.iter().filter_map(|document| document.latest_capture_id).collect();
        let contents: Vec<(DocId, CaptureFormat, String)> = captures::table
            .filter(is_one_of!(captures::capture_id, capture_ids))
            .select((captures::doc_id, captures::format, captures::content_digest))
            .load(connection)
            .await?;
        let mut contents: HashMap<DocId, ContentKey> =
            contents.into_iter().map(|(doc_id, format, digest)| (doc_id, ContentKey { format, digest })).collect();
        let mut kept = load_kept(connection, chunk).await?;
        stored.extend(known.into_iter().map(|document| {
            let (content, kept) =
                (contents.remove(&document.doc_id), kept.remove(&document.doc_id).unwrap_or_default());
            (document.doc_id, Stored { document, content, kept })
        }));
    }
    Ok(stored)
}

/// Loads the content of replaced captures that are kept. Those that organizations read themselves are not of the shared document.
async fn load_kept(connection: &mut Conn, doc_ids: &[DocId]) -> Result<HashMap<DocId, Vec<(CaptureId, ContentKey)>>> {
    let kept = captures::table
        .inner_join(documents::table)
        .filter(is_one_of!(captures::doc_id, doc_ids.iter().copied()))
        .filter(captures::superseded_at.is_not_null())
        .filter(captures::organization_id.is_null().or(documents::organization_id.is_not_null()))
        .order(captures::capture_id)
        .select((captures::capture_id, captures::doc_id, captures::format, captures::content_digest));
    // Locked, so that none is pruned that takes its place again.
    let rows: Vec<(CaptureId, DocId, CaptureFormat, String)> = lock_rows!(kept).load(connection).await?;
    let mut kept: HashMap<DocId, Vec<(CaptureId, ContentKey)>> = HashMap::new();
    for (capture_id, doc_id, format, digest) in rows {
        kept.entry(doc_id).or_default().push((capture_id, ContentKey { format, digest }));
    }
    Ok(kept)
}

/// Writes of one batch, collected so that each table needs few statements.
#[derive(Default)]
struct Changes {
    inserted: Vec<Document>,
    updated: Vec<Document>,
    /// Captures that are replaced, with the new captures that take their places. Captures of single organizations belong to their
    /// page reads and stay.
    replaced: Vec<(CaptureId, Option<CaptureId>)>,
    /// Captures in use whose documents may have another title than before.
    retitled: Vec<CaptureId>,
    /// Documents that had been removed: what was kept of them is not restored.
    restored: Vec<Restored>,
    /// Stored captures that were read again with the same content, the latest ones or earlier ones.
    reread: Vec<(CaptureId, Capture)>,
    captures: Vec<Capture>,
    passages: Vec<Passage>,
    parts: Vec<(Capture, NewParts)>,
    queued: BTreeSet<(IndexName, Option<OrganizationId>, DocId)>,
}

impl Changes {
    fn add(&mut self, new: NewDocument, stored: &HashMap<DocId, Stored>) -> SaveOutcome {
        let NewDocument { mut document, mut capture, passages, parts } = new;
        let doc_id = document.doc_id;
        let (index, owner) = (document.collection.index(), document.collection.owner());
        capture.organization_id = owner;
        let Some(Stored { document: before, content, kept }) = stored.get(&doc_id) else {
            document.latest_capture_id = Some(capture.capture_id);
            self.add_capture(capture, passages, parts);
            if document.listed {
                self.queued.insert((index, owner, doc_id));
            }
            self.inserted.push(document);
            return SaveOutcome::Stored;
        };
        if before.listed {
            // The row of a page that was only read has no times.
            document.first_seen_at = before.first_seen_at;
        }
        document.last_crawled_at = document.last_crawled_at.or(before.last_crawled_at);
        document.listed |= before.listed;
        // Content that was read before the removal must not restore the document; content read later does.
        document.removed_at = before.removed_at.filter(|removed_at| capture.captured_at <= *removed_at);
        let is_restored = before.removed_at.is_some() && document.removed_at.is_none();
        let same_content = content.as_ref().is_some_and(|content| content.matches(&capture));
        if is_restored {
            let replaced = before.latest_capture_id.filter(|_| !same_content);
            self.restored.push(Restored { doc_id, owner, replaced });
        }
        let outcome = if !same_content {
            let returned = kept.iter().find(|(_, content)| content.matches(&capture) && !is_restored);
            if !is_restored {
                let new = returned.is_none().then_some(capture.capture_id);
                self.replaced.extend(before.latest_capture_id.map(|replaced| (replaced, new)));
            }
            match returned {
                Some((capture_id, _)) => {
                    document.latest_capture_id = Some(*capture_id);
                    self.retitled.push(*capture_id);
                    self.reread.push((*capture_id, capture));
                }
                None => {
                    document.latest_capture_id = Some(capture.capture_id);
                    self.add_capture(capture, passages, parts);
                }
            }
            SaveOutcome::Stored
        } else {
            document.latest_capture_id = before.latest_capture_id;
            self.retitled.extend(before.latest_capture_id.filter(|_| document.title != before.title));
            if let Some(capture_id) = before.latest_capture_id {
                self.reread.push((capture_id, capture));
            }
            if has_same_metadata(&document, before) { SaveOutcome::Unchanged } else { SaveOutcome::MetadataChanged }
        };
        if outcome != SaveOutcome::Unchanged && document.listed {
            self.queued.insert((index, owner, doc_id));
        }
        self.updated.push(document);
        outcome
    }

    fn add_capture(&mut self, capture: Capture, passages: Vec<Passage>, parts: Option<NewParts>) {
        match parts {
            Some(parts) => self.parts.push((capture, parts)),
            None => self.captures.push(capture),
        }
        self.passages.extend(passages);
    }

    async fn write(self, connection: &mut Conn, now: Timestamp) -> Result<()> {
        insert_bulk!(connection, documents::table, self.inserted)?;
        for restored in self.restored {
            evidence::forget(connection, restored).await?;
        }
        let update = |document: Document| diesel::update(documents::table.find(Bind(document.doc_id))).set(document);
        execute_all!(connection, self.updated.into_iter().map(update))?;
        update_reread(connection, self.reread).await?;
        insert_bulk!(connection, captures::table, self.captures)?;
        for (capture, parts) in self.parts {
            insert_bulk!(connection, captures::table, vec![capture.clone()])?;
            insert_parts(connection, &capture, parts).await?;
        }
        evidence::supersede(connection, &self.replaced, now).await?;
        vectors::outdate(connection, &self.retitled).await?;
        insert_bulk!(connection, passages::table, self.passages)?;
        let queued: Vec<_> = self.queued.into_iter().collect();
        for same in queued.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (index, owner, _) = same[0];
            let doc_ids = same.iter().map(|(_, _, doc_id)| *doc_id).collect();
            enqueue_documents_of(connection, index, owner, doc_ids, now).await?;
        }
        Ok(())
    }
}

/// Updates captures whose contents were read again. From now on they are in use, if others had replaced them.
pub async fn update_reread(connection: &mut Conn, reread: Vec<(CaptureId, Capture)>) -> Result<()> {
    let update = |(capture_id, again): (CaptureId, Capture)| {
        let Capture { captured_at, fetched_from, etag, last_modified, .. } = again;
        diesel::update(captures::table.find(Bind(capture_id))).set((
            captures::captured_at.eq(Bind(captured_at)),
            captures::fetched_from.eq(fetched_from),
            captures::etag.eq(etag),
            captures::last_modified.eq(last_modified),
            captures::superseded_at.eq(Bind(None::<Timestamp>)),
        ))
    };
    execute_all!(connection, reread.into_iter().map(update))?;
    Ok(())
}

/// Returns true if the rows are equal except for the times of reading.
fn has_same_metadata(new: &Document, before: &Document) -> bool {
    let timeless = |document: &Document| Document {
        last_seen_at: Timestamp::UNIX_EPOCH,
        last_crawled_at: None,
        first_seen_at: Timestamp::UNIX_EPOCH,
        ..document.clone()
    };
    timeless(new) == timeless(before)
}
