//! `index rebuild`: rebuilds an index from the database.

use anyhow::bail;
use indicatif::ProgressBar;
use model::IndexName;
use serde_json::json;
use settings::{IndexBackend, Settings};

use super::catch_up::catch_up;
use crate::cli::IndexChoice;
use crate::{data_folder, output};

pub async fn run(choice: Option<IndexChoice>, settings: &Settings) -> anyhow::Result<()> {
    if settings.index.backend == IndexBackend::None {
        bail!("`index.backend` = `none`: there is no index to rebuild");
    }
    let store = data_folder::open_existing(settings).await?;
    let indexes = match choice {
        None => IndexName::ALL.to_vec(),
        Some(IndexChoice::Web) => vec![IndexName::Web],
        Some(IndexChoice::Workspace) => vec![IndexName::Workspace],
    };
    // Before the first one is fed: if both are lost, its feeder queues the other one unless that is queued.
    let mut queued = Vec::with_capacity(indexes.len());
    let progress = ProgressBar::new_spinner();
    for index in indexes {
        progress.set_message(format!("{}: queueing", index.as_str()));
        queued.push((index, store.enqueue_rebuild(index, store.clock().now()).await?));
    }
    progress.finish_and_clear();
    for (index, documents) in queued {
        let progress = ProgressBar::new_spinner();
        catch_up(settings, &store, index, &progress).await?;
        progress.finish_and_clear();
        output::json(&json!({ "index": index.as_str(), "documents": documents }));
    }
    Ok(())
}
