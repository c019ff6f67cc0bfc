//! An index made anew from the docstore.

use docstore::{Docstore, Result};
use model::{Clock, IndexName};

const PAGE: i64 = 5_000;

/// Queues the emptying of the index and then every document that belongs into it; `progress` hears of each
/// page's length. Whoever feeds the index does the work, the running server or the caller. Returns how
/// many documents were queued.
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
