//! Writer of ranked lists.

use docstore::{Docstore, Grant, Search};
use ingest::Supervisor;

use crate::batches::Batches;

/// Ranked lists with the grants of their documents.
pub type SearchRecorder = Batches<(Search, Vec<Grant>), ()>;

/// Starts the writer. Must be called on a runtime.
pub fn start(store: Docstore, supervisor: &Supervisor) -> SearchRecorder {
    Batches::start("recorder", supervisor, move |ended: Vec<(Search, Vec<Grant>)>| {
        let store = store.clone();
        async move {
            let replies = vec![(); ended.len()];
            let (searches, granted): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
            store.record_searches(searches, granted.into_iter().flatten().collect()).await?;
            Ok(replies)
        }
    })
}
