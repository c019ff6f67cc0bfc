use std::collections::{HashMap, HashSet};

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CaptureFormat, CaptureId, DocId, IndexName, Timestamp};

use super::outbox::enqueue_documents;
use super::{Conn, lock_documents};
use crate::backend::VALUES_AT_ONCE;
use crate::documents::{NewDocument, Saved};
use crate::error::Result;
use crate::rows::{Capture, Document, Passage};
use crate::schema::{captures, documents, passages};
use crate::types::{Bind, bind_all};

/// Stores documents with their captures, and queues those that changed for their index, all in the
/// caller's transaction. A document that comes twice in one batch is stored as it came last. The answer
/// is in the order of the batch.
pub async fn save_documents(connection: &mut Conn, batch: Vec<NewDocument>, now: Timestamp) -> Result<Vec<Saved>> {
    let mut doc_ids: Vec<DocId> = batch.iter().map(|new| new.document.doc_id).collect();
    doc_ids.sort_unstable();
    doc_ids.dedup();
    lock_documents(connection, &doc_ids).await?;
    let stored = stored_versions(connection, &doc_ids).await?;
    let last: HashMap<DocId, usize> =
        batch.iter().enumerate().map(|(position, new)| (new.document.doc_id, position)).collect();
    let mut outcome = vec![Saved::Unchanged; batch.len()];
    let mut changes = Changes::default();
    for (position, new) in batch.into_iter().enumerate() {
        if last.get(&new.document.doc_id) == Some(&position) {
            outcome[position] = changes.add(new, &stored);
        }
    }
    changes.write(connection, now).await?;
    Ok(outcome)
}

/// Which content a stored capture has.
struct StoredContent {
    format: CaptureFormat,
    digest: String,
}

impl StoredContent {
    /// A snippet that says the same as the whole page is still another capture.
    fn is_of(&self, capture: &Capture) -> bool {
        self.format == capture.format && self.digest == capture.content_digest
    }
}

/// The stored row and what its latest capture holds, by document. The rows stay as they are until the end of the
/// transaction: a document that is removed meanwhile must not come back by what was read here.
async fn stored_versions(
    connection: &mut Conn,
    doc_ids: &[DocId],
) -> Result<HashMap<DocId, (Document, Option<StoredContent>)>> {
    let mut stored = HashMap::new();
    for part in doc_ids.chunks(VALUES_AT_ONCE) {
        let known: Vec<Document> = lock_rows!(
            documents::table
                .filter(documents::doc_id.eq_any(bind_all(part.iter().copied())))
                .order(documents::doc_id)
                .select(Document::as_select())
        )
        .load(connection)
        .await?;
        let capture_ids: Vec<CaptureId> = known.iter().filter_map(|document| document.latest_capture_id).collect();
        let contents: Vec<(DocId, CaptureFormat, String)> = captures::table
            .filter(captures::capture_id.eq_any(bind_all(capture_ids)))
            .select((captures::doc_id, captures::format, captures::content_digest))
            .load(connection)
            .await?;
        let mut contents: HashMap<DocId, StoredContent> =
            contents.into_iter().map(|(doc_id, format, digest)| (doc_id, StoredContent { format, digest })).collect();
        stored.extend(known.into_iter().map(|document| {
            let content = contents.remove(&document.doc_id);
            (document.doc_id, (document, content))
        }));
    }
    Ok(stored)
}

/// The writes of one batch, gathered so that each table is written in few statements.
#[derive(Default)]
struct Changes {
    inserted: Vec<Document>,
    updated: Vec<Document>,
    /// Documents whose older captures go.
    replaced: Vec<DocId>,
    /// Captures whose content was read again and is the same.
    reread: Vec<(CaptureId, Capture)>,
    captures: Vec<Capture>,
    passages: Vec<Passage>,
    queued: HashSet<(IndexName, DocId)>,
}

