//! Start, stop and removal of crawls, recorded in the audit log with their actors.

use crawler::{Address, Plan, PlanError};
pub use crawler::{NewCrawl, Sitemaps};
use docstore::{AuditEntry, Crawl, Details, Docstore};
use model::{AuditAction, CrawlStatus, Timestamp};

use crate::Error;
use crate::audit::web_index_entry;
use crate::error::Result;

/// Maximum length of a name in characters.
const MAX_NAME: usize = 200;
/// URLs of a crawl that are removed in one transaction.
const REMOVED_AT_A_TIME: i64 = 500;

/// Crawl to start, as the operator asks for it.
#[derive(Clone, Debug, Default)]
pub struct CrawlRequest {
    /// Sites, pages, sitemaps or feeds to begin with.
    pub urls: Vec<String>,
    /// Name of the crawl; the first host if `None`.
    pub name: Option<String>,
    /// Maximum number of links from a given URL to a page.
    pub depth: Option<u32>,
    /// Maximum number of pages in the index.
    pub limit: Option<u64>,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub sitemaps: Sitemaps,
    /// Shortest interval of reading a page again.
    pub every_seconds: Option<u64>,
}

/// Removal of a crawl.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Removal {
    Complete,
    /// URLs are left; a further call goes on.
    Partial,
}

/// Checks a request and returns the crawl to start, with at most `max_urls` URLs in its frontier.
///
/// # Errors
/// `Invalid` for a malformed URL, pattern, interval or name.
pub fn checked(request: CrawlRequest, max_urls: u64) -> Result<NewCrawl> {
    let CrawlRequest { urls, name, depth, limit, include, exclude, sitemaps, every_seconds } = request;
    let plan = Plan { seeds: urls, depth, include, exclude, sitemaps, every_seconds };
    let plan = plan.checked().map_err(|error| invalid(&error))?;
    let first_host = || plan.seeds.first().and_then(|seed| Address::parse(seed).ok()).map(|seed| seed.host);
    let name = name.or_else(first_host).unwrap_or_default();
    if !is_name(&name) {
        let message = format!("name: `{name}` is not a name: use 1-{MAX_NAME} printable characters");
        return Err(Error::invalid("name", message));
    }
    Ok(NewCrawl { name, plan, page_limit: limit, url_limit: max_urls })
}

/// Starts a crawl, or goes on with the one of this name. If that has ended, a new round visits all its URLs again.
///
/// # Errors
/// `Invalid` for a plan beyond the limits.
pub async fn start(store: &Docstore, actor: &str, now: Timestamp, new: NewCrawl) -> Result<Crawl> {
    check_limits(store, &new).await?;
    let entry = started(actor, now, &new);
    crawler::start(store, new, now, Some(entry)).await.map_err(Error::internal)
}

/// Starts a crawl without the former URLs of a new round, which `crawler::requeue` adds.
///
/// # Errors
/// `Invalid` for a plan beyond the limits.
pub(super) async fn begin(store: &Docstore, actor: &str, now: Timestamp, new: NewCrawl) -> Result<Crawl> {
    check_limits(store, &new).await?;
    let entry = started(actor, now, &new);
    crawler::begin(store, new, now, Some(entry)).await.map_err(Error::internal)
}

/// Refuses a plan beyond the limits. A stored crawl with more may keep what it has: earlier versions had no limits, and the crawl of
/// single pages grows with their hosts.
async fn check_limits(store: &Docstore, new: &NewCrawl) -> Result<()> {
    if new.plan.within_limits(&Plan::default()).is_ok() {
        return Ok(());
    }
    let stored = store.find_crawl(new.name.clone()).await?;
    let stored = stored.as_ref().and_then(Plan::of).unwrap_or_default();
    new.plan.within_limits(&stored).map_err(|error| invalid(&error))
}

fn invalid(error: &PlanError) -> Error {
    let field = error.field();
    let message = format!("{field}: {error}");
    Error::invalid(field, message)
}

/// Returns the entry of a start. Its subject is missing: the docstore knows the id of the crawl.
fn started(actor: &str, now: Timestamp, new: &NewCrawl) -> AuditEntry {
    let details = Details::default().with("name", new.name.as_str()).with("urls", new.plan.seeds.clone());
    web_index_entry(actor, now, AuditAction::CrawlStarted, details)
}

/// Returns the crawl of this name.
///
/// # Errors
/// `CrawlNotFound`.
pub async fn find(store: &Docstore, name: &str) -> Result<Crawl> {
    let not_found = || Error::CrawlNotFound { name: name.to_owned() };
    if !is_name(name) {
        return Err(not_found());
    }
    store.find_crawl(name.to_owned()).await?.ok_or_else(not_found)
}

/// Stops a crawl. A later start of its name goes on.
///
/// # Errors
/// `CrawlNotFound`.
pub async fn stop(store: &Docstore, actor: &str, now: Timestamp, name: &str) -> Result<Crawl> {
    let known = find(store, name).await?;
    let entry = web_index_entry(actor, now, AuditAction::CrawlStopped, Details::default().with("name", name));
    let stopped = store.set_crawl_status(known.name, CrawlStatus::Stopped, Some(entry)).await?;
    stopped.ok_or_else(|| Error::CrawlNotFound { name: name.to_owned() })
}

/// Removes a crawl, and pages that no other crawl lists if `with_pages`, in at most `steps` transactions.
///
/// # Errors
/// `CrawlNotFound`.
pub async fn remove(
    store: &Docstore,
    actor: &str,
    now: Timestamp,
    name: &str,
    with_pages: bool,
    steps: usize,
) -> Result<Removal> {
    // Stopped first, so that no visit adds URLs meanwhile.
    let crawl = stop(store, actor, now, name).await?;
    let details = Details::default().with("name", name).with("pages_removed", with_pages);
    let entry = web_index_entry(actor, now, AuditAction::CrawlRemoved, details);
    for _ in 0..steps {
        let entry = Some(entry.clone());
        if store.delete_crawl(crawl.crawl_id, with_pages, REMOVED_AT_A_TIME, now, entry).await? {
            return Ok(Removal::Complete);
        }
    }
    Ok(Removal::Partial)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().count() <= MAX_NAME && !name.contains(char::is_control)
}
