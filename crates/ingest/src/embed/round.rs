//! One round of embedding: the missing texts of some documents, and the vectors that result.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use docstore::{Capture, Docstore, Document, EmbeddingProgress, NewVectors, PassageVector, StoreError};
use model::{Clock, DocId, Timestamp};
use models::ModelError;
use models::embedding::Embedder;
use tokio::time::Instant;
use uuid::Uuid;

use super::call_size::CallSize;
use super::calls::{self, Called};
use super::document::{self, ToEmbed};
use super::heartbeat::with_heartbeat;
use super::text_set::{Key, TextSet};

/// Texts embedded per round, after which the vectors are stored. A crash loses no more. Rejected texts do not count: a document
/// whose first ones are all rejected would never get beyond them.
const TEXTS_PER_ROUND: usize = 256;
/// Texts of a round's documents, known ones included, after which it takes no further document: all are in memory.
const MAX_GATHERED: usize = 4_096;
/// Time after which a round begins no further call. A text that the model rejects takes up to a minute, and other organizations would
/// wait hours for a document of such texts.
const ROUND_TIME: Duration = Duration::from_mins(1);
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
    /// Number of the first documents that were reached, up to the one with the last call.
    pub reached: usize,
    /// Documents that need no vectors: they were removed, or embedded before.
    pub settled: Vec<DocId>,
    /// Texts that the model embedded.
    pub texts: usize,
    /// Texts that the model rejected.
    pub rejected: usize,
    /// Number of documents whose attempt ended: they are embedded, or wait for the next attempt.
    pub ended: usize,
    /// Failure of the model that ended the round early.
    pub failure: Option<ModelError>,
}

impl Round {
    /// Returns true if an equal round would follow.
    pub fn is_stuck(&self) -> bool {
        self.texts == 0 && self.rejected == 0 && self.ended == 0
    }
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
    /// Rejected texts of documents whose attempt takes further rounds, which count them as rejected.
    rejected: TextSet,
    /// Texts after whose calls the model was unavailable. Each is called by itself until it is embedded.
    suspects: TextSet,
    /// Time after which a round ends, once it has called the model.
    pub round_time: Duration,
}

/// Vectors of texts; `None` for rejected ones.
type Embedded = HashMap<Key, Option<Box<[i8]>>>;

/// Text to embed.
struct Wanted {
    key: Key,
    text: String,
    /// Number of the round's documents up to the first one with this text.
    reached: usize,
}

impl Embedding {
    pub fn new(store: Docstore, embedder: Arc<dyn Embedder>, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            embedder,
            clock,
            owner: Uuid::new_v4().to_string(),
            call_size: CallSize::default(),
            rejected: TextSet::default(),
            suspects: TextSet::default(),
            round_time: ROUND_TIME,
        }
    }

    pub fn model(&self) -> String {
        self.embedder.version().to_owned()
    }

    /// Embeds texts of the documents, and stores their vectors. Documents with many texts take several rounds.
    pub async fn round(&self, tasks: &[Task]) -> Result<Round, StoreError> {
        let mut round = Round::default();
        let mut documents: Vec<(Task, ToEmbed)> = Vec::new();
        let mut texts: Vec<Wanted> = Vec::new();
        let mut embedded = Embedded::new();
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
                if document.known.contains_key(&text.digest) {
                    continue;
                }
                if self.rejected.contains(&key) {
                    embedded.insert(key, None);
                } else if wanted.insert(key) {
                    texts.push(Wanted { key, text: text.text.clone(), reached: round.reached });
                }
            }
            documents.push((*task, document));
        }
        self.embed(texts, &mut embedded, &mut round).await?;
        self.store_round(documents, &embedded, &mut round).await?;
        Ok(round)
    }

    /// Calls the model until the texts of a round are embedded, it fails, or the time is over.
    async fn embed(
        &self,
        mut texts: Vec<Wanted>,
        embedded: &mut Embedded,
        round: &mut Round,
    ) -> Result<(), StoreError> {
        // The answer to a text above suspicion tells, as a probe would, that the model is there for the suspects.
        if let Some(first) = texts.iter().position(|wanted| !self.suspects.contains(&wanted.key)) {
            texts[..=first].rotate_right(1);
        }
        let deadline = Instant::now() + self.round_time;
        let (mut called, mut has_answered) = (0, false);
        while called < texts.len() && round.texts < TEXTS_PER_ROUND && Instant::now() < deadline {
            let (batch, is_suspect) = self.next_batch(&texts[called..], TEXTS_PER_ROUND - round.texts);
            let is_probed = is_suspect && !has_answered;
            let Called { mut vectors, lost, reached, unavailable } =
                self.leased(self.call(batch, is_probed, deadline)).await?;
            if is_suspect {
                // The model answered before this text, and twice not after it. Otherwise the text would end it in each round.
                vectors.extend(lost.iter().map(|text| (*text, None)));
            }
            lost.iter().for_each(|text| self.suspects.insert(batch[*text].key));
            has_answered = vectors.last().is_some_and(|(_, vector)| vector.is_some());
            let count = vectors.iter().filter(|(_, vector)| vector.is_some()).count();
            count_texts(count);
            round.texts += count;
            round.rejected += vectors.len() - count;
            for (text, vector) in vectors {
                let key = batch[text].key;
                match vector {
                    Some(_) => self.suspects.remove(&key),
                    None => self.rejected.insert(key),
                }
                embedded.insert(key, vector);
            }
            called += reached;
            if let Some(error) = unavailable {
                count_failures(UNAVAILABLE, 1);
                round.failure = Some(error);
                break;
            }
        }
        if called < texts.len()
            && let Some(last) = texts.get(called.saturating_sub(1))
        {
            round.reached = last.reached;
        }
        Ok(())
    }

    /// Returns the texts of the next call: a suspect alone, or others up to the next suspect. The flag is true for a suspect.
    fn next_batch<'a>(&self, texts: &'a [Wanted], limit: usize) -> (&'a [Wanted], bool) {
        let most = texts.iter().take(self.call_size.texts().min(limit));
        let count = most.take_while(|wanted| !self.suspects.contains(&wanted.key)).count();
        (&texts[..count.max(1)], count == 0)
    }

    /// Calls the model for some texts; if `is_probed`, only after a probe that succeeds.
    async fn call(&self, batch: &[Wanted], is_probed: bool, deadline: Instant) -> Called {
        let embedder = self.embedder.as_ref();
        if is_probed && let Err(error) = calls::probe(embedder).await {
            return Called { reached: 1, unavailable: Some(error), ..Called::default() };
        }
        let texts: Vec<String> = batch.iter().map(|wanted| wanted.text.clone()).collect();
        calls::embed(embedder, &texts, &self.call_size, Some(deadline)).await
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
            let goes_on = matches!(progress, EmbeddingProgress::Partial { attempts, .. } if attempts == task.attempts);
            if !goes_on {
                round.ended += 1;
                // The next attempt calls the model for them again.
                document.texts.iter().for_each(|text| self.rejected.remove(&(document.owner, text.digest)));
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
