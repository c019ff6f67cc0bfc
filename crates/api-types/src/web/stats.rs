use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The response of `GET /v1/web/stats`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebStatsResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Pages of the shared web index.
    #[schemars(range(min = 0))]
    pub pages: i64,
    /// Hosts of these pages.
    #[schemars(range(min = 0))]
    pub hosts: i64,
    /// Hosts with the most pages, the largest first.
    pub largest_hosts: Vec<WebHost>,
    /// Time of the earliest last visit of a page (RFC 3339); omitted without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub oldest_crawl: Option<String>,
    /// Number of crawls.
    #[schemars(range(min = 0))]
    pub crawls: i64,
    /// Pages that crawls list; a page of two crawls counts twice.
    #[schemars(range(min = 0))]
    pub crawled_pages: i64,
    /// URLs in the frontier of all crawls, with visited ones.
    #[schemars(range(min = 0))]
    pub urls: i64,
    /// URLs that the current rounds have yet to visit.
    #[schemars(range(min = 0))]
    pub queued: i64,
    /// Hosts that asked for a pause or failed.
    #[schemars(range(min = 0))]
    pub hosts_in_back_off: i64,
}

/// A host of the shared web index.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebHost {
    /// Name, with the port unless that is the scheme's.
    pub host: String,
    /// Pages of the host.
    #[schemars(range(min = 0))]
    pub pages: i64,
}
