use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The answer of `GET /v1/usage`: what the organization's credentials did in a window of time.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct UsageOverview {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Identifies this request.
    pub request_id: Uuid,
    /// Totals of the window.
    pub headline: Headline,
    /// Requests descending.
    pub endpoints: Vec<EndpointUsage>,
    /// Requests descending.
    pub keys: Vec<KeyUsage>,
    /// Ungrouped, one point a bucket.
    pub latency_series: Vec<LatencyPoint>,
    /// Billable products.
    pub products: Vec<ProductUsage>,
    /// The window that was resolved from the parameters.
    pub range: UsageRange,
    /// Requests per bucket, zero-filled.
    pub series: Vec<SeriesPoint>,
}

/// Totals of the window. Durations are milliseconds.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Headline {
    /// Requests that were answered.
    #[schemars(range(min = 0))]
    pub requests: i64,
    /// Answers with a status of 400 or more.
    #[schemars(range(min = 0))]
    pub errors: i64,
    /// `errors / requests`; 0 without requests.
    #[schemars(range(min = 0, max = 1))]
    pub error_rate: f64,
    /// Mean time to answer, in milliseconds.
    #[schemars(range(min = 0))]
    pub avg_duration_ms: f64,
    /// 95 of 100 answers took at most this long, in milliseconds.
    #[schemars(range(min = 0))]
    pub p95_duration_ms: f64,
    /// What was charged, in cents.
    #[schemars(range(min = 0))]
    pub spend_cents: i64,
}

/// What one endpoint was asked.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct EndpointUsage {
    /// Method and path template.
    pub route: String,
    /// For people.
    pub label: String,
    /// Requests that were answered.
    #[schemars(range(min = 0))]
    pub requests: i64,
    /// Answers with a status of 400 or more.
    #[schemars(range(min = 0))]
    pub errors: i64,
    /// 95 of 100 answers took at most this long, in milliseconds.
    #[schemars(range(min = 0))]
    pub p95_duration_ms: f64,
}

/// What one key asked.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct KeyUsage {
    /// Identifies the key.
    pub api_key_id: Uuid,
    /// The recognizable start of the key.
    pub key_prefix: String,
    /// The name that the key was given.
    pub name: String,
    /// Whether the key works.
    pub status: KeyStatus,
    /// Requests that were answered.
    #[schemars(range(min = 0))]
    pub requests: i64,
    /// Answers with a status of 400 or more.
    #[schemars(range(min = 0))]
    pub errors: i64,
    /// 95 of 100 answers took at most this long, in milliseconds.
    #[schemars(range(min = 0))]
    pub p95_duration_ms: f64,
    /// What was charged, in cents.
    #[schemars(range(min = 0))]
    pub spend_cents: i64,
    /// Left out when the key was never used (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_used_at: Option<String>,
}

/// Whether a key works.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyStatus {
    /// It is accepted.
    Active,
    /// Its time is over.
    Expired,
    /// It was taken back.
    Revoked,
}

/// How long answers took in one bucket.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LatencyPoint {
    /// Start of the bucket (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub bucket: String,
    /// Mean time to answer, in milliseconds.
    #[schemars(range(min = 0))]
    pub avg_duration_ms: f64,
    /// 95 of 100 answers took at most this long, in milliseconds.
    #[schemars(range(min = 0))]
    pub p95_duration_ms: f64,
}

/// What one billable product was asked.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ProductUsage {
    /// Stable name of the product.
    pub product: String,
    /// For people.
    pub label: String,
    /// Requests that were answered.
    #[schemars(range(min = 0))]
    pub requests: i64,
    /// What was charged, in cents.
    #[schemars(range(min = 0))]
    pub spend_cents: i64,
}

/// The window that was resolved from the parameters.
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

/// The requests of one bucket, or of one group in it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct SeriesPoint {
    /// Start of the bucket (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub bucket: String,
    /// The key, endpoint or status class that the requests are grouped by; empty when ungrouped.
    pub group_id: String,
    /// For people.
    pub group_label: String,
    /// Requests that were answered.
    #[schemars(range(min = 0))]
    pub requests: i64,
    /// Answers with a status of 400 or more.
    #[schemars(range(min = 0))]
    pub errors: i64,
}
