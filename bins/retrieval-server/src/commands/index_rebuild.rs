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
    for index in indexes {
        let progress = ProgressBar::new_spinner();
        progress.set_message(format!("{}: queueing", index.as_str()));
        let documents = store.enqueue_rebuild(index, store.clock().now()).await?;
        catch_up(settings, &store, index, &progress).await?;
        progress.finish_and_clear();
        output::json(&json!({ "index": index.as_str(), "documents": documents }));
    }
    Ok(())
}
