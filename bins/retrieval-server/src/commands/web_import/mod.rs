//! `web import`: imports pages into the shared web index.

mod archive;
mod folder;
mod input;
mod jsonl;
mod page;
mod pipeline;
mod site;
mod warc;

use std::path::Path;

use anyhow::bail;
use app::web_index::pages;
use model::IndexName;
use serde_json::json;
use settings::Settings;
use tokio_util::sync::CancellationToken;

use self::input::{Detected, Input};
use self::pipeline::{Batches, Report};
use self::site::Site;
use super::catch_up::catch_up;
use super::feeding;
use crate::arguments::InvalidArgument;
use crate::cli::Format;
use crate::{actor, compose, data_folder, output, sandbox};

/// Reads the input into batches.
fn read(input: Detected, site: Option<&Site>, batches: &mut Batches) -> anyhow::Result<()> {
    match (input, site) {
        (Detected::Jsonl(input), None) => jsonl::read(input, batches),
        (Detected::Warc(input), None) => warc::read(input, batches),
        (Detected::Zip(file), Some(site)) => archive::read(file, site, batches),
        (Detected::Folder(folder), Some(site)) => folder::read(&folder, site, batches),
        (Detected::Jsonl(_) | Detected::Warc(_), Some(_)) => {
            bail!(InvalidArgument(
                "--base-url is for folders and zip archives: the pages of this input have addresses".to_owned()
            ))
        }
        (Detected::Zip(_) | Detected::Folder(_), None) => {
            bail!(InvalidArgument(
                "the files need an address: add --base-url, such as --base-url https://docs.example.com/".to_owned()
            ))
        }
    }
}

pub async fn run(
    file: &Path,
    format: Option<Format>,
    base_url: Option<&str>,
    settings: &Settings,
) -> anyhow::Result<()> {
    let site = base_url.map(Site::new).transpose()?;
    let input = Input::open(file)?;
    let store = data_folder::open_or_create(settings).await?;
    let free_space = compose::free_space(settings);
    pipeline::require_space(&free_space)?;
    let source = file.to_string_lossy();
    pages::record_import(&store, &actor::of_command_line(), store.clock().now(), &source).await?;
    let extractor = sandbox::workers(settings).await?.pool;
    let progress = input.progress_bar();
    let read = {
        let progress = progress.clone();
        // Runs on a blocking thread: even the first byte of a pipe may take long.
        move |mut batches: Batches| {
            let input = input.detect_format(format, &progress)?;
            read(input, site.as_ref(), &mut batches)?;
            batches.finish();
            Ok(())
        }
    };
    // Without a server, this process feeds the index while it reads.
    let stop = CancellationToken::new();
    let feeding = feeding::start(settings, &store, &stop).await?;
    let report = pipeline::import(read, &store, &extractor, &free_space, &progress).await;
    stop.cancel();
    if let Some(feeding) = feeding {
        feeding.await?;
    }
    let Report { read, imported, unchanged, failed } = report?;
    catch_up(settings, &store, IndexName::Web, &progress).await?;
    extractor.shutdown().await;
    progress.finish_and_clear();
    output::json(&json!({ "read": read, "imported": imported, "unchanged": unchanged, "failed": failed }));
    if read > 0 && failed == read {
        bail!("no page was imported: all {read} are invalid");
    }
    Ok(())
}
