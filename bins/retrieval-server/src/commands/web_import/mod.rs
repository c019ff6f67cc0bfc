//! `web import`: imports pages into the shared web index.

mod input;
mod jsonl;
mod page;
mod pipeline;
mod warc;

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use model::IndexName;
use serde_json::json;
use settings::Settings;
use tokio_util::sync::CancellationToken;

use self::input::Input;
use self::pipeline::{Batches, Report};
use super::catch_up::catch_up;
use crate::cli::Format;
use crate::compose::{self, OpenedIndex};
use crate::{data_folder, output, sandbox};

pub async fn run(file: &Path, format: Option<Format>, settings: &Settings) -> anyhow::Result<()> {
    let input = Input::open(file)?;
    let store = data_folder::open_or_create(settings).await?;
    let free_space = compose::free_space(settings);
    pipeline::require_space(&free_space)?;
    let extractor = sandbox::workers(settings).await?.pool;
    let progress = input.progress_bar();
    let read = {
        let progress = progress.clone();
        // Runs on a blocking thread: even the first byte of a pipe may take long.
        move |mut batches: Batches| {
            let (format, input) = input.detect_format(format, &progress)?;
            match format {
                Format::Jsonl => jsonl::read(input, &mut batches)?,
                Format::Warc => warc::read(input, &mut batches)?,
            }
            batches.finish();
            Ok(())
        }
    };
    let report = match compose::index(settings, &store).await? {
        OpenedIndex::Open(index) => {
            // No server runs, so this process feeds the index while it reads.
            let stop = CancellationToken::new();
            let feeder = Arc::clone(&index.feeder);
            let feeding = tokio::spawn({
                let stop = stop.clone();
                async move { feeder.work(stop).await }
            });
            let report = pipeline::import(read, &store, &extractor, &free_space, &progress).await;
            stop.cancel();
            feeding.await?;
            report?
        }
        OpenedIndex::Disabled | OpenedIndex::OwnedElsewhere => {
            pipeline::import(read, &store, &extractor, &free_space, &progress).await?
        }
    };
    catch_up(settings, &store, IndexName::Web, &progress).await?;
    extractor.shutdown().await;
    progress.finish_and_clear();
    let Report { read, imported, unchanged, failed } = report;
    output::json(&json!({ "read": read, "imported": imported, "unchanged": unchanged, "failed": failed }));
    if read > 0 && failed == read {
        bail!("no page was imported: all {read} are invalid");
    }
    Ok(())
}
