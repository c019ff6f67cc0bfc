//! Term vectors of the documents of a batch: computed and stored while the next documents are read.
//!
//! Searches compute the vectors that are missing, so a failure here is logged and delays nothing.

use std::collections::HashMap;

use docstore::{Capture, Docstore, Document, Passage, StoreError, StoredTermVector};
use model::{CaptureId, DocId};
use retrieval_core::analysis::Analyzers;
use retrieval_core::passages::PassageSpan;
use retrieval_core::rerank::{DocumentText, TermVector};
use tokio::task::JoinHandle;

use crate::prepare;
use crate::terms::{self, Beginning, STORED_BYTES, TextBeside};

/// Term vectors to compute and to store.
pub struct Terms {
    store: Docstore,
    /// States of the stored vectors of the documents that were read last.
    stored: HashMap<DocId, (CaptureId, i64)>,
    texts: Vec<Text>,
    storing: Option<JoinHandle<()>>,
}

/// Document to analyse.
struct Text {
    document: Document,
    capture_id: CaptureId,
    beginning: Beginning,
    /// The beginning of the content.
    content: String,
    /// Length of the whole content.
    content_bytes: usize,
}

impl Terms {
    pub fn new(store: Docstore) -> Self {
        Self { store, stored: HashMap::new(), texts: Vec::new(), storing: None }
    }

    /// Looks up which of the documents have a stored vector. If that fails, all are computed.
    pub async fn look_up(&mut self, documents: &[(Document, Capture)]) {
        let doc_ids = documents.iter().map(|(document, _)| document.doc_id).collect();
        let states = match self.store.find_term_vector_states(doc_ids, terms::VERSION).await {
            Ok(states) => states,
            Err(error) => {
                terms::report_unstored(&error);
                Vec::new()
            }
        };
        self.stored = states.into_iter().map(|state| (state.doc_id, (state.capture_id, state.text_key))).collect();
    }

    /// Adds a document with its whole content, unless the stored vector fits.
    pub fn add(&mut self, document: &Document, capture: &Capture) {
        let state = (capture.capture_id, TextBeside::of(document).key());
        if self.stored.get(&document.doc_id) == Some(&state) {
            return;
        }
        let beginning = Beginning::of(capture);
        self.texts.push(Text {
            document: document.clone(),
            capture_id: capture.capture_id,
            beginning,
            content: capture.content[..beginning.byte_end].to_owned(),
            content_bytes: capture.content.len(),
        });
    }

    /// Starts to store the vectors of the added documents, once those before them are stored.
    pub async fn store(&mut self) {
        if self.texts.is_empty() {
            return;
        }
        self.finish().await;
        let (store, texts) = (self.store.clone(), std::mem::take(&mut self.texts));
        self.storing = Some(tokio::spawn(async move {
            if let Err(error) = store_vectors(&store, texts).await {
                terms::report_unstored(&error);
            }
        }));
    }

    /// Waits until all are stored.
    pub async fn finish(&mut self) {
        if let Some(storing) = self.storing.take() {
            // It does not panic, and is never aborted.
            let _ = storing.await;
        }
    }
}

async fn store_vectors(store: &Docstore, texts: Vec<Text>) -> Result<(), StoreError> {
    let wanted = texts.iter().map(|text| (text.capture_id, text.beginning.passages)).collect();
    let passages = store.list_leading_passages(wanted).await?;
    let computing = tokio::task::spawn_blocking(move || compute(&texts, &passages));
    let rows = computing.await.map_err(|error| StoreError::Interrupted(Box::new(error)))?;
    store.store_term_vectors(rows).await
}

fn compute(texts: &[Text], passages: &[Passage]) -> Vec<StoredTermVector> {
    let mut spans: HashMap<CaptureId, Vec<PassageSpan>> = HashMap::with_capacity(texts.len());
    for passage in passages {
        spans.entry(passage.capture_id).or_default().push(prepare::ranked_span(passage));
    }
    let mut analyzers = Analyzers::default();
    let vector = |text: &Text| {
        let passages = spans.get(&text.capture_id).map_or(&[][..], Vec::as_slice);
        let beside = TextBeside::of(&text.document);
        let document = DocumentText { content: &text.content, passages, ..beside.text() };
        let vector = TermVector::of_prefix(&document, text.content_bytes, STORED_BYTES, &mut analyzers);
        terms::row(text.document.doc_id, text.capture_id, beside.key(), &vector)
    };
    texts.iter().map(vector).collect()
}
