//! Start of crawls and of single visits.

use docstore::{AuditEntry, Crawl, Docstore, StoreError};
use model::{CrawlId, Timestamp};
use uuid::Uuid;

use crate::address::Address;
use crate::options::limits;
use crate::outlinks;
use crate::plan::{Plan, Sitemaps};

/// Name of the crawl of pages that no other crawl visits.
pub const SINGLE_PAGES: &str = "single-pages";

/// URLs of a former round that are queued in one transaction.
const REQUEUED_AT_A_TIME: i64 = 5_000;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the plan of the crawl cannot be written")]
    Plan(#[from] serde_json::Error),
}

/// Crawl to start.
pub struct NewCrawl {
    pub name: String,
    /// Checked plan.
    pub plan: Plan,
    /// Maximum number of listed pages.
    pub page_limit: Option<u64>,
    /// Maximum number of URLs in the frontier.
    pub url_limit: u64,
}

impl NewCrawl {
    /// Returns the row of the crawl, with a new id.
    fn into_row(self, now: Timestamp) -> Result<Crawl, serde_json::Error> {
        let settings = serde_json::to_string(&self.plan)?;
        let limit = |limit: u64| i64::try_from(limit).unwrap_or(i64::MAX);
        let crawl = Crawl::new(CrawlId(Uuid::now_v7()), self.name, settings, limit(self.url_limit), now);
        Ok(Crawl { page_limit: self.page_limit.map(limit), ..crawl })
    }
}

/// Starts a crawl, or goes on with the one of this name. If that has ended, a new round visits all its URLs again. The audit
/// entry gets the crawl as its subject.
///
/// # Errors
/// The database failed.
pub async fn start(
    store: &Docstore,
    new: NewCrawl,
    now: Timestamp,
    entry: Option<AuditEntry>,
) -> Result<Crawl, StartError> {
    let started = begin(store, new, now, entry).await?;
    requeue(store, &started, now).await?;
    Ok(started)
}

/// Starts a crawl as [`start`] does, except for the former URLs of a new round, which are left to [`requeue`].
///
/// # Errors
/// The database failed.
pub async fn begin(
    store: &Docstore,
    new: NewCrawl,
    now: Timestamp,
    entry: Option<AuditEntry>,
) -> Result<Crawl, StartError> {
    let seeds: Vec<_> = new.plan.seeds.iter().filter_map(|seed| Address::exact(seed).ok()).collect();
    let limits = limits(&new.plan);
    let crawl = new.into_row(now)?;
    Ok(store.start_crawl(crawl, seeds.iter().map(outlinks::seed).collect(), limits, now, entry).await?)
}

/// Queues the URLs that were last visited before the current round. Takes long for a large frontier.
///
/// # Errors
/// The database failed.
pub async fn requeue(store: &Docstore, crawl: &Crawl, now: Timestamp) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        (_, after) = store.requeue_crawl(crawl.crawl_id, after, REQUEUED_AT_A_TIME, now).await?;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Queues a visit of a page: in the running crawls that know it, or in one of single pages if there is none.
///
/// # Errors
/// The database failed.
pub async fn refresh(store: &Docstore, address: &Address, url_limit: u64, now: Timestamp) -> Result<(), StartError> {
    if store.refresh_crawled_page(address.doc_id(), now).await? > 0 {
        return Ok(());
    }
    let known = store.find_crawl(SINGLE_PAGES.to_owned()).await?;
    let known = known.and_then(|crawl| Plan::of(&crawl));
    // One seed of each host: the others are in the frontier.
    let mut seeds = known.map(|plan| plan.seeds).unwrap_or_default();
    if !seeds.iter().any(|seed| Address::parse(seed).is_ok_and(|seed| seed.host == address.host)) {
        seeds.push(address.url.clone());
    }
    let plan = Plan { seeds, depth: Some(0), sitemaps: Sitemaps::Off, ..Plan::default() };
    let limits = limits(&plan);
    let new = NewCrawl { name: SINGLE_PAGES.to_owned(), plan, page_limit: None, url_limit };
    store.start_crawl(new.into_row(now)?, vec![outlinks::seed(address)], limits, now, None).await?;
    // If that crawl was stopped, its round goes on, which may have visited the page.
    store.refresh_crawled_page(address.doc_id(), now).await?;
    Ok(())
}
