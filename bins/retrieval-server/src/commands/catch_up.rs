//! Waiting until an index contains a command's changes, whichever process feeds it.

use std::time::Duration;

use docstore::Docstore;
use indicatif::ProgressBar;
use ingest::feeder::{self, FeedError};
use model::IndexName;
use settings::Settings;
use tokio_util::sync::CancellationToken;

use crate::compose::OpenedIndex;
use crate::index_use;

/// Interval of checking whether the server that owns the index still runs.
const OWNER_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum time without progress while another process feeds a shared index.
const PATIENCE: Duration = Duration::from_secs(600);

/// Returns once every present outbox entry has reached the index.
///
/// An index is fed by one process at a time: the owner of an embedded one, the holder of the lease of a shared one. Without
/// such a process, or if it ends meanwhile, this one feeds the index. It leaves that to a server that starts.
pub async fn catch_up(
    settings: &Settings,
    store: &Docstore,
    index: IndexName,
    progress: &ProgressBar,
) -> anyhow::Result<()> {
    let Some((_, newest)) = store.outbox_bounds(index).await? else { return Ok(()) };
    loop {
        match index_use::open(settings, store).await? {
            OpenedIndex::Disabled => return Ok(()),
            OpenedIndex::Open(opened) => {
                let show = |backlog| progress.set_message(backlog_message(backlog));
                let stop = CancellationToken::new();
                let feeding = opened.feeder.catch_up(index, newest, PATIENCE, &stop, show);
                let caught_up = index_use::until_claimed(settings, store, &stop, feeding).await;
                opened.feeder.release_leases().await?;
                if caught_up? {
                    return Ok(());
                }
            }
            OpenedIndex::OwnedElsewhere => {
                match feeder::wait_until_indexed(store, index, newest, OWNER_CHECK_INTERVAL).await {
                    Err(FeedError::Timeout(_)) => {}
                    outcome => return Ok(outcome?),
                }
                show_backlog(store, index, progress).await?;
            }
        }
    }
}

async fn show_backlog(store: &Docstore, index: IndexName, progress: &ProgressBar) -> anyhow::Result<()> {
    progress.set_message(backlog_message(store.count_outbox(index).await?));
    Ok(())
}

fn backlog_message(backlog: i64) -> String {
    format!("{backlog} documents to index")
}
