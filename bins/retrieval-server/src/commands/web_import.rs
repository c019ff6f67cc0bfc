//! `web import`: pages into the shared web index.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use app::web::{WebPage, prepare_page, save_pages};
use docstore::{Docstore, NewDocument, Saved};
use engine::IndexName;
use extract::worker::{Input, WorkerPool};
use extract::{ExtractRequest, Extractor, FileKind};
use indicatif::{ProgressBar, ProgressStyle};
use ingest::clock::to_ms;
use serde::Deserialize;
use serde_json::json;
use settings::Settings;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::catch_up::catch_up;
use crate::cli::Format;
use crate::compose::{self, OpenedIndex};
use crate::output;

/// A longer line is counted as failed instead of being held in memory.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Pages stored in one transaction.
const BATCH: usize = 500;
/// Batches read ahead of the one that is being stored.
const READ_AHEAD: usize = 2;

#[derive(Default)]
struct Report {
    read: u64,
    imported: u64,
    unchanged: u64,
    failed: u64,
}

pub async fn run(file: &Path, format: Format, settings: &Settings) -> anyhow::Result<()> {
    let Format::Jsonl = format;
    let store = compose::docstore(settings).await?;
    let extractor = compose::extractor()?;
    let (input, size) = open(file)?;
    let progress = progress_bar(size);
    let counted = progress.wrap_read(input);
    let report = match compose::index(settings, &store).await? {
        OpenedIndex::Open(index) => {
            // No server runs: the index is fed here, while the rest is still being read.
            let stop = CancellationToken::new();
            let feeder = Arc::clone(&index.feeder);
            let feeding = tokio::spawn({
                let stop = stop.clone();
                async move { feeder.work(stop).await }
            });
            let report = import(counted, &store, &extractor, &progress).await;
            stop.cancel();
            feeding.await?;
            report?
        }
        OpenedIndex::Disabled | OpenedIndex::OwnedElsewhere => import(counted, &store, &extractor, &progress).await?,
    };
    catch_up(settings, &store, IndexName::Web, &progress).await?;
    extractor.shutdown().await;
    progress.finish_and_clear();
    let Report { read, imported, unchanged, failed } = report;
    output::json(&json!({ "read": read, "imported": imported, "unchanged": unchanged, "failed": failed }));
    Ok(())
}

fn open(file: &Path) -> anyhow::Result<(Box<dyn Read + Send>, Option<u64>)> {
    if file == Path::new("-") {
        return Ok((Box::new(io::stdin()), None));
    }
    let opened = File::open(file).with_context(|| format!("opening `{}`", file.display()))?;
    let size = opened.metadata()?.len();
    Ok((Box::new(opened), Some(size)))
}

