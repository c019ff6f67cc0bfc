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
    pub requests: i64,
    /// Answers with a status of 400 or more.
    pub errors: i64,
    /// `errors / requests`; 0 without requests.
    pub error_rate: f64,
    pub avg_duration_ms: f64,
    pub p95_duration_ms: f64,
    pub spend_cents: i64,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct EndpointUsage {
    /// Method and path template.
    pub route: String,
    /// For people.
    pub label: String,
    pub requests: i64,
    pub errors: i64,
    pub p95_duration_ms: f64,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct KeyUsage {
    pub api_key_id: Uuid,
    /// The recognizable start of the key.
    pub key_prefix: String,
    pub name: String,
    pub status: KeyStatus,
    pub requests: i64,
    pub errors: i64,
    pub p95_duration_ms: f64,
    pub spend_cents: i64,
    /// Left out when the key was never used (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_used_at: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyStatus {
    Active,
    Expired,
    Revoked,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LatencyPoint {
    /// Start of the bucket (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub bucket: String,
    pub avg_duration_ms: f64,
    pub p95_duration_ms: f64,
}

#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ProductUsage {
    pub product: String,
    /// For people.
    pub label: String,
    pub requests: i64,
    pub spend_cents: i64,
}

#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct UsageRange {
    #[schemars(extend("format" = "date-time"))]
    pub from: String,
    #[schemars(extend("format" = "date-time"))]
    pub to: String,
    pub interval: Bucket,
    /// Always `UTC`.
    pub timezone: String,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bucket {
    Hour,
    Day,
}

#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct SeriesPoint {
    /// Start of the bucket (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub bucket: String,
    /// The key, endpoint or status class that the requests are grouped by; empty when ungrouped.
    pub group_id: String,
    /// For people.
    pub group_label: String,
    pub requests: i64,
    pub errors: i64,
}
