//! Waiting until an index contains a command's changes, whichever process feeds it.

use std::time::Duration;

use docstore::Docstore;
use indicatif::ProgressBar;
use ingest::feeder::{self, FeedError};
use model::IndexName;
use settings::Settings;

use crate::compose::{self, OpenedIndex};

/// Interval of checking whether the server that owns the index still runs.
const OWNER_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of progress messages while this process feeds the index.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// Returns once every present outbox entry has reached the index.
///
/// The embedded index belongs to one process. A running server feeds it; without one, or if that server ends meanwhile,
/// this process does.
pub async fn catch_up(
    settings: &Settings,
    store: &Docstore,
    index: IndexName,
    progress: &ProgressBar,
) -> anyhow::Result<()> {
    let Some((_, newest)) = store.outbox_bounds(index).await? else { return Ok(()) };
    loop {
        match compose::index(settings, store).await? {
            OpenedIndex::Disabled => return Ok(()),
            OpenedIndex::Open(opened) => {
                opened.feeder.restore().await?;
                let draining = opened.feeder.drain(index);
                tokio::pin!(draining);
                loop {
                    tokio::select! {
                        drained = &mut draining => {
                            drained?;
                            break;
                        }
                        () = tokio::time::sleep(PROGRESS_INTERVAL) => show_backlog(store, index, progress).await?,
                    }
                }
                // Another instance that shares the outbox may hold the lease and drain the rest.
                opened.feeder.wait_until_indexed(index, newest, Duration::from_secs(600)).await?;
                return Ok(());
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
    let backlog = store.count_outbox(index).await?;
    progress.set_message(format!("{backlog} documents to index"));
    Ok(())
}