impl Changes {
    fn add(&mut self, new: NewDocument, stored: &HashMap<DocId, (Document, Option<StoredContent>)>) -> Saved {
        let NewDocument { mut document, capture, passages } = new;
        let doc_id = document.doc_id;
        let index = document.collection.index();
        let Some((before, content)) = stored.get(&doc_id) else {
            document.latest_capture_id = Some(capture.capture_id);
            self.captures.push(capture);
            self.passages.extend(passages);
            if document.listed {
                self.queued.insert((index, doc_id));
            }
            self.inserted.push(document);
            return Saved::Stored;
        };
        document.first_seen_at = before.first_seen_at;
        document.listed |= before.listed;
        document.stale_at = before.stale_at;
        // What a run read of a file that was deleted meanwhile must not bring it back. What is read later does.
        document.removed_at = before.removed_at.filter(|removed_at| capture.captured_at <= *removed_at);
        let same_content = content.as_ref().is_some_and(|content| content.is_of(&capture));
        let saved = if !same_content {
            document.latest_capture_id = Some(capture.capture_id);
            self.replaced.push(doc_id);
            self.captures.push(capture);
            self.passages.extend(passages);
            Saved::Stored
        } else {
            document.latest_capture_id = before.latest_capture_id;
            if let Some(capture_id) = before.latest_capture_id {
                self.reread.push((capture_id, capture));
            }
            if says_the_same(&document, before) { Saved::Unchanged } else { Saved::Described }
        };
        if saved != Saved::Unchanged && document.listed {
            self.queued.insert((index, doc_id));
        }
        self.updated.push(document);
        saved
    }

    async fn write(self, connection: &mut Conn, now: Timestamp) -> Result<()> {
        insert_rows!(connection, documents::table, self.inserted)?;
        for part in self.replaced.chunks(VALUES_AT_ONCE) {
            let old = captures::table.filter(captures::doc_id.eq_any(bind_all(part.iter().copied())));
            diesel::delete(old).execute(connection).await?;
        }
        for document in self.updated {
            diesel::update(documents::table.find(Bind(document.doc_id))).set(document).execute(connection).await?;
        }
        for (capture_id, Capture { captured_at, fetched_from, etag, last_modified, .. }) in self.reread {
            diesel::update(captures::table.find(Bind(capture_id)))
                .set((
                    captures::captured_at.eq(Bind(captured_at)),
                    captures::fetched_from.eq(fetched_from),
                    captures::etag.eq(etag),
                    captures::last_modified.eq(last_modified),
                ))
                .execute(connection)
                .await?;
        }
        insert_rows!(connection, captures::table, self.captures)?;
        insert_rows!(connection, passages::table, self.passages)?;
        for index in IndexName::ALL.iter().copied() {
            let mut doc_ids: Vec<DocId> =
                self.queued.iter().filter(|(name, _)| *name == index).map(|(_, doc_id)| *doc_id).collect();
            doc_ids.sort_unstable();
            enqueue_documents(connection, index, doc_ids, now).await?;
        }
        Ok(())
    }
}

/// Whether the rows differ in nothing but the times of reading.
fn says_the_same(new: &Document, before: &Document) -> bool {
    let timeless = |document: &Document| Document {
        last_seen_at: Timestamp::UNIX_EPOCH,
        last_crawled_at: None,
        first_seen_at: Timestamp::UNIX_EPOCH,
        ..document.clone()
    };
    timeless(new) == timeless(before)
}

/// The latest capture was found to be what the page still says: it counts as read at `now`. Nothing, when it has been
/// replaced meanwhile.
pub async fn confirm_capture(
    connection: &mut Conn,
    doc_id: DocId,
    capture_id: CaptureId,
    now: Timestamp,
) -> Result<()> {
    let document = documents::table.find(Bind(doc_id)).filter(documents::latest_capture_id.eq(Bind(capture_id)));
    let confirmed = diesel::update(document)
        .set((documents::last_seen_at.eq(Bind(now)), documents::last_crawled_at.eq(Bind(now))))
        .execute(connection)
        .await?;
    if confirmed > 0 {
        diesel::update(captures::table.find(Bind(capture_id)))
            .set(captures::captured_at.eq(Bind(now)))
            .execute(connection)
            .await?;
    }
    Ok(())
}
