//! `web crawl --wait`: works on the crawl, beside servers that do so, until its pages are searchable.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::bail;
use app::web_index::report::{CrawlView, outcomes};
use docstore::{Crawl, Docstore};
use indicatif::{ProgressBar, ProgressStyle};
use model::{CrawlStatus, IndexName};
use serde_json::json;
use settings::Settings;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::report;
use crate::commands::catch_up::catch_up;
use crate::commands::feeding;
use crate::compose;
use crate::rendering::Browser;
use crate::{crawls, output, sandbox};

/// Interval of looking at the crawl.
const POLL: Duration = Duration::from_millis(300);
/// Interval of lines without a terminal.
const LINE: Duration = Duration::from_secs(5);

pub async fn run(store: &Docstore, crawl: &Crawl, settings: &Settings) -> anyhow::Result<()> {
    let extractor = sandbox::workers(settings).await?.pool;
    let browser = Browser::start(settings).await?;
    let free_space = compose::free_space(settings);
    let is_full = compose::is_full(&free_space);
    let crawler =
        crawls::crawler(settings, store, &extractor, browser.scripted(), is_full, Some(crawl.crawl_id)).await?;
    let stop = CancellationToken::new();
    let mut tasks = vec![tokio::spawn(crawler.work(stop.clone()))];
    // Without a server, this process feeds the index while it crawls.
    tasks.extend(feeding::start(settings, store, &stop).await?);
    let started = Instant::now();
    let progress = progress_bar();
    let ended = watch(store, crawl, &progress, || free_space.is_low()).await;
    stop.cancel();
    for task in tasks {
        task.await?;
    }
    let ended = ended?;
    let is_complete = ended == Ended::Completed;
    if is_complete {
        catch_up(settings, store, IndexName::Web, &progress).await?;
    }
    extractor.shutdown().await;
    browser.shutdown().await;
    progress.finish_and_clear();
    finish(store, crawl, started.elapsed(), &ended).await
}

#[derive(Debug, Eq, PartialEq)]
enum Ended {
    Completed,
    /// By another command.
    Stopped,
    Removed,
    /// By a signal.
    Interrupted,
}

/// Shows the progress of the crawl until it ends.
///
/// # Errors
/// The database failed, or too little disk space is free.
async fn watch(
    store: &Docstore,
    crawl: &Crawl,
    progress: &ProgressBar,
    is_full: impl Fn() -> bool,
) -> anyhow::Result<Ended> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let started = Instant::now();
    let mut shown: Option<Instant> = None;
    loop {
        let Some(now) = store.find_crawl(crawl.name.clone()).await?.filter(|now| now.crawl_id == crawl.crawl_id) else {
            return Ok(Ended::Removed);
        };
        let is_due = shown.is_none_or(|last| last.elapsed() >= if progress.is_hidden() { LINE } else { POLL });
        if is_due {
            shown = Some(Instant::now());
            let outcomes = outcomes(store, &now).await?;
            let visited = now.urls - now.queued;
            let speed = visited as f64 / started.elapsed().as_secs_f64().max(0.001);
            let mut line =
                format!("{} pages, {} of {} URLs queued, {speed:.1} URLs/s", now.pages, now.queued, now.urls);
            // Without any, nothing is said: visits of queued URLs may have failed, too, and are repeated.
            if let Some(failures) = report::failures(&outcomes) {
                line.push_str(", ");
                line.push_str(&failures);
            }
            match progress.is_hidden() {
                true => output::note(&line),
                false => progress.set_message(line),
            }
        }
        match now.status {
            CrawlStatus::Stopped => return Ok(Ended::Stopped),
            CrawlStatus::Running if now.queued == 0 => return Ok(Ended::Completed),
            CrawlStatus::Running => {}
        }
        if is_full() {
            bail!("the disk is almost full: free space, or lower `quotas.min_free_disk_bytes`");
        }
        tokio::select! {
            _ = terminate.recv() => return Ok(Ended::Interrupted),
            _ = interrupt.recv() => return Ok(Ended::Interrupted),
            () = tokio::time::sleep(POLL) => {}
        }
    }
}

fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
    let progress = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    if std::io::stderr().is_terminal() {
        progress.enable_steady_tick(Duration::from_millis(200));
    }
    progress
}

/// Prints the report: the last line of the command.
async fn finish(store: &Docstore, crawl: &Crawl, elapsed: Duration, ended: &Ended) -> anyhow::Result<()> {
    let Some(now) = store.find_crawl(crawl.name.clone()).await? else {
        bail!("the crawl `{}` was removed", crawl.name);
    };
    let outcomes = outcomes(store, &now).await?;
    let pages = now.pages;
    let mut line = report::with_outcomes(&CrawlView::new(now), &outcomes);
    if let Some(fields) = line.as_object_mut() {
        let seconds = elapsed.as_secs_f64();
        fields.insert("seconds".to_owned(), json!((seconds * 10.0).round() / 10.0));
        let speed = pages as f64 / seconds.max(0.001);
        fields.insert("pages_per_second".to_owned(), json!((speed * 10.0).round() / 10.0));
    }
    output::json(&line);
    match ended {
        Ended::Completed if pages == 0 => {
            bail!("no page was listed: {}", report::failures(&outcomes).as_deref().unwrap_or("no failures"))
        }
        Ended::Completed => Ok(()),
        Ended::Stopped => {
            output::note("the crawl was stopped; `web crawl` with its name goes on");
            Ok(())
        }
        Ended::Removed => bail!("the crawl `{}` was removed", crawl.name),
        Ended::Interrupted => {
            output::note("the crawl is not complete; a server, or the same command again, goes on");
            bail!("interrupted")
        }
    }
}
