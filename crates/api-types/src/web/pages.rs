use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use validator::Validate;

use crate::strict::not_null;
use crate::{IgnoredSchema, validation};

/// A page of the shared web index.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebPageEntry {
    /// Canonical URL.
    pub url: String,
    /// Id of the document.
    pub doc_id: Uuid,
    /// Title of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub title: Option<String>,
    /// Time at which the page was first stored (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub first_seen_at: String,
    /// Time of the last visit (RFC 3339); omitted if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_crawled_at: Option<String>,
}

/// The response of `GET /v1/web/pages`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebPageListResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Pages of the shared web index, in no particular order.
    pub pages: Vec<WebPageEntry>,
    /// Cursor of the next page of the list; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub next_cursor: Option<String>,
}

/// The body of `POST /v1/web/pages/remove`: exactly one of `url`, `host` and `prefix`.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["url"]}, {"required": ["host"]}, {"required": ["prefix"]}]))]
pub struct WebPagesRemoveRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// URL of the page to remove.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(min = 1, max = 2048))]
    pub url: Option<String>,
    /// Host of the pages to remove, with its port unless that is the scheme's.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(min = 1, max = 300))]
    pub host: Option<String>,
    /// Beginning of the canonical URLs of the pages to remove.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(min = 1, max = 2048))]
    pub prefix: Option<String>,
}

/// The response of `POST /v1/web/pages/remove`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebPagesRemoveResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Number of pages that this request removed; 0 if none matches.
    #[schemars(range(min = 0))]
    pub removed: i64,
    /// False if so many pages match that some are left: repeat the request.
    pub is_complete: bool,
}

/// The body of `POST /v1/web/pages/refresh`.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct WebPagesRefreshRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// URLs of pages of the shared web index: 1 to 100.
    #[schemars(extend("minItems" = 1, "maxItems" = validation::MAX_URLS))]
    #[validate(custom(function = "validation::urls"))]
    pub urls: Vec<String>,
}

/// The response of `POST /v1/web/pages/refresh`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebPagesRefreshResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Outcome of each URL, in the order of the request.
    pub results: Vec<WebPageRefresh>,
}

/// Outcome of a refresh.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebPageRefresh {
    /// Canonical URL.
    pub url: String,
    /// False if the shared web index does not contain the page: start a crawl instead.
    pub queued: bool,
}
