//! Size of the shared web index and of the frontier.

use std::collections::HashMap;

use crawler::Address;
use docstore::{Docstore, FrontierTotals};
use model::Timestamp;

use super::pages::{self, Selection};
use crate::error::Result;

/// Pages of a host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostPages {
    pub host: String,
    pub pages: u64,
}

/// Size of the shared web index and of the frontier.
#[derive(Clone, Debug)]
pub struct Stats {
    pub pages: u64,
    pub hosts: usize,
    /// Hosts with the most pages.
    pub largest_hosts: Vec<HostPages>,
    pub oldest_crawl: Option<Timestamp>,
    pub crawls: usize,
    pub frontier: FrontierTotals,
}

/// Counts the pages by host, and names the `limit` hosts with the most. Reads the whole list.
pub async fn stats(store: &Docstore, limit: usize) -> Result<Stats> {
    let mut hosts: HashMap<String, u64> = HashMap::new();
    let mut oldest_crawl: Option<Timestamp> = None;
    pages::for_each(store, &Selection::default(), |page| {
        if let Ok(address) = Address::exact(&page.url) {
            *hosts.entry(address.host).or_default() += 1;
        }
        oldest_crawl = [oldest_crawl, page.last_crawled_at].into_iter().flatten().min();
        true
    })
    .await?;
    let (pages, known) = (hosts.values().sum(), hosts.len());
    let mut largest_hosts: Vec<HostPages> = hosts.into_iter().map(|(host, pages)| HostPages { host, pages }).collect();
    largest_hosts.sort_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.host.cmp(&b.host)));
    largest_hosts.truncate(limit);
    Ok(Stats {
        pages,
        hosts: known,
        largest_hosts,
        oldest_crawl,
        crawls: store.list_crawls().await?.len(),
        frontier: store.frontier_totals().await?,
    })
}
