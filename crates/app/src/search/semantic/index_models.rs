//! Models whose vectors the indexes have.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use docstore::Docstore;
use model::IndexName;

use super::lookup_pause::LookupPause;

/// Indexes that another server has switched to its model.
pub struct ReplacedIndexes(HashMap<IndexName, State>);

#[derive(Default)]
struct State {
    pause: LookupPause,
    /// Result of the last lookup.
    is_replaced: AtomicBool,
}

impl Default for ReplacedIndexes {
    fn default() -> Self {
        Self(IndexName::ALL.iter().map(|index| (*index, State::default())).collect())
    }
}

impl ReplacedIndexes {
    /// Returns true if the index has the vectors of another model than this one, looked up at most once a second. The change is logged
    /// once. A failure of the docstore is logged, and the last lookup counts.
    pub async fn has(&self, store: &Docstore, index: IndexName, model: &str) -> bool {
        let Some(state) = self.0.get(&index) else { return false };
        if state.pause.is_over() {
            match store.find_index_model(index).await {
                Ok(found) => state.note(index, model, found.model.as_deref()),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the model of an index cannot be read");
                }
            }
        }
        state.is_replaced.load(Ordering::Relaxed)
    }
}

impl State {
    /// An index without a model has no vectors, or none yet.
    fn note(&self, index: IndexName, model: &str, used: Option<&str>) {
        let other = used.filter(|used| *used != model);
        let was_replaced = self.is_replaced.swap(other.is_some(), Ordering::Relaxed);
        if let Some(used) = other.filter(|_| !was_replaced) {
            tracing::warn!(
                index = index.as_str(),
                model,
                used,
                "the index has the vectors of another model, so searches are by words only"
            );
        }
    }
}
