//! `web list`, `web stats`, `web remove` and `web refresh`.

use std::io::{IsTerminal, stdout};

use anyhow::bail;
use app::Error;
use app::web_index::pages::{self, WebPageEntry};
use app::web_index::stats::{self, HostPages, Stats};
use serde_json::{Value, json};
use settings::Settings;

use crate::cli::Selection;
use crate::{actor, arguments, data_folder, logging, output};

/// Hosts with the most pages that `web stats` names.
const HOSTS: usize = 20;

/// Names the argument of a refused value.
fn refused(error: Error) -> anyhow::Error {
    arguments::named(error, &[("url", "<URL>"), ("urls", "<URL>"), ("host", "--host"), ("prefix", "--prefix")])
}

/// Prints pages: URLs on a terminal, one JSON object per line otherwise.
pub async fn list(selection: Selection, limit: Option<u64>, json: bool, settings: &Settings) -> anyhow::Result<()> {
    let selection = pages::Selection { host: selection.host, prefix: selection.prefix };
    let store = data_folder::open_existing(settings).await?;
    let plain = !json && stdout().is_terminal();
    let mut left = limit.unwrap_or(u64::MAX);
    let listed = pages::for_each(&store, &selection, |page| {
        if left == 0 {
            return false;
        }
        left -= 1;
        match plain {
            true => output::text(&format!("{}\n", logging::visible(&page.url))),
            false => output::json(&line(&page)),
        }
        true
    });
    listed.await.map_err(refused)?;
    output::note(&data_folder::described(settings));
    Ok(())
}

fn line(page: &WebPageEntry) -> Value {
    json!({
        "url": page.url,
        "doc_id": page.doc_id.0,
        "title": page.title,
        "first_seen_at": output::time(page.first_seen_at),
        "last_crawled_at": output::time(page.last_crawled_at),
    })
}

pub async fn stats(settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let Stats { pages, hosts, largest_hosts, oldest_crawl, crawls, frontier } = stats::stats(&store, HOSTS).await?;
    let host = |HostPages { host, pages }| json!({ "host": host, "pages": pages });
    let largest: Vec<Value> = largest_hosts.into_iter().map(host).collect();
    output::json(&json!({
        "pages": pages,
        "hosts": hosts,
        "largest_hosts": largest,
        "oldest_crawl": output::time(oldest_crawl),
        "crawls": crawls,
        "crawled_pages": frontier.pages,
        "urls": frontier.urls,
        "queued": frontier.queued,
        "hosts_in_back_off": frontier.hosts_in_back_off,
    }));
    output::note(&data_folder::described(settings));
    Ok(())
}

pub async fn remove(url: Option<&str>, selection: Selection, settings: &Settings) -> anyhow::Result<()> {
    let selection = pages::Selection { host: selection.host, prefix: selection.prefix };
    let store = data_folder::open_existing(settings).await?;
    let (actor, now) = (actor::of_command_line(), store.clock().now());
    let removed = match url {
        Some(url) => pages::remove_one(&store, &actor, now, url).await,
        None => pages::remove(&store, &actor, now, &selection, usize::MAX).await,
    };
    let removed = removed.map_err(refused)?;
    output::json(&json!({ "removed": removed.count }));
    if removed.count == 0 {
        bail!("no page of the web index matches");
    }
    Ok(())
}

pub async fn refresh(urls: &[String], settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let mut unknown = 0;
    let refreshed = pages::refresh(&store, store.clock().now(), urls, settings.crawl.max_urls).await;
    let refreshed = refreshed.map_err(refused)?;
    for (url, page) in urls.iter().zip(refreshed) {
        if !page.is_queued {
            unknown += 1;
            output::note(&format!("`{url}` is not in the web index: use `web crawl`"));
        }
        output::json(&json!({ "url": page.url, "queued": page.is_queued }));
    }
    output::note("a running server, or the next one to start, reads the pages");
    if unknown > 0 {
        bail!("{unknown} of {} pages are not in the web index", urls.len());
    }
    Ok(())
}
