use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use validator::Validate;

use crate::strict::{is_default, not_null, optional_integer, word};
use crate::{IgnoredSchema, validation};

// The use case checks the numbers of URLs and patterns, since a stored crawl with more of them may go on.
/// The body of `POST /v1/web/crawls`.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct WebCrawlCreateRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// Sites, pages, sitemaps or feeds to begin with: 1 to 100 URLs. The crawl stays on their hosts.
    #[schemars(extend("minItems" = 1, "maxItems" = validation::MAX_URLS))]
    pub urls: Vec<String>,
    /// Name of the crawl. A crawl of this name goes on, or begins a new round if it has ended. Default: the first host.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(min = 1, max = 200))]
    pub name: Option<String>,
    /// Maximum number of links from a given URL to a page. Default: any.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 0, max = 1_000_000))]
    pub depth: Option<i64>,
    /// Maximum number of pages in the index. Default: all.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1))]
    pub limit: Option<i64>,
    /// Patterns of the pages to list, at most 100: of path and query (`/docs/*`) or of the URL (`https://host/docs/*`). `*` is
    /// any text. Default: all pages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("maxItems" = validation::MAX_PATTERNS))]
    pub include: Vec<String>,
    /// Patterns of the pages to leave out, at most 100. They precede `include`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("maxItems" = validation::MAX_PATTERNS))]
    pub exclude: Vec<String>,
    /// Use of sitemaps and feeds.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "auto"))]
    pub sitemaps: WebSitemaps,
    /// Shortest interval in seconds of reading a page again. Default: one round.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1, max = 31_622_400))]
    pub every_seconds: Option<i64>,
}

/// Use of sitemaps and feeds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WebSitemaps {
    /// Pages of sitemaps and linked pages.
    #[default]
    Auto,
    /// Pages of sitemaps and feeds only.
    Only,
    /// Linked pages only, unless a given URL is a sitemap.
    Off,
}

/// A crawl.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebCrawlEntry {
    /// Name of the crawl.
    pub name: String,
    /// Id of the crawl.
    pub crawl_id: Uuid,
    /// State of the crawl.
    pub state: WebCrawlState,
    /// Pages in the index.
    #[schemars(range(min = 0))]
    pub pages: i64,
    /// URLs that the current round has yet to visit.
    #[schemars(range(min = 0))]
    pub queued: i64,
    /// URLs in the frontier, with visited ones.
    #[schemars(range(min = 0))]
    pub urls: i64,
    /// Maximum number of pages; omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1))]
    pub limit: Option<i64>,
    /// Time of creation (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// Start of the current round (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// End of the last round (RFC 3339); omitted before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub finished_at: Option<String>,
    /// Settings of the crawl.
    pub settings: WebCrawlSettings,
}

/// State of a crawl.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WebCrawlState {
    /// Servers work on it.
    Running,
    /// The round has ended; pages are read again at their intervals.
    Waiting,
    /// The round has ended.
    Completed,
    /// Stopped. Starting a crawl of its name goes on.
    Stopped,
    /// A state of a newer server; never sent.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Settings of a crawl.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebCrawlSettings {
    /// Canonical URLs that the crawl begins with.
    pub seeds: Vec<String>,
    /// Maximum number of links from a seed to a page; omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 0))]
    pub depth: Option<i64>,
    /// Patterns of the pages to list; empty for all pages.
    pub include: Vec<String>,
    /// Patterns of the pages to leave out.
    pub exclude: Vec<String>,
    /// Use of sitemaps and feeds.
    pub sitemaps: WebSitemaps,
    /// Shortest interval in seconds of reading a page again; omitted for one round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1))]
    pub every_seconds: Option<i64>,
}

/// URLs of a crawl by outcome, and the reasons with their numbers.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebCrawlOutcomes {
    /// URLs that redirect to another one.
    #[schemars(range(min = 0))]
    pub redirected: i64,
    /// Reachable URLs that are not to be listed.
    #[schemars(range(min = 0))]
    pub skipped: i64,
    /// Skipped URLs by reason.
    pub skipped_by_reason: BTreeMap<String, WebCrawlReason>,
    /// URLs that could not be read.
    #[schemars(range(min = 0))]
    pub failed: i64,
    /// Failed URLs by reason.
    pub failed_by_reason: BTreeMap<String, WebCrawlReason>,
    /// Pages that left the index after repeated 404 or 410 responses.
    #[schemars(range(min = 0))]
    pub gone: i64,
    /// Gone URLs by reason.
    pub gone_by_reason: BTreeMap<String, WebCrawlReason>,
    /// Links that were not followed, by reason.
    pub links_not_followed: BTreeMap<String, WebCrawlReason>,
}

/// URLs or links with the same reason.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebCrawlReason {
    /// Their number.
    #[schemars(range(min = 0))]
    pub count: i64,
    /// One of the URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub example: Option<String>,
}

/// The response of `GET /v1/web/crawls`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebCrawlListResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// All crawls, oldest first.
    pub crawls: Vec<WebCrawlEntry>,
}

/// The response of `POST /v1/web/crawls` and `POST /v1/web/crawls/{name}/stop`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebCrawlResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// The crawl.
    #[serde(flatten)]
    pub crawl: WebCrawlEntry,
}

/// The response of `GET /v1/web/crawls/{name}`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebCrawlReportResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// The crawl.
    #[serde(flatten)]
    pub crawl: WebCrawlEntry,
    /// URLs by outcome.
    #[serde(flatten)]
    pub outcomes: WebCrawlOutcomes,
}

/// The response of `DELETE /v1/web/crawls/{name}`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebCrawlDeleteResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Name of the crawl.
    pub name: String,
    /// False if the crawl is so large that URLs are left: repeat the request.
    pub removed: bool,
    /// True if pages that no other crawl lists are removed as well.
    pub pages_removed: bool,
}