/// Drawn on a terminal only.
fn progress_bar(size: Option<u64>) -> ProgressBar {
    let template = match size {
        Some(_) => "{bar:32} {bytes}/{total_bytes} {bytes_per_sec} {eta} {msg}",
        None => "{spinner} {bytes} {bytes_per_sec} {msg}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let progress = size.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    progress.with_style(style)
}

/// A line that was read, and what it holds.
type NumberedLine = (u64, Result<Line, String>);

async fn import(
    input: impl Read + Send + 'static,
    store: &Docstore,
    extractor: &Arc<WorkerPool>,
    progress: &ProgressBar,
) -> anyhow::Result<Report> {
    let (sender, mut batches) = mpsc::channel(READ_AHEAD);
    let reader = tokio::task::spawn_blocking(move || read_lines(BufReader::with_capacity(1 << 18, input), &sender));
    let mut report = Report::default();
    while let Some(batch) = batches.recv().await {
        let batch: Vec<NumberedLine> = batch;
        report.read += batch.len() as u64;
        let mut prepared = Vec::with_capacity(batch.len());
        for (number, outcome) in prepare(batch, extractor).await? {
            match outcome {
                Ok(document) => prepared.push(document),
                Err(message) => {
                    report.failed += 1;
                    progress.suspend(|| output::note(&format!("line {number}: {message}")));
                }
            }
        }
        for saved in save_pages(store, prepared).await? {
            match saved {
                Saved::Stored | Saved::Described => report.imported += 1,
                Saved::Unchanged => report.unchanged += 1,
            }
        }
    }
    reader.await??;
    Ok(report)
}

/// Pages of one batch, in order: HTML is read by worker processes, the rest prepared on this machine's cores.
async fn prepare(
    batch: Vec<NumberedLine>,
    extractor: &Arc<WorkerPool>,
) -> anyhow::Result<Vec<(u64, Result<NewDocument, String>)>> {
    let extracted = futures_util::future::join_all(batch.into_iter().map(|(number, line)| {
        let extractor = Arc::clone(extractor);
        async move {
            let page = match line {
                Ok(line) => line.into_page(extractor.as_ref()).await,
                Err(message) => Err(message),
            };
            (number, page)
        }
    }))
    .await;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let chunk = extracted.len().div_ceil(threads).max(1);
    let mut pages = extracted.into_iter();
    let mut tasks = Vec::new();
    loop {
        let part: Vec<(u64, Result<WebPage, String>)> = pages.by_ref().take(chunk).collect();
        if part.is_empty() {
            break;
        }
        tasks.push(tokio::task::spawn_blocking(move || {
            let prepare = |page: WebPage| prepare_page(page).map_err(|error| error.to_string());
            part.into_iter().map(|(number, page)| (number, page.and_then(prepare))).collect::<Vec<_>>()
        }));
    }
    let mut prepared = Vec::new();
    for task in tasks {
        prepared.extend(task.await?);
    }
    Ok(prepared)
}

/// Sends the lines in batches until the input ends or nobody listens.
fn read_lines(mut input: impl BufRead, batches: &mpsc::Sender<Vec<NumberedLine>>) -> anyhow::Result<()> {
    let mut number = 0;
    let mut batch = Vec::with_capacity(BATCH);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).context("reading the input")?;
        if length == 0 {
            break;
        }
        number += 1;
        let cut_off = length as u64 == MAX_LINE_BYTES && !line.ends_with(b"\n");
        if cut_off {
            skip_line(&mut input)?;
            batch.push((number, Err(format!("the line is longer than {MAX_LINE_BYTES} bytes"))));
        } else if !line.trim_ascii().is_empty() {
            batch.push((number, serde_json::from_slice(&line).map_err(|error| error.to_string())));
        }
        if batch.len() == BATCH && batches.blocking_send(std::mem::take(&mut batch)).is_err() {
            return Ok(());
        }
    }
    if !batch.is_empty() {
        // Nobody listens only after an error of its own, which is told there.
        let _ = batches.blocking_send(batch);
    }
    Ok(())
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let (used, ended) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), false),
        };
        input.consume(used);
        if ended {
            return Ok(());
        }
    }
}

/// One page as a line of JSON. Other fields are passed over: exports of other tools carry many.
#[derive(Deserialize)]
struct Line {
    url: String,
    title: Option<String>,
    text: Option<String>,
    markdown: Option<String>,
    html: Option<String>,
    description: Option<String>,
    published_at: Option<String>,
    language: Option<String>,
    country: Option<String>,
    #[serde(default)]
    labels: Option<Vec<String>>,
}

impl Line {
    async fn into_page(self, extractor: &dyn Extractor) -> Result<WebPage, String> {
        let published_at = self.published_at.as_deref().map(parse_time).transpose()?;
        let mut page = WebPage {
            url: self.url,
            title: self.title,
            description: self.description,
            published_at,
            language: self.language,
            country: self.country,
            labels: self.labels.unwrap_or_default(),
            ..WebPage::default()
        };
        match (self.markdown.or(self.text), self.html) {
            (Some(markdown), _) => page.markdown = markdown,
            (None, Some(html)) => fill_from_html(&mut page, html, extractor).await?,
            (None, None) => return Err("one of `text`, `markdown` or `html` is required".to_owned()),
        }
        Ok(page)
    }
}

/// What the line says itself wins over what the page says.
async fn fill_from_html(page: &mut WebPage, html: String, extractor: &dyn Extractor) -> Result<(), String> {
    let request = ExtractRequest { kind: FileKind::Html, name: page.url.clone(), base_url: Some(page.url.clone()) };
    let extracted =
        extractor.extract(request, Input::Bytes(html.into_bytes().into())).await.map_err(|error| error.to_string())?;
    page.markdown = extracted.markdown;
    page.title = page.title.take().or(extracted.title);
    page.description = page.description.take().or(extracted.description);
    page.language = page.language.take().or(extracted.language);
    page.published_at = page.published_at.or(extracted.published_at);
    page.labels.extend(extracted.labels);
    page.mime = Some("text/html".to_owned());
    Ok(())
}

/// RFC 3339, or a date alone.
fn parse_time(text: &str) -> Result<i64, String> {
    if let Ok(time) = OffsetDateTime::parse(text, &Rfc3339) {
        return Ok(to_ms(time));
    }
    Date::parse(text, format_description!("[year]-[month]-[day]"))
        .map(|date| to_ms(date.midnight().assume_utc()))
        .map_err(|_| format!("published_at: `{text}` is neither an RFC 3339 time nor a date"))
}
