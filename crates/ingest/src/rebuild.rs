//! Rebuild of an index from the docstore.

use docstore::{Docstore, Result};
use model::{Clock, IndexName};

/// Documents per page of the listing.
const PAGE: i64 = 5_000;

/// Queues the clearing of the index and then every document that belongs in it. Returns the number of documents.
///
/// `progress` is called with the length of each page. The process that feeds the index does the work: the running server or
/// the caller.
pub async fn queue_all(
    store: &Docstore,
    index: IndexName,
    clock: &dyn Clock,
    mut progress: impl FnMut(usize),
) -> Result<usize> {
    store.enqueue_clear(index, clock.now()).await?;
    let mut queued = 0;
    let mut after = None;
    loop {
        let page = store.list_indexable_documents(index, after, PAGE).await?;
        let Some(last) = page.last().copied() else { return Ok(queued) };
        queued += page.len();
        progress(page.len());
        after = Some(last);
        store.enqueue_documents(index, page, clock.now()).await?;
    }
}
