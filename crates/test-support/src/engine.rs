use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use engine::memory::MemoryEngine;
use engine::{
    Change, EngineError, EngineErrorKind, FirstStageRequest, FirstStageResponse, SearchEngine, SemanticHit,
    SemanticRequest,
};
use model::{Generation, IndexName};
use tokio::sync::watch;

/// The memory engine, which a test can break, hold back and inspect.
#[derive(Default)]
pub struct TestEngine {
    inner: MemoryEngine,
    fault: Mutex<Option<EngineFault>>,
    held: watch::Sender<Held>,
    /// True if searches by meaning wait.
    holds_semantic: watch::Sender<bool>,
    arrived: watch::Sender<usize>,
    requests: Mutex<Vec<FirstStageRequest>>,
    matches_words_apart: AtomicBool,
    verifies_phrases: AtomicBool,
    /// Counts of documents that will lack one.
    short_counts: AtomicUsize,
}

/// Searches that wait.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Held {
    #[default]
    None,
    Index(IndexName),
    /// Those after this many searches, counted from the start of the engine.
    After(usize),
    All,
}

impl Held {
    /// Returns true if the search with this number, from 1, waits.
    fn holds(self, index: IndexName, number: usize) -> bool {
        match self {
            Held::None => false,
            Held::Index(held) => held == index,
            Held::After(count) => number > count,
            Held::All => true,
        }
    }
}

/// Outcome of searches and pings of a broken engine. Changes are applied all the same.
#[derive(Clone, Copy, Debug)]
pub enum EngineFault {
    /// An error of this kind with the message `disk 7 is on fire`.
    Error(EngineErrorKind),
    /// A panic with the same message.
    Panic,
}

impl TestEngine {
    pub fn fail(&self, fault: EngineFault) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }

    pub fn recover(&self) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// From now on searches wait for [`release`](Self::release).
    pub fn hold(&self) {
        self.held.send_replace(Held::All);
    }

    /// From now on searches of one index wait for [`release`](Self::release).
    pub fn hold_index(&self, index: IndexName) {
        self.held.send_replace(Held::Index(index));
    }

    /// The next `count` searches do not wait, and those after them wait for [`release`](Self::release).
    pub fn hold_after(&self, count: usize) {
        let arrived = *self.arrived.borrow();
        self.held.send_replace(Held::After(arrived + count));
    }

    /// From now on searches by meaning wait for [`release`](Self::release), and those by words do not.
    pub fn hold_semantic(&self) {
        self.holds_semantic.send_replace(true);
    }

    pub fn release(&self) {
        self.held.send_replace(Held::None);
        self.holds_semantic.send_replace(false);
    }

    /// From now on phrases match documents that contain any of their words, as by collisions in an index of pairs of words.
    pub fn match_words_apart(&self) {
        self.matches_words_apart.store(true, Ordering::Relaxed);
    }

    /// From now on the engine is trusted to have compared whole phrases.
    pub fn verify_phrases(&self) {
        self.verifies_phrases.store(true, Ordering::Relaxed);
    }

    /// The next `counts` counts of documents lack one, as before its change has arrived.
    pub fn count_short(&self, counts: usize) {
        self.short_counts.store(counts, Ordering::Relaxed);
    }

    /// Returns once `count` searches have reached the engine, counted from its start.
    pub async fn reached(&self, count: usize) {
        self.arrived.subscribe().wait_for(|arrived| *arrived >= count).await.unwrap();
    }

    /// All searches so far.
    pub fn requests(&self) -> Vec<FirstStageRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn check(&self) -> Result<(), EngineError> {
        let fault = *self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        match fault {
            None => Ok(()),
            Some(EngineFault::Error(kind)) => Err(EngineError::new(kind, "disk 7 is on fire")),
            Some(EngineFault::Panic) => panic!("disk 7 is on fire"),
        }
    }
}

#[async_trait]
impl SearchEngine for TestEngine {
    async fn first_stage(&self, request: &FirstStageRequest) -> Result<FirstStageResponse, EngineError> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let mut number = 0;
        self.arrived.send_modify(|arrived| {
            *arrived += 1;
            number = *arrived;
        });
        // The sender lives as long as this value.
        let index = request.collection.index();
        let _ = self.held.subscribe().wait_for(|held| !held.holds(index, number)).await;
        self.check()?;
        let exact_phrase = request.exact_phrase && !self.matches_words_apart.load(Ordering::Relaxed);
        self.inner.first_stage(&FirstStageRequest { exact_phrase, ..request.clone() }).await
    }

    fn verifies_phrases(&self) -> bool {
        self.verifies_phrases.load(Ordering::Relaxed) || self.inner.verifies_phrases()
    }

    async fn semantic(&self, request: &SemanticRequest) -> Result<Vec<SemanticHit>, EngineError> {
        let _ = self.holds_semantic.subscribe().wait_for(|holds| !holds).await;
        self.inner.semantic(request).await
    }

    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), EngineError> {
        self.inner.apply(index, changes).await
    }

    async fn clear(&self, index: IndexName) -> Result<(), EngineError> {
        self.inner.clear(index).await
    }

    async fn document_count(&self, index: IndexName) -> Result<u64, EngineError> {
        let short = self.short_counts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        Ok(self.inner.document_count(index).await?.saturating_sub(u64::from(short.is_ok())))
    }

    async fn ping(&self) -> Result<(), EngineError> {
        self.check()
    }

    async fn needs_rebuild(&self) -> Result<Vec<IndexName>, EngineError> {
        self.inner.needs_rebuild().await
    }

    async fn generation(&self, index: IndexName) -> Result<Option<Generation>, EngineError> {
        self.inner.generation(index).await
    }

    async fn set_generation(&self, index: IndexName, generation: Generation) -> Result<(), EngineError> {
        self.inner.set_generation(index, generation).await
    }

    async fn mark_rebuilt(&self, indexes: &[IndexName]) -> Result<(), EngineError> {
        self.inner.mark_rebuilt(indexes).await
    }
}
