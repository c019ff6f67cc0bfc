//! An index made anew from the docstore.

use docstore::{Docstore, Result};
use engine::IndexName;

use crate::clock::now_ms;
use crate::feeder::CLEAR_INDEX;

const PAGE: i64 = 5_000;

/// Queues the emptying of the index and then every document that belongs into it; `progress` hears of each
/// page's length. Whoever feeds the index does the work, the running server or the caller. Returns how
/// many documents were queued.
pub async fn queue_all(store: &Docstore, index: IndexName, mut progress: impl FnMut(usize)) -> Result<usize> {
    store.enqueue_documents(index.as_str().to_owned(), vec![CLEAR_INDEX], now_ms()).await?;
    let mut queued = 0;
    let mut after = None;
    loop {
        let page = store.list_indexable_documents(index == IndexName::Workspace, after, PAGE).await?;
        let Some(last) = page.last().copied() else { return Ok(queued) };
        queued += page.len();
        progress(page.len());
        after = Some(last);
        store.enqueue_documents(index.as_str().to_owned(), page, now_ms()).await?;
    }
}
