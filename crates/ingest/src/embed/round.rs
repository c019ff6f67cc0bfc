//! One round of embedding: the missing texts of some documents, and the vectors that result.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use docstore::{Capture, Docstore, Document, EmbeddingProgress, NewVectors, PassageVector, StoreError};
use model::{Clock, DocId, OrganizationId, Timestamp};
use models::ModelError;
use models::embedding::Embedder;
use uuid::Uuid;

use super::call_size::CallSize;
use super::calls::{self, Called};
use super::document::{self, ToEmbed};
use super::heartbeat::with_heartbeat;
use super::text::TextDigest;

/// Texts embedded per round, after which the vectors are stored. A crash loses no more. Rejected texts do not count: a document
/// whose first ones are all rejected would never get beyond them.
const TEXTS_PER_ROUND: usize = 256;
/// Texts of a round's documents, known ones included, after which it takes no further document: all are in memory.
const MAX_GATHERED: usize = 4_096;
/// Lease of the jobs, extended before each call and while it lasts.
pub const LEASE: Duration = Duration::from_mins(3);
/// Attempts to embed a text that the model rejects.
pub const ATTEMPTS: i32 = 3;
/// Pause after the first attempt that rejected a text. Later ones are longer.
const REJECTED_PAUSE: Duration = Duration::from_mins(1);

#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("embedding passages failed")]
    Model(#[from] ModelError),
}

/// Document to embed.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub doc_id: DocId,
    /// Attempts so far at which the model rejected a text.
    pub attempts: i32,
}

/// Result of a round.
#[derive(Debug, Default)]
pub struct Round {
    /// Documents that are embedded.
    pub embedded: Vec<DocId>,
    /// Number of the first documents that were reached.
    pub reached: usize,
    /// Documents that need no vectors: they were removed, or embedded before.
    pub settled: Vec<DocId>,
    /// Texts that the model embedded.
    pub texts: usize,
    /// Failure of the model that ended the round early.
    pub failure: Option<ModelError>,
}

/// Embeds documents with one model.
#[derive(Clone)]
pub struct Embedding {
    pub store: Docstore,
    pub embedder: Arc<dyn Embedder>,
    pub clock: Arc<dyn Clock>,
    /// Name of this process in leases.
    pub owner: String,
    pub call_size: CallSize,
}

/// Texts are shared between documents of one owner only.
type Key = (Option<OrganizationId>, TextDigest);

/// Vectors of texts; `None` for rejected ones.
type Embedded = HashMap<Key, Option<Box<[i8]>>>;

impl Embedding {
    pub fn new(store: Docstore, embedder: Arc<dyn Embedder>, clock: Arc<dyn Clock>) -> Self {
        Self { store, embedder, clock, owner: Uuid::new_v4().to_string(), call_size: CallSize::default() }
    }

    pub fn model(&self) -> String {
        self.embedder.version().to_owned()
    }

    /// Embeds texts of the documents, and stores their vectors. Documents with many texts take several rounds.
    pub async fn round(&self, tasks: &[Task]) -> Result<Round, StoreError> {
        let mut round = Round::default();
        let mut documents: Vec<(Task, ToEmbed)> = Vec::new();
        let mut texts: Vec<(Key, String)> = Vec::new();
        let loaded = self.store.load_for_indexing(tasks.iter().map(|task| task.doc_id).collect()).await?;
        let mut loaded: HashMap<DocId, (Document, Capture)> =
            loaded.into_iter().map(|(document, capture)| (document.doc_id, (document, capture))).collect();
        let mut wanted: HashSet<Key> = HashSet::new();
        let mut gathered = 0;
        for task in tasks {
            if texts.len() >= TEXTS_PER_ROUND || gathered >= MAX_GATHERED {
                break;
            }
            round.reached += 1;
            let Some((document, capture)) = loaded.remove(&task.doc_id) else {
                round.settled.push(task.doc_id);
                continue;
            };
            let dimensions = self.embedder.dimensions();
            let document = document::load(&self.store, self.embedder.version(), dimensions, document, capture).await?;
            if document.is_embedded {
                round.settled.push(task.doc_id);
                continue;
            }
            gathered += document.texts.len();
            for text in &document.texts {
                let key = (document.owner, text.digest);
                let is_missing = !document.known.contains_key(&text.digest);
                if is_missing && wanted.insert(key) {
                    texts.push((key, text.text.clone()));
                }
            }
            documents.push((*task, document));
        }
        let embedded = self.embed(texts, &mut round).await?;
        self.store_round(documents, &embedded, &mut round).await?;
        Ok(round)
    }

