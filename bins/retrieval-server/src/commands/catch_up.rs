//! Waiting until an index holds what a command wrote, whoever feeds it.

use std::time::Duration;

use docstore::Docstore;
use indicatif::ProgressBar;
use ingest::feeder::{self, FeedError};
use model::IndexName;
use settings::Settings;

use crate::compose::{self, OpenedIndex};

/// How long to watch before asking whether the server that owns the index is still there.
const WATCH: Duration = Duration::from_secs(1);

/// Returns once every entry of the outbox that is there now has reached the index.
///
/// The embedded index belongs to one process: where no server runs, it is fed here; where one runs, it does
/// the work, and should it end meanwhile, we go on in its place.
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
                        () = tokio::time::sleep(WATCH / 4) => show(store, index, progress).await?,
                    }
                }
                // Another process that shares the outbox may have had its turn; then the rest is its work.
                opened.feeder.wait_until_indexed(index, newest, Duration::from_secs(600)).await?;
                return Ok(());
            }
            OpenedIndex::OwnedElsewhere => {
                match feeder::wait_until_indexed(store, index, newest, WATCH).await {
                    Err(FeedError::Timeout(_)) => {}
                    outcome => return Ok(outcome?),
                }
                show(store, index, progress).await?;
            }
        }
    }
}

async fn show(store: &Docstore, index: IndexName, progress: &ProgressBar) -> anyhow::Result<()> {
    let waiting = store.count_outbox(index).await?;
    progress.set_message(format!("{waiting} documents wait for the index"));
    Ok(())
}
