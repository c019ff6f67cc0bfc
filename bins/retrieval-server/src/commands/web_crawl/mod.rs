//! `web crawl` and the commands on crawls.

mod report;
mod wait;

use std::io::{IsTerminal, Write, stdout};

use anyhow::{Context, bail};
use crawler::{Address, NewCrawl, Plan, Sitemaps};
use docstore::{Crawl, Docstore};
use model::{Clock, CrawlStatus, SystemClock};
use settings::Settings;

use crate::cli::{self, SitemapUse};
use crate::{data_folder, logging, output};

/// URLs of a crawl that are removed in one transaction.
const REMOVED_AT_A_TIME: i64 = 500;
/// Maximum length of a name.
const MAX_NAME: usize = 200;

pub async fn run(options: cli::Crawl, settings: &Settings) -> anyhow::Result<()> {
    let cli::Crawl { urls, name, depth, limit, include, exclude, sitemaps, every, wait } = options;
    let plan = Plan {
        seeds: urls,
        depth,
        include,
        exclude,
        sitemaps: match sitemaps {
            SitemapUse::Auto => Sitemaps::Auto,
            SitemapUse::Only => Sitemaps::Only,
            SitemapUse::Off => Sitemaps::Off,
        },
        every_seconds: every.map(|every| every.as_secs()),
    };
    let plan = plan.checked()?;
    let name = match name {
        Some(name) => name,
        None => plan.seeds.first().and_then(|seed| Address::parse(seed).ok()).map(|seed| seed.host).unwrap_or_default(),
    };
    if name.is_empty() || name.chars().count() > MAX_NAME || name.contains(char::is_control) {
        bail!("`{name}` is not a name: use 1-{MAX_NAME} printable characters");
    }
    let store = data_folder::open_or_create(settings).await?;
    let new = NewCrawl { name, plan, page_limit: limit, url_limit: settings.crawl.max_urls };
    let crawl = crawler::start(&store, new, SystemClock.now()).await?;
    if wait {
        return wait::run(&store, &crawl, settings).await;
    }
    output::json(&report::line(&crawl));
    output::note("a running server, or the next one to start, works on the crawl; --wait does so in this command");
    Ok(())
}

/// Prints all crawls: a table on a terminal, one JSON object per line otherwise.
pub async fn list(settings: &Settings, json: bool) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let crawls = store.list_crawls().await?;
    if !json && stdout().is_terminal() {
        let _ = stdout().write_all(table(&crawls).as_bytes());
        return Ok(());
    }
    crawls.iter().for_each(|crawl| output::json(&report::line(crawl)));
    Ok(())
}

fn table(crawls: &[Crawl]) -> String {
    let mut text = format!("{:<10} {:>10} {:>10} {:>10}  NAME\n", "STATE", "PAGES", "QUEUED", "URLS");
    for crawl in crawls {
        let Crawl { pages, queued, urls, name, .. } = crawl;
        let state = report::state(crawl);
        text += &format!("{state:<10} {pages:>10} {queued:>10} {urls:>10}  {}\n", logging::visible(name));
    }
    text
}

pub async fn show(name: &str, settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let crawl = find(&store, name).await?;
    output::json(&report::with_counts(&crawl, &store.list_crawl_counts(crawl.crawl_id).await?));
    Ok(())
}

pub async fn stop(name: &str, settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    find(&store, name).await?;
    let stopped = store.set_crawl_status(name.to_owned(), CrawlStatus::Stopped).await?;
    output::json(&report::line(&stopped.with_context(|| unknown(name))?));
    Ok(())
}

pub async fn remove(name: &str, pages: bool, settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    // Stopped first, so that no visit adds URLs meanwhile.
    store.set_crawl_status(name.to_owned(), CrawlStatus::Stopped).await?;
    let crawl = find(&store, name).await?;
    while !store.delete_crawl(crawl.crawl_id, pages, REMOVED_AT_A_TIME, SystemClock.now()).await? {}
    output::json(&serde_json::json!({ "name": name, "removed": true, "pages_removed": pages }));
    Ok(())
}

async fn find(store: &Docstore, name: &str) -> anyhow::Result<Crawl> {
    store.find_crawl(name.to_owned()).await?.with_context(|| unknown(name))
}

fn unknown(name: &str) -> String {
    format!("no crawl has the name `{name}`: `web crawls` lists them")
}
