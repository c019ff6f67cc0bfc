use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The response of `GET /v1/usage`: activity of the organization's credentials in a time window.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct UsageOverview {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Totals of the window.
    pub headline: Headline,
    /// Sorted by requests, descending.
    pub endpoints: Vec<EndpointUsage>,
    /// Sorted by requests, descending.
    pub keys: Vec<KeyUsage>,
    /// One ungrouped point per bucket.
    pub latency_series: Vec<LatencyPoint>,
    /// Billable products.
    pub products: Vec<ProductUsage>,
    /// The resolved window.
    pub range: UsageRange,
    /// Requests per bucket, zero-filled.
    pub series: Vec<SeriesPoint>,
}

/// Totals of the window. Durations are milliseconds.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Headline {
    /// Number of answered requests.
    #[schemars(range(min = 0))]
    pub requests: i64,
    /// Number of responses with a status of 400 or more.
    #[schemars(range(min = 0))]
    pub errors: i64,
    /// `errors / requests`; 0 without requests.
    #[schemars(range(min = 0, max = 1))]
    pub error_rate: f64,
    /// Mean response time in milliseconds.
    #[schemars(range(min = 0))]
    pub avg_duration_ms: f64,
    /// 95th percentile of the response time in milliseconds.
    #[schemars(range(min = 0))]
    pub p95_duration_ms: f64,
    /// Charges less refunds, in cents. A refund counts when it is made, so a window can be negative.
    pub spend_cents: i64,
}

/// Usage of one endpoint.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct EndpointUsage {
    /// Method and path template.
    pub route: String,
    /// Display name.
    pub label: String,
    /// Number of answered requests.
    #[schemars(range(min = 0))]
    pub requests: i64,
    /// Number of responses with a status of 400 or more.
    #[schemars(range(min = 0))]
    pub errors: i64,
    /// 95th percentile of the response time in milliseconds.
    #[schemars(range(min = 0))]
    pub p95_duration_ms: f64,
}

/// Usage of one key.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct KeyUsage {
    /// Id of the key.
    pub api_key_id: Uuid,
    /// Visible prefix of the key.
    pub key_prefix: String,
    /// Name of the key.
    pub name: String,
    /// State of the key.
    pub status: KeyStatus,
    /// Number of answered requests.
    #[schemars(range(min = 0))]
    pub requests: i64,
    /// Number of responses with a status of 400 or more.
    #[schemars(range(min = 0))]
    pub errors: i64,
    /// 95th percentile of the response time in milliseconds.
    #[schemars(range(min = 0))]
    pub p95_duration_ms: f64,
    /// Charges less refunds, in cents. A refund counts when it is made, so a window can be negative.
    pub spend_cents: i64,
    /// Time of the last use (RFC 3339); omitted if never used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_used_at: Option<String>,
}

/// State of a key.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyStatus {
    /// Active.
    Active,
    /// Expired.
    Expired,
    /// Revoked.
    Revoked,
}

/// Response times in one bucket.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LatencyPoint {
    /// Start of the bucket (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub bucket: String,
    /// Mean response time in milliseconds.
    #[schemars(range(min = 0))]
    pub avg_duration_ms: f64,
    /// 95th percentile of the response time in milliseconds.
    #[schemars(range(min = 0))]
    pub p95_duration_ms: f64,
}

/// Usage of one billable product.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ProductUsage {
    /// Stable name of the product.
    pub product: String,
    /// Display name.
    pub label: String,
    /// Number of answered requests to the endpoint of the product, MCP included.
    #[schemars(range(min = 0))]
    pub requests: i64,
    /// Charges less refunds, in cents. A refund counts when it is made, so a window can be negative.
    /// Those of research runs and compatible endpoints are included.
    pub spend_cents: i64,
}

/// The resolved window.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct UsageRange {
    /// Start of the window.
    #[schemars(extend("format" = "date-time"))]
    pub from: String,
    /// End of the window.
    #[schemars(extend("format" = "date-time"))]
    pub to: String,
    /// Length of a bucket.
    pub interval: Bucket,
    /// Always `UTC`.
    pub timezone: String,
}

/// Length of a bucket.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bucket {
    /// An hour.
    Hour,
    /// A day, in UTC.
    Day,
}

/// Requests of one bucket, or of one group in it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct SeriesPoint {
    /// Start of the bucket (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub bucket: String,
    /// Key, endpoint or status class of the group; `other` for credentials beyond the 100 busiest; empty without grouping.
    pub group_id: String,
    /// Display name.
    pub group_label: String,
    /// Number of answered requests.
    #[schemars(range(min = 0))]
    pub requests: i64,
    /// Number of responses with a status of 400 or more.
    #[schemars(range(min = 0))]
    pub errors: i64,
}
