use std::collections::{HashMap, HashSet};

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::Conn;
use super::outbox::enqueue;
use crate::documents::{NewDocument, Saved};
use crate::error::Result;
use crate::rows::{Document, Passage};
use crate::schema::{captures, documents, passages};
use crate::types::Id;

/// Nine columns a row; SQLite binds at most 32,766 values in a statement.
const PASSAGES_AT_ONCE: usize = 3_000;

/// Stores documents with their captures, and queues those that changed for their index, all in the
/// caller's transaction. A document that comes twice in one batch is stored as it came last. The answer
/// is in the order of the batch.
pub async fn save_documents(connection: &mut Conn, batch: Vec<NewDocument>, now: i64) -> Result<Vec<Saved>> {
    let stored = stored_versions(connection, &batch).await?;
    let last: HashMap<Id, usize> =
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

/// The stored row and the digest of its latest capture, by document.
async fn stored_versions(
    connection: &mut Conn,
    batch: &[NewDocument],
) -> Result<HashMap<Id, (Document, Option<String>)>> {
    let doc_ids: Vec<Id> = batch.iter().map(|new| new.document.doc_id).collect();
    let rows: Vec<(Document, Option<String>)> = documents::table
        .left_join(captures::table.on(documents::latest_capture_id.eq(captures::capture_id.nullable())))
        .filter(documents::doc_id.eq_any(doc_ids))
        .select((Document::as_select(), captures::content_digest.nullable()))
        .load(connection)
        .await?;
    Ok(rows.into_iter().map(|(document, digest)| (document.doc_id, (document, digest))).collect())
}

/// The writes of one batch, gathered so that each table is written in few statements.
#[derive(Default)]
struct Changes {
    inserted: Vec<Document>,
    updated: Vec<Document>,
    /// Documents whose older captures go.
    replaced: Vec<Id>,
    /// Captures whose content was read again and is the same.
    reread: Vec<(Id, i64)>,
    captures: Vec<crate::rows::Capture>,
    passages: Vec<Passage>,
    queued: HashSet<(&'static str, Id)>,
}

impl Changes {
    fn add(&mut self, new: NewDocument, stored: &HashMap<Id, (Document, Option<String>)>) -> Saved {
        let NewDocument { mut document, mut capture, passages } = new;
        let doc_id = document.doc_id;
        let index = if document.organization_id.is_some() { "workspace" } else { "web" };
        let Some((before, digest)) = stored.get(&doc_id) else {
            document.latest_capture_id = Some(capture.capture_id);
            self.inserted.push(document);
            self.captures.push(capture);
            self.passages.extend(passages);
            self.queued.insert((index, doc_id));
            return Saved::Stored;
        };
        document.first_seen_at = before.first_seen_at;
        let same_content = digest.as_deref() == Some(&capture.content_digest);
        let saved = if !same_content {
            document.latest_capture_id = Some(capture.capture_id);
            self.replaced.push(doc_id);
            capture.doc_id = doc_id;
            self.captures.push(capture);
            self.passages.extend(passages);
            Saved::Stored
        } else {
            document.latest_capture_id = before.latest_capture_id;
            if let Some(capture_id) = before.latest_capture_id {
                self.reread.push((capture_id, capture.captured_at));
            }
            if says_the_same(&document, before) { Saved::Unchanged } else { Saved::Described }
        };
        if saved != Saved::Unchanged {
            self.queued.insert((index, doc_id));
        }
        self.updated.push(document);
        saved
    }

    async fn write(self, connection: &mut Conn, now: i64) -> Result<()> {
        if !self.inserted.is_empty() {
            insert_rows!(connection, documents::table, self.inserted)?;
        }
        if !self.replaced.is_empty() {
            diesel::delete(captures::table.filter(captures::doc_id.eq_any(self.replaced))).execute(connection).await?;
        }
        for document in self.updated {
            diesel::update(documents::table.find(document.doc_id)).set(document).execute(connection).await?;
        }
        for (capture_id, captured_at) in self.reread {
            diesel::update(captures::table.find(capture_id))
                .set(captures::captured_at.eq(captured_at))
                .execute(connection)
                .await?;
        }
        if !self.captures.is_empty() {
            insert_rows!(connection, captures::table, self.captures)?;
        }
        let mut passages = self.passages;
        while !passages.is_empty() {
            let rest = passages.split_off(passages.len().min(PASSAGES_AT_ONCE));
            insert_rows!(connection, passages::table, passages)?;
            passages = rest;
        }
        for index in ["web", "workspace"] {
            let mut doc_ids: Vec<Id> =
                self.queued.iter().filter(|(name, _)| *name == index).map(|(_, doc_id)| *doc_id).collect();
            doc_ids.sort_unstable();
            enqueue(connection, index, doc_ids, now).await?;
        }
        Ok(())
    }
}

/// Whether the rows differ in nothing but the times of reading.
fn says_the_same(new: &Document, before: &Document) -> bool {
    let timeless =
        |document: &Document| Document { last_seen_at: 0, last_crawled_at: None, first_seen_at: 0, ..document.clone() };
    timeless(new) == timeless(before)
}