    /// Calls the model until the texts of a round are embedded or it fails.
    async fn embed(&self, texts: Vec<(Key, String)>, round: &mut Round) -> Result<Embedded, StoreError> {
        let mut embedded = Embedded::new();
        let mut rest = texts.as_slice();
        while !rest.is_empty() && round.texts < TEXTS_PER_ROUND {
            let count = self.call_size.texts().min(TEXTS_PER_ROUND - round.texts);
            let (batch, later) = rest.split_at(count.min(rest.len()));
            rest = later;
            let batch_texts: Vec<String> = batch.iter().map(|(_, text)| text.clone()).collect();
            let calling = calls::embed(self.embedder.as_ref(), &batch_texts, &self.call_size);
            let Called { vectors, unavailable } = self.leased(calling).await?;
            let count = vectors.iter().filter(|(_, vector)| vector.is_some()).count();
            count_texts(count);
            round.texts += count;
            embedded.extend(vectors.into_iter().map(|(text, vector)| (batch[text].0, vector)));
            if let Some(error) = unavailable {
                count_failures(UNAVAILABLE, 1);
                round.failure = Some(error);
                break;
            }
        }
        Ok(embedded)
    }

    /// Extends the leases before the work and while it lasts: a slow model may take longer than one lease.
    async fn leased<T>(&self, work: impl Future<Output = T>) -> Result<T, StoreError> {
        self.extend_leases().await?;
        let extend = || async {
            // If the failure lasts, another process takes the jobs over.
            if let Err(error) = self.extend_leases().await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "extending leases of documents to embed failed"
                );
            }
        };
        Ok(with_heartbeat(LEASE / 3, extend, work).await)
    }

    async fn extend_leases(&self) -> Result<(), StoreError> {
        self.store.extend_embedding_leases(self.owner.clone(), self.clock.now() + LEASE).await
    }

    /// Stores the vectors of the documents, those of unfinished ones for the next round.
    async fn store_round(
        &self,
        documents: Vec<(Task, ToEmbed)>,
        embedded: &Embedded,
        round: &mut Round,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let dimensions = embedded.values().flatten().next().map(|codes| codes.len()).or(self.embedder.dimensions());
        let mut new = Vec::with_capacity(documents.len());
        for (task, document) in documents {
            let (vectors, progress) = assemble(task, &document, embedded, dimensions, now);
            if progress == EmbeddingProgress::Complete {
                round.embedded.push(task.doc_id);
            }
            let ToEmbed { doc_id, title, capture_id, content_digest, .. } = document;
            new.push(NewVectors { doc_id, title, capture_id, content_digest, passages: vectors, progress });
        }
        if !new.is_empty() {
            self.store.store_vectors(self.model(), new, self.owner.clone(), now).await?;
        }
        Ok(())
    }
}

/// Returns the vectors of a document and the state of its job.
fn assemble(
    task: Task,
    document: &ToEmbed,
    embedded: &Embedded,
    dimensions: Option<usize>,
    now: Timestamp,
) -> (Vec<PassageVector>, EmbeddingProgress) {
    let (mut missing, mut rejected) = (0, 0);
    let mut passages = Vec::with_capacity(document.texts.len());
    for text in &document.texts {
        let codes = match (document.known.get(&text.digest), embedded.get(&(document.owner, text.digest))) {
            (Some(codes), _) | (None, Some(Some(codes))) => Some(codes),
            (None, Some(None)) => {
                rejected += 1;
                continue;
            }
            (None, None) => None,
        };
        // Those of another length are from before a change of the model that its version does not tell.
        match codes.filter(|codes| dimensions.is_none_or(|dimensions| codes.len() == dimensions)) {
            Some(codes) => {
                passages.push(PassageVector { ordinal: text.ordinal, digest: text.digest, codes: codes.clone() });
            }
            None => missing += 1,
        }
    }
    let attempts = task.attempts + 1;
    let progress = if missing > 0 {
        EmbeddingProgress::Partial { attempts: task.attempts, not_before: now }
    } else if rejected > 0 && attempts < ATTEMPTS {
        let not_before = now + REJECTED_PAUSE * attempts.unsigned_abs().pow(2);
        EmbeddingProgress::Partial { attempts, not_before }
    } else {
        if rejected > 0 {
            count_failures(REJECTED, rejected);
            tracing::warn!(doc_id = %task.doc_id, passages = rejected, "the model rejected passages, which get no vectors");
        }
        EmbeddingProgress::Complete
    };
    (passages, progress)
}

const UNAVAILABLE: &str = "unavailable";
const REJECTED: &str = "rejected";

/// Makes the counters known to the first scrape.
pub fn register_metrics() {
    count_texts(0);
    [UNAVAILABLE, REJECTED].into_iter().for_each(|reason| count_failures(reason, 0));
}

fn count_texts(texts: usize) {
    metrics::counter!("retrieval_embedded_passages_total").increment(texts as u64);
}

fn count_failures(reason: &'static str, failures: u64) {
    metrics::counter!("retrieval_embedding_failures_total", "reason" => reason).increment(failures);
}
