use diesel::prelude::*;
use model::{CrawlId, CrawlStatus, CrawlUrlKind, CrawlUrlState, DocId, Timestamp};

use crate::schema::{crawl_counts, crawl_hosts, crawl_queues, crawl_urls, crawls};
use crate::types::row;

row! {
    /// Crawl of the shared web index.
    #[derive(Clone, Debug, Insertable, PartialEq, Queryable, Selectable)]
    #[diesel(table_name = crawls, treat_none_as_default_value = false)]
    pub struct Crawl {
        pub crawl_id: CrawlId,
        pub name: String,
        /// JSON of the crawler.
        pub settings: String,
        pub status: CrawlStatus,
        pub created_at: Timestamp,
        /// Start of the current round, which visits every URL.
        pub started_at: Timestamp,
        /// End of the current round.
        pub finished_at: Option<Timestamp>,
        /// Maximum number of listed pages.
        pub page_limit: Option<i64>,
        /// Maximum number of URLs in the frontier; none while the crawl is removed.
        pub url_limit: i64,
        pub urls: i64,
        /// URLs whose visit the current round waits for.
        pub queued: i64,
        /// Listed pages.
        pub pages: i64,
    }
}

impl Crawl {
    /// Creates a crawl that begins its first round, without a limit of pages.
    pub fn new(crawl_id: CrawlId, name: String, settings: String, url_limit: i64, now: Timestamp) -> Self {
        Self {
            crawl_id,
            name,
            settings,
            status: CrawlStatus::Running,
            created_at: now,
            started_at: now,
            finished_at: None,
            page_limit: None,
            url_limit,
            urls: 0,
            queued: 0,
            pages: 0,
        }
    }

    /// Returns true if no further page may be listed.
    pub fn is_full(&self) -> bool {
        self.page_limit.is_some_and(|limit| self.pages >= limit)
    }
}

row! {
    /// URL in the frontier of a crawl.
    #[derive(AsChangeset, Clone, Debug, Insertable, PartialEq, Queryable, Selectable)]
    #[diesel(table_name = crawl_urls, primary_key(crawl_id, url_id), treat_none_as_null = true, treat_none_as_default_value = false)]
    pub struct CrawlUrl {
        pub crawl_id: CrawlId,
        /// Id of the document at the URL.
        pub url_id: DocId,
        pub url: String,
        /// Name, with the port unless it is the scheme's.
        pub host: String,
        pub kind: CrawlUrlKind,
        pub depth: i32,
        pub priority: i32,
        /// Links from pages of the same pattern on the way here.
        pub chain: i32,
        /// Hash of host and path of a URL with parameters.
        pub path_key: Option<i64>,
        pub state: CrawlUrlState,
        pub reason: Option<String>,
        /// Target of a redirect, or the page that `rel=canonical` leads to. A listed page waits for it to be listed.
        pub target_id: Option<DocId>,
        /// True if the current round waits for the visit.
        pub queued: bool,
        pub next_fetch_at: Option<Timestamp>,
        /// Failed attempts since the last response of use.
        pub attempts: i32,
        /// 404 and 410 responses in a row.
        pub missing: i32,
        pub fetched_at: Option<Timestamp>,
        /// Last change of the content or the state, or the time at which the URL was settled without a visit.
        pub changed_at: Option<Timestamp>,
        pub visits: i32,
        pub changes: i32,
        pub interval_seconds: Option<i64>,
        /// URL that the validators belong to.
        pub fetched_from: Option<String>,
        pub etag: Option<String>,
        pub last_modified: Option<String>,
        pub content_digest: Option<String>,
    }
}

impl CrawlUrl {
    /// Returns true if the URL is one of the crawl's pages. Sitemaps are listed too, but are no pages.
    pub fn is_listed_page(&self) -> bool {
        self.kind == CrawlUrlKind::Page && self.state == CrawlUrlState::Listed
    }
}

row! {
    /// Politeness towards a host, shared by all crawls and instances.
    #[derive(AsChangeset, Clone, Debug, Insertable, PartialEq, Queryable, Selectable)]
    #[diesel(table_name = crawl_hosts, primary_key(host), treat_none_as_null = true, treat_none_as_default_value = false)]
    pub struct CrawlHost {
        pub host: String,
        pub next_request_at: Timestamp,
        /// Smoothed response time.
        pub response_millis: i64,
        /// Failures in a row that call for back-off.
        pub failures: i32,
        pub claimed_at: Timestamp,
        pub lease_owner: Option<String>,
        pub lease_expires_at: Option<Timestamp>,
    }
}

row! {
    #[derive(Clone, Debug, Insertable)]
    #[diesel(table_name = crawl_queues, treat_none_as_default_value = false)]
    pub struct CrawlQueue {
        pub crawl_id: CrawlId,
        pub host: String,
        pub next_at: Option<Timestamp>,
    }
}

row! {
    /// Number of URLs of a state and reason, or of links that were not followed for a reason.
    #[derive(Clone, Debug, Insertable, PartialEq, Queryable, Selectable)]
    #[diesel(table_name = crawl_counts, treat_none_as_default_value = false)]
    pub struct CrawlCount {
        pub crawl_id: CrawlId,
        /// Name of a state, or `link`.
        pub kind: String,
        pub reason: String,
        pub count: i64,
        /// One of the URLs.
        pub example: Option<String>,
    }
}
