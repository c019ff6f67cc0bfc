//! An index made anew from the docstore.

use docstore::{Docstore, Result};
use engine::IndexName;

use crate::clock::now_ms;

const PAGE: i64 = 5_000;

/// Queues every document that belongs into the index; `progress` hears of each page's length. The index
/// itself is cleared by the caller. Returns how many documents were queued.
pub async fn queue_all(store: &Docstore, index: IndexName, mut progress: impl FnMut(usize)) -> Result<usize> {
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
