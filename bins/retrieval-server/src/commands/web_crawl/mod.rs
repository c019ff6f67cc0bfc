//! `web crawl` and the commands on crawls.

mod report;
mod wait;

use std::io::{IsTerminal, stdout};

use anyhow::anyhow;
use app::Error;
use app::web_index::crawls::{self, CrawlRequest, Sitemaps};
use app::web_index::report::{self as reports, CrawlView};
use docstore::Crawl;
use settings::Settings;

use crate::arguments::named;
use crate::cli::{self, SitemapUse};
use crate::{actor, data_folder, logging, output};

/// Fields of a plan, with their arguments.
const ARGUMENTS: [(&str, &str); 6] = [
    ("urls", "<URL>"),
    ("name", "--name"),
    ("depth", "--depth"),
    ("include", "--include"),
    ("exclude", "--exclude"),
    ("every_seconds", "--every"),
];

pub async fn run(options: cli::Crawl, settings: &Settings) -> anyhow::Result<()> {
    let cli::Crawl { urls, name, depth, limit, include, exclude, sitemaps, every, wait } = options;
    let request = CrawlRequest {
        urls,
        name,
        depth,
        limit,
        include,
        exclude,
        sitemaps: match sitemaps {
            SitemapUse::Auto => Sitemaps::Auto,
            SitemapUse::Only => Sitemaps::Only,
            SitemapUse::Off => Sitemaps::Off,
        },
        every_seconds: every.map(|every| every.as_secs()),
    };
    let refused = |error| named(error, &ARGUMENTS);
    let new = crawls::checked(request, settings.crawl.max_urls).map_err(refused)?;
    let store = data_folder::open_or_create(settings).await?;
    let crawl = crawls::start(&store, &actor::of_command_line(), store.clock().now(), new).await.map_err(refused)?;
    if wait {
        return wait::run(&store, &crawl, settings).await;
    }
    output::json(&report::line(&CrawlView::new(crawl)));
    output::note("a running server, or the next one to start, works on the crawl; --wait does so in this command");
    Ok(())
}

/// Prints all crawls: a table on a terminal, one JSON object per line otherwise.
pub async fn list(settings: &Settings, json: bool) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let crawls = reports::list(&store).await?;
    if !json && stdout().is_terminal() {
        output::text(&table(&crawls));
    } else {
        crawls.iter().for_each(|crawl| output::json(&report::line(crawl)));
    }
    output::note(&data_folder::described(settings));
    Ok(())
}

fn table(crawls: &[CrawlView]) -> String {
    let mut text = format!("{:<10} {:>10} {:>10} {:>10}  NAME\n", "STATE", "PAGES", "QUEUED", "URLS");
    for CrawlView { crawl: Crawl { pages, queued, urls, name, .. }, state, .. } in crawls {
        let state = state.as_str();
        text += &format!("{state:<10} {pages:>10} {queued:>10} {urls:>10}  {}\n", logging::visible(name));
    }
    text
}

pub async fn show(name: &str, settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let (crawl, outcomes) = reports::show(&store, name).await.map_err(with_help)?;
    output::json(&report::with_outcomes(&crawl, &outcomes));
    output::note(&data_folder::described(settings));
    Ok(())
}

pub async fn stop(name: &str, settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let stopped =
        crawls::stop(&store, &actor::of_command_line(), store.clock().now(), name).await.map_err(with_help)?;
    output::json(&report::line(&CrawlView::new(stopped)));
    Ok(())
}

pub async fn remove(name: &str, pages: bool, settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let actor = actor::of_command_line();
    crawls::remove(&store, &actor, store.clock().now(), name, pages, usize::MAX).await.map_err(with_help)?;
    output::json(&serde_json::json!({ "name": name, "removed": true, "pages_removed": pages }));
    Ok(())
}

/// Names the command that shows the names of crawls.
fn with_help(error: Error) -> anyhow::Error {
    match error {
        Error::CrawlNotFound { .. } => anyhow!("{error}: `web crawls` lists them"),
        other => other.into(),
    }
}
