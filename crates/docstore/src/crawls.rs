//! Arguments and results of crawl operations that span several rows.

use std::time::Duration;

use model::{CrawlId, CrawlUrlKind, CrawlUrlState, DocId, Timestamp};

use crate::documents::NewDocument;
use crate::rows::CrawlUrl;

/// Link to a URL of a crawl.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewCrawlUrl {
    pub url_id: DocId,
    pub url: String,
    pub host: String,
    pub kind: CrawlUrlKind,
    pub depth: i32,
    /// Lower ones are visited first.
    pub priority: i32,
    pub chain: i32,
    /// Hash of host and path; `None` for URLs that are not counted by their path.
    pub path_key: Option<i64>,
    /// Time of the last change. An earlier visit is repeated, at the shortest interval of the crawl.
    pub modified_at: Option<Timestamp>,
    /// Queues the visit again if it took place before the current round.
    pub is_seed: bool,
}

impl NewCrawlUrl {
    /// Returns the row of the URL in the frontier of a crawl, due at once.
    pub fn into_row(self, crawl_id: CrawlId) -> CrawlUrl {
        CrawlUrl {
            crawl_id,
            url_id: self.url_id,
            url: self.url,
            host: self.host,
            kind: self.kind,
            depth: self.depth,
            priority: self.priority,
            chain: self.chain,
            path_key: self.path_key,
            state: CrawlUrlState::New,
            reason: None,
            target_id: None,
            queued: true,
            next_fetch_at: Some(in_turn(self.priority)),
            attempts: 0,
            missing: 0,
            fetched_at: None,
            changed_at: None,
            visits: 0,
            changes: 0,
            interval_seconds: None,
            fetched_from: None,
            etag: None,
            last_modified: None,
            content_digest: None,
        }
    }
}

/// Returns the place of a due visit in the order of its host: a time long past, whatever the clock says.
pub(crate) fn in_turn(priority: i32) -> Timestamp {
    Timestamp::from_millis(i64::from(priority))
}

/// Links that are not followed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SkippedLinks {
    pub reason: String,
    pub count: i64,
    pub example: String,
}

/// URLs of a crawl that are due at a host.
#[derive(Clone, Debug)]
pub struct DueUrls {
    pub crawl_id: CrawlId,
    /// Name of the crawl.
    pub name: String,
    /// Settings of the crawl.
    pub settings: String,
    pub urls: Vec<CrawlUrl>,
}

/// Politeness after a visit.
#[derive(Clone, Debug)]
pub struct HostVisit {
    pub next_request_at: Timestamp,
    pub response_millis: i64,
    pub failures: i32,
    pub lease_expires_at: Timestamp,
}

/// Next visit to a URL, if its crawl has an interval.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct NextVisit {
    pub at: Option<Timestamp>,
    pub interval_seconds: Option<i64>,
}

/// Change of the document at a visited URL.
#[derive(Clone, Debug)]
pub enum PageChange {
    /// Stores what was read.
    Save(Box<NewDocument>),
    /// Records that the stored content is current.
    Confirm,
    /// Nothing was learned of the content.
    Keep,
    /// Removes the document unless another crawl lists it. If the site says so, it is removed also if this crawl does not list it, and
    /// other crawls count only if they will visit it again, which they do at once. The site says so if it is gone, a duplicate,
    /// `noindex` or disallowed, or redirects to a page that is visited or for good.
    Remove,
}

/// Outcome of a visit.
#[derive(Clone, Debug)]
pub struct CrawlVisit {
    /// Settings of the crawl that the visit followed; `None` if it holds under any.
    pub settings: Option<String>,
    /// The row as it was read, with the new values.
    pub url: CrawlUrl,
    pub change: PageChange,
    /// Page that this one names as canonical, among the links. It is listed instead, or what it redirects to or names itself,
    /// unless the frontier refuses it, it was visited without success, or it leads back. A page that is listed stays until the other
    /// one is.
    pub canonical: Option<DocId>,
    /// Next visit to a page that was read in vain: it is not listed for the same reason as before.
    pub next_if_unchanged: NextVisit,
    pub links: Vec<NewCrawlUrl>,
    pub skipped: Vec<SkippedLinks>,
    pub host: HostVisit,
}

/// Limits of one crawl, besides its own.
#[derive(Clone, Copy, Debug)]
pub struct CrawlLimits {
    /// URLs of one path that differ in their parameters.
    pub queries_per_path: i64,
    /// Pages with the same content.
    pub same_content: i64,
    /// Shortest time between two visits of a page that links ask for; zero for a crawl without an interval.
    pub shortest_interval: Duration,
    /// Links are followed to a maximum depth only: a page that turns out to be nearer to a seed is read again, for its links.
    pub is_depth_bounded: bool,
}

/// Result of recording a visit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Recorded {
    Done {
        state: CrawlUrlState,
        reason: Option<String>,
        /// False if the crawl has been stopped.
        is_running: bool,
    },
    /// The crawl has other settings by now: the URL is still due, and only the visit to the host was stored.
    Outdated,
    /// The host is leased to another worker, or the crawl was deleted: nothing was stored.
    Lost,
}

/// Listed web page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WebPageEntry {
    pub doc_id: DocId,
    pub url: String,
    pub title: Option<String>,
    pub first_seen_at: Timestamp,
    pub last_crawled_at: Option<Timestamp>,
}

/// Number of pages that a crawl lists, and of queued URLs, over all crawls.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FrontierTotals {
    pub urls: i64,
    pub queued: i64,
    pub pages: i64,
    /// Hosts that asked for a pause or failed.
    pub hosts_in_back_off: i64,
}
