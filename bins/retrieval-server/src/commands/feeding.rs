//! Feeding of the index by a command while it works.

use docstore::Docstore;
use settings::Settings;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::compose::OpenedIndex;
use crate::index_use;

/// Feeds the index until `stop`, or until a server claims it. `None` if a server owns the index already, or if there is none.
pub async fn start(
    settings: &Settings,
    store: &Docstore,
    stop: &CancellationToken,
) -> anyhow::Result<Option<JoinHandle<()>>> {
    let OpenedIndex::Open(index) = index_use::open(settings, store).await? else { return Ok(None) };
    let (settings, store, stop) = (settings.clone(), store.clone(), stop.child_token());
    Ok(Some(tokio::spawn(async move {
        index_use::until_claimed(&settings, &store, &stop, index.feeder.work(stop.clone())).await;
    })))
}
