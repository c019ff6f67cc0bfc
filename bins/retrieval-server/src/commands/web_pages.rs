//! `web list`, `web stats`, `web remove` and `web refresh`.

use std::collections::HashMap;
use std::io::{IsTerminal, Write, stdout};

use anyhow::bail;
use crawler::Address;
use docstore::{Docstore, WebPageEntry};
use ingest::clock::to_date_time;
use model::{Clock, SystemClock, Timestamp};
use serde_json::{Value, json};
use settings::Settings;
use time::format_description::well_known::Rfc3339;

use crate::cli::Selection;
use crate::{data_folder, logging, output};

/// Pages that are read or removed at a time.
const AT_A_TIME: i64 = 500;
/// Hosts with the most pages that `web stats` names.
const HOSTS: usize = 20;

/// Prints pages: URLs on a terminal, one JSON object per line otherwise.
pub async fn list(selection: &Selection, limit: Option<u64>, json: bool, settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let plain = !json && stdout().is_terminal();
    let mut left = limit.unwrap_or(u64::MAX);
    for_each(&store, selection, |page| {
        if left == 0 {
            return false;
        }
        left -= 1;
        match plain {
            true => drop(writeln!(stdout(), "{}", logging::visible(&page.url))),
            false => output::json(&line(&page)),
        }
        true
    })
    .await
}

fn line(page: &WebPageEntry) -> Value {
    json!({
        "url": page.url,
        "doc_id": page.doc_id.0,
        "title": page.title,
        "first_seen_at": time(Some(page.first_seen_at)),
        "last_crawled_at": time(page.last_crawled_at),
    })
}

fn time(at: Option<Timestamp>) -> Option<String> {
    to_date_time(at?).format(&Rfc3339).ok()
}

/// Returns the beginnings of the URLs that a selection names.
fn prefixes(selection: &Selection) -> anyhow::Result<Vec<Option<String>>> {
    if let Some(prefix) = &selection.prefix {
        if !prefix.starts_with("http://") && !prefix.starts_with("https://") {
            bail!("`{prefix}` begins no URL: add http:// or https://");
        }
        return Ok(vec![Some(prefix.clone())]);
    }
    let Some(host) = &selection.host else { return Ok(vec![None]) };
    let address = Address::parse(&format!("http://{host}/"))?;
    Ok(["http", "https"].map(|scheme| Some(format!("{scheme}://{}/", address.host))).to_vec())
}

/// Calls `visit` with every selected page, until it returns false.
async fn for_each(
    store: &Docstore,
    selection: &Selection,
    mut visit: impl FnMut(WebPageEntry) -> bool,
) -> anyhow::Result<()> {
    for prefix in prefixes(selection)? {
        let mut after = None;
        loop {
            let pages = store.list_web_pages(prefix.clone(), after, AT_A_TIME).await?;
            let Some(last) = pages.last() else { break };
            after = Some(last.doc_id);
            for page in pages {
                if !visit(page) {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

pub async fn stats(settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let mut hosts: HashMap<String, u64> = HashMap::new();
    let mut oldest: Option<Timestamp> = None;
    for_each(&store, &Selection::default(), |page| {
        if let Ok(address) = Address::parse(&page.url) {
            *hosts.entry(address.host).or_default() += 1;
        }
        oldest = [oldest, page.last_crawled_at].into_iter().flatten().min();
        true
    })
    .await?;
    let pages: u64 = hosts.values().sum();
    let known = hosts.len();
    let mut largest: Vec<(String, u64)> = hosts.into_iter().collect();
    largest.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    largest.truncate(HOSTS);
    let largest: Vec<Value> =
        largest.into_iter().map(|(host, pages)| json!({ "host": host, "pages": pages })).collect();
    let totals = store.frontier_totals().await?;
    output::json(&json!({
        "pages": pages,
        "hosts": known,
        "largest_hosts": largest,
        "oldest_crawl": time(oldest),
        "crawls": store.list_crawls().await?.len(),
        "crawled_pages": totals.pages,
        "urls": totals.urls,
        "queued": totals.queued,
        "hosts_in_back_off": totals.hosts_in_back_off,
    }));
    Ok(())
}

pub async fn remove(url: Option<&str>, selection: &Selection, settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let mut removed = 0;
    if let Some(url) = url {
        let doc_id = Address::exact(url)?.doc_id();
        removed = store.remove_web_pages(vec![doc_id], SystemClock.now()).await?;
    } else {
        for prefix in prefixes(selection)? {
            loop {
                let pages = store.list_web_pages(prefix.clone(), None, AT_A_TIME).await?;
                let ids: Vec<_> = pages.iter().map(|page| page.doc_id).collect();
                let count = store.remove_web_pages(ids, SystemClock.now()).await?;
                removed += count;
                if count == 0 {
                    break;
                }
            }
        }
    }
    output::json(&json!({ "removed": removed }));
    if removed == 0 {
        bail!("no page of the web index matches");
    }
    Ok(())
}

pub async fn refresh(urls: &[String], settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_existing(settings).await?;
    let mut unknown = 0;
    for url in urls {
        let address = Address::exact(url)?;
        let is_known = store.find_web_page(address.doc_id()).await?;
        if is_known {
            crawler::refresh(&store, &address, settings.crawl.max_urls, SystemClock.now()).await?;
        } else {
            unknown += 1;
            output::note(&format!("`{url}` is not in the web index: use `web crawl`"));
        }
        output::json(&json!({ "url": address.url, "queued": is_known }));
    }
    output::note("a running server, or the next one to start, reads the pages");
    if unknown > 0 {
        bail!("{unknown} of {} pages are not in the web index", urls.len());
    }
    Ok(())
}
