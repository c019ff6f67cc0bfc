//! Terms of candidates that the database has: read in place of contents, and written where they are missing.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use admission::Stop;
use docstore::{Docstore, DocumentToRank, LoadedDocument};
use ingest::Supervisor;
use ingest::terms::{self, STORED_BYTES, TextBeside};
use model::{Collection, DocId};
use retrieval_core::rerank::TermVector;

use super::Search;
use super::vectors::{Confirmation, Lookup, RankedDocument, VectorCache};
use crate::App;
use crate::batches::Batches;
use crate::content_budget::steps;
use crate::error::Result;

/// Documents that are ranked by stored terms, and those that have none that fit.
#[derive(Default)]
pub struct StoredTerms {
    pub ranked: HashMap<DocId, Arc<RankedDocument>>,
    pub missing: Vec<DocId>,
}

/// Documents that are ranked by cached terms, and those that have none of their latest state.
#[derive(Default)]
pub struct CachedTerms {
    pub known: HashMap<DocId, Arc<RankedDocument>>,
    pub uncached: Vec<DocId>,
}

impl App {
    /// Finds cached terms. The docstore tells which are of the latest states, unless it did so since the index changed, or the
    /// search saw that it no longer has one of the documents.
    pub(super) async fn find_cached_terms(
        &self,
        search: &Search<'_>,
        collection: Collection,
        doc_ids: Vec<DocId>,
        confirmation: Option<Confirmation>,
    ) -> Result<CachedTerms> {
        let mut cached = CachedTerms::default();
        let trusted = confirmation.filter(|_| search.trusts_cache.load(Ordering::Relaxed));
        let mut unconfirmed = Vec::new();
        for doc_id in doc_ids {
            match self.vectors.find(doc_id, trusted) {
                Lookup::Confirmed(document) => drop(cached.known.insert(doc_id, document)),
                Lookup::Unconfirmed => unconfirmed.push(doc_id),
                // Its latest state comes with its stored terms.
                Lookup::Miss => cached.uncached.push(doc_id),
            }
        }
        if !cached.known.is_empty() {
            search.has_trusted_cache.store(true, Ordering::Relaxed);
        }
        if unconfirmed.is_empty() {
            return Ok(cached);
        }
        for state in self.store.find_latest_states(collection, unconfirmed).await? {
            let Some(document) = self.vectors.get(&state) else {
                cached.uncached.push(state.doc_id);
                continue;
            };
            if let Some(confirmation) = confirmation {
                self.vectors.confirm(&document, confirmation);
            }
            cached.known.insert(state.doc_id, document);
        }
        Ok(cached)
    }

    /// Reads the stored terms of documents of one collection, and caches them.
    pub(super) async fn load_stored_terms(
        &self,
        search: &Search<'_>,
        collection: Collection,
        doc_ids: Vec<DocId>,
    ) -> Result<StoredTerms> {
        let mut stored = StoredTerms::default();
        if doc_ids.is_empty() {
            return Ok(stored);
        }
        let found = self.store.load_for_ranking(collection, doc_ids, terms::VERSION).await?;
        for step in steps(found, |found| found.terms.as_ref().map_or(0, |stored| stored.terms.len())) {
            let vectors = self.vectors.clone();
            let decoding = self.compute(search, move |stop| decode(&step, &vectors, stop));
            let StoredTerms { ranked, missing } = decoding.await?;
            stored.ranked.extend(ranked);
            stored.missing.extend(missing);
        }
        Ok(stored)
    }
}

fn decode(found: &[DocumentToRank], vectors: &VectorCache, stop: &Stop) -> StoredTerms {
    let mut stored = StoredTerms::default();
    for found in found.iter().take_while(|_| !stop.is_stopped()) {
        match RankedDocument::of_stored(found) {
            Some(document) => {
                let document = Arc::new(document);
                vectors.put(&document);
                stored.ranked.insert(document.doc_id(), document);
            }
            None => stored.missing.push(found.state.doc_id),
        }
    }
    stored
}

/// Document that a search analysed, with the key of its texts beside the content.
type Analysed = (Arc<RankedDocument>, i64);

/// Writer of terms that searches computed because none that fit were stored.
pub struct TermWriter(Batches<Analysed, ()>);

impl TermWriter {
    /// Starts the writer. Must be called on a runtime.
    pub fn start(store: Docstore, supervisor: &Supervisor) -> Self {
        Self(Batches::start("term_writer", supervisor, move |analysed: Vec<Analysed>| {
            let store = store.clone();
            async move {
                let replies = vec![(); analysed.len()];
                store_terms(&store, analysed).await;
                Ok(replies)
            }
        }))
    }

    /// Stores the terms of a document soon. Drops them while too many wait: the next search computes them again.
    pub fn offer(&self, document: &Arc<RankedDocument>, loaded: &LoadedDocument) {
        if are_of_beginning(&document.terms) {
            self.0.offer((Arc::clone(document), TextBeside::of(&loaded.document).key()));
        }
    }
}

/// Returns true for terms that are stored: those of the beginning, however much of a content a search read.
fn are_of_beginning(terms: &TermVector) -> bool {
    terms.is_within(STORED_BYTES) && terms.covers(STORED_BYTES)
}

async fn store_terms(store: &Docstore, analysed: Vec<Analysed>) {
    let encoding = tokio::task::spawn_blocking(move || {
        let row = |(document, text_key): &Analysed| {
            terms::row(document.doc_id(), document.state.capture_id, *text_key, &document.terms)
        };
        analysed.iter().map(row).collect()
    });
    // The process is shutting down.
    let Ok(rows) = encoding.await else { return };
    if let Err(error) = store.store_term_vectors(rows).await {
        terms::report_unstored(&error);
    }
}

#[cfg(test)]
mod tests {
    use retrieval_core::analysis::Analyzers;
    use retrieval_core::passages::{PassageSpan, split};
    use retrieval_core::rerank::DocumentText;

    use super::*;

    #[test]
    fn terms_of_the_beginning_are_stored_neither_more_nor_less() {
        let content = "The pump moves water every day of the year.\n\n".repeat(4_000);
        let spans = split(&content);
        let are_stored = |bytes: usize| {
            let passages: Vec<PassageSpan> = spans.iter().take_while(|span| span.bytes.end <= bytes).cloned().collect();
            let end = passages.last().map_or(0, |span| span.bytes.end);
            let text = DocumentText { content: &content[..end], passages: &passages, ..DocumentText::default() };
            are_of_beginning(&TermVector::of_prefix(&text, content.len(), bytes, &mut Analyzers::default()))
        };
        assert_eq!([16 << 10, STORED_BYTES, 128 << 10].map(are_stored), [false, true, false]);
        let short = DocumentText { content: "A pump.", ..DocumentText::default() };
        assert!(are_of_beginning(&TermVector::of(&short, STORED_BYTES, &mut Analyzers::default())));
    }
}
