//! Notifications about runs that this process executes. Readers elsewhere poll the database.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::ResearchId;
use tokio::sync::watch;

/// Readers of runs.
#[derive(Default)]
pub struct Changes(Mutex<HashMap<ResearchId, watch::Sender<()>>>);

impl Changes {
    /// Returns a receiver that is notified of every change from now on.
    pub fn subscribe(&self, research_id: ResearchId) -> watch::Receiver<()> {
        let mut readers = self.lock();
        readers.retain(|_, sender| sender.receiver_count() > 0);
        readers.entry(research_id).or_default().subscribe()
    }

    pub fn notify(&self, research_id: ResearchId) {
        if let Some(sender) = self.lock().get(&research_id) {
            sender.send_replace(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ResearchId, watch::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
