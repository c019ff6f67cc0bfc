//! Extractor with slow and refused documents.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use extract::{ExtractError, ExtractErrorKind, ExtractRequest, Extracted};
use extract_worker::{Extractor, InProcess, Input, Lane, Turn, WorkError};
use tokio::sync::{Semaphore, mpsc};

use crate::faulty::Gate;

/// Reader of documents. Those whose name begins with "slow" end with a timeout, once released.
pub struct SlowExtractor {
    /// Name of each document whose reading begins.
    pub begun: mpsc::UnboundedSender<String>,
    /// Name of each slow document whose reading ends, in whatever way.
    pub ended: mpsc::UnboundedSender<String>,
    /// Releases slow documents.
    pub release: Semaphore,
    /// Slow files of runs are postponed, as others wait.
    pub is_contended: bool,
    /// Holds up all documents.
    pub gate: Mutex<Option<Arc<Gate>>>,
    /// Outcomes of the next documents.
    pub refusals: Mutex<VecDeque<WorkError>>,
}

impl SlowExtractor {
    /// Returns an extractor, the documents that it begins, and the slow ones that it ends.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<String>, mpsc::UnboundedReceiver<String>) {
        let ((begun, begins), (ended, ends)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let (release, gate, refusals) = (Semaphore::new(0), Mutex::default(), Mutex::default());
        (Self { begun, ended, release, is_contended: true, gate, refusals }, begins, ends)
    }
}

/// Reports the end of a reading, also of one that is dropped.
struct Ended(mpsc::UnboundedSender<String>, String);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.send(std::mem::take(&mut self.1));
    }
}

#[async_trait]
impl Extractor for SlowExtractor {
    async fn extract(&self, turn: &Turn, request: ExtractRequest, input: Input) -> Result<Extracted, WorkError> {
        let name = request.name.clone();
        let _ = self.begun.send(name.clone());
        Gate::pass(&self.gate).await;
        if let Some(refusal) = self.refusals.lock().unwrap().pop_front() {
            return Err(refusal);
        }
        if !name.starts_with("slow") {
            return InProcess.extract(turn, request, input).await;
        }
        if turn.lane == Lane::Runs && self.is_contended {
            return Err(WorkError::Postponed);
        }
        let _ended = Ended(self.ended.clone(), name);
        let _ = self.release.acquire().await;
        Err(ExtractError::new(ExtractErrorKind::TimedOut, "over 60 seconds").into())
    }
}
