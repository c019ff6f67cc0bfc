use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use uuid::Uuid;
use validator::Validate;

use crate::IgnoredSchema;
use crate::strict::{integer, is_default, not_null, nullable_words, object, optional_integer, optional_word, word};
use crate::validation;

/// The body of `POST /v1/search`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// Search query in natural language. Drives ranking and passage selection even if `search_queries` is set.
    #[validate(length(min = 1, max = 8192))]
    pub query: String,
    /// Name of the calling model. Reserved for analytics; not stored.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub client_model: Option<String>,
    /// Filters on results.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub filters: Filters,
    /// Bounds on publication time.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    pub freshness_policy: FreshnessPolicy,
    /// Maximum number of results.
    #[serde(
        default = "default_max_results",
        deserialize_with = "integer",
        skip_serializing_if = "is_default_max_results"
    )]
    #[schemars(extend("default" = DEFAULT_MAX_RESULTS))]
    #[validate(range(min = 1, max = 50))]
    pub max_results: i64,
    /// Level of detail and size of the response.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub response: ResponseShape,
    /// Indexes to search. Default: the web index.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub scope: SearchScope,
    /// Rewrites of the query, at most 16. They replace `query` as the texts sent to the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("items" = {"type": "string", "maxLength": validation::MAX_QUERY_CHARS}))]
    #[schemars(extend("maxItems" = validation::MAX_SEARCH_QUERIES))]
    #[validate(custom(function = "validation::query_texts"))]
    pub search_queries: Option<Vec<String>>,
    /// Groups the requests of one task. Takes precedence over the header `X-Session-ID`.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub session_id: Option<String>,
    /// Allowed and excluded web sites.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub source_policy: SourcePolicy,
    /// Milliseconds after which stages that are not done are skipped, such as a reranking model. The answer so far is returned,
    /// with `degraded`. Default: no limit.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1, max = validation::MAX_TIMEOUT_MS))]
    pub timeout_ms: Option<i64>,
}

impl SearchRequest {
    /// Creates a search of the web index with default values.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            schema: IgnoredSchema,
            query: query.into(),
            client_model: None,
            filters: Filters::default(),
            freshness_policy: FreshnessPolicy::default(),
            max_results: DEFAULT_MAX_RESULTS,
            response: ResponseShape::default(),
            scope: SearchScope::default(),
            search_queries: None,
            session_id: None,
            source_policy: SourcePolicy::default(),
            timeout_ms: None,
        }
    }
}

/// Default of `max_results`.
pub const DEFAULT_MAX_RESULTS: i64 = 10;

fn default_max_results() -> i64 {
    DEFAULT_MAX_RESULTS
}

fn is_default_max_results(max_results: &i64) -> bool {
    *max_results == DEFAULT_MAX_RESULTS
}

/// Filters on results.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct Filters {
    /// Two-letter country code of a market. Applies to web pages; files have no country.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = "^[A-Za-z]{2}$"))]
    pub country: Option<String>,
    /// Two-letter language code.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = "^[A-Za-z]{2}$"))]
    pub language: Option<String>,
    /// Return only results that contain the text sent to the index verbatim, as a phrase: `query`, or one of
    /// `search_queries`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub exact_match: bool,
    /// Labels, at most 20: return only files with one of them, regardless of case. Labels of web pages are shown but not searched:
    /// only files are found by label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = crate::files::label_schema(), "maxItems" = validation::MAX_LABELS))]
    #[validate(custom(function = "validation::labels"))]
    pub labels: Vec<String>,
}

/// Bounds on publication time. With a bound, documents without a known publication time are excluded.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FreshnessPolicy {
    /// Lower bound of the publication time, exclusive: RFC 3339 or `YYYY-MM-DD` (start of that day, UTC). A page that states only
    /// that day is left out.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "time_or_day")]
    pub published_after: Option<String>,
    /// Latest publication time, exclusive: RFC 3339 or `YYYY-MM-DD` (start of that day, UTC).
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "time_or_day")]
    pub published_before: Option<String>,
    /// Window that ends now. Ignored if `published_after` is set.
    #[serde(default, deserialize_with = "optional_word", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Freshness")]
    pub freshness: Option<Freshness>,
}

/// The schema of `published_after` and `published_before`.
fn time_or_day(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "anyOf": [{ "format": "date-time" }, { "format": "date" }] })
}

/// A window that ends now.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    /// The past day.
    Pd,
    /// The past week.
    Pw,
    /// The past 31 days.
    Pm,
    /// The past 365 days.
    Py,
}

impl Freshness {
    /// Returns the length of the window in days, as in the search APIs that defined these codes.
    pub fn days(self) -> i64 {
        match self {
            Freshness::Pd => 1,
            Freshness::Pw => 7,
            Freshness::Pm => 31,
            Freshness::Py => 365,
        }
    }
}

/// Level of detail and size of the response.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ResponseShape {
    /// `ids_only` (rank, doc_id, URL, title), `compact` (adds snippet, score, key dates), `standard` (adds quotable
    /// passages) or `full` (adds provenance). Unknown values count as `standard`, with a warning.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "standard"))]
    pub verbosity: Verbosity,
    /// Limit on the size of the response.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub budget: ResponseBudget,
    /// Maximum number of passages of each result, in presets with passages.
    #[serde(
        default = "default_max_passages",
        deserialize_with = "integer",
        skip_serializing_if = "is_default_max_passages"
    )]
    #[schemars(extend("default" = DEFAULT_MAX_PASSAGES))]
    #[validate(range(min = 0, max = 10))]
    pub max_passages_per_result: i64,
    /// Maximum size of each serialized result in characters. Further passages are left out first, then the end of the snippet and
    /// other fields; a passage that is too long is cut. Rank, `doc_id`, URL and title always remain.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1))]
    pub max_chars_per_result: Option<i64>,
}

impl Default for ResponseShape {
    fn default() -> Self {
        Self {
            verbosity: Verbosity::default(),
            budget: ResponseBudget::default(),
            max_passages_per_result: DEFAULT_MAX_PASSAGES,
            max_chars_per_result: None,
        }
    }
}

/// Default of `response.max_passages_per_result`.
pub const DEFAULT_MAX_PASSAGES: i64 = 3;

fn default_max_passages() -> i64 {
    DEFAULT_MAX_PASSAGES
}

fn is_default_max_passages(count: &i64) -> bool {
    *count == DEFAULT_MAX_PASSAGES
}

/// A verbosity preset. Accepts any string; see [`Verbosity::Unrecognized`].
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Verbosity {
    IdsOnly,
    Compact,
    #[default]
    Standard,
    Full,
    /// An unknown preset, treated as `standard` with the warning `unknown_field`.
    Unrecognized(String),
}

impl Verbosity {
    pub fn as_str(&self) -> &str {
        match self {
            Verbosity::IdsOnly => "ids_only",
            Verbosity::Compact => "compact",
            Verbosity::Standard => "standard",
            Verbosity::Full => "full",
            Verbosity::Unrecognized(value) => value,
        }
    }
}

impl<'de> Deserialize<'de> for Verbosity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = String::deserialize(deserializer)?;
        Ok(match value.as_str() {
            "ids_only" => Verbosity::IdsOnly,
            "compact" => Verbosity::Compact,
            "standard" => Verbosity::Standard,
            "full" => Verbosity::Full,
            _ => Verbosity::Unrecognized(value),
        })
    }
}

impl Serialize for Verbosity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl JsonSchema for Verbosity {
    fn schema_name() -> Cow<'static, str> {
        "Verbosity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How much of each result to return.",
            "type": "string",
            "enum": ["ids_only", "compact", "standard", "full"],
            "default": "standard",
            "x-enumDescriptions": {
                "ids_only": "Rank, `doc_id`, URL and title. No `access` block.",
                "compact": "Adds snippet, score and key dates.",
                "standard": "Adds quotable passages.",
                "full": "Adds provenance.",
            },
        })
    }
}

/// Limit on the size of the response.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ResponseBudget {
    /// Maximum size of the whole serialized body in characters (about 4 characters per token).
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1))]
    pub max_chars_total: Option<i64>,
    /// Behavior if the body is larger.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "shed"))]
    pub on_exceed: OnExceed,
}

/// Behavior if the body is larger than the budget.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnExceed {
    /// Omit as little as needed: passages, snippet tails, preset extras, tail results, in this order.
    #[default]
    Shed,
    /// Fail with `response_too_large` if even shedding cannot meet the budget.
    Error,
}

/// Indexes to search.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct SearchScope {
    /// `web` (shared corpus) and/or `workspace` (the organization's own documents). Null or empty: `["web"]`.
    #[serde(default, deserialize_with = "nullable_words", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ["web"], "maxItems" = validation::MAX_WORDS))]
    #[validate(custom(function = "validation::words"))]
    pub indexes: Option<Vec<SearchIndex>>,
    /// The organization id; required when `indexes` includes `workspace`. Other ids are refused.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub workspace_id: Option<String>,
}

/// A searchable collection.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchIndex {
    /// The shared web corpus.
    Web,
    /// The organization's own files.
    Workspace,
}

/// The schema of a domain, or of one with a path.
fn site() -> Value {
    let host = r"([A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*";
    let path = r"(/[A-Za-z0-9._~%!$&'()*+,;=:@-]*)*";
    json!({"type": "string", "anyOf": [{"format": "idn-hostname"}, {"pattern": format!("^{host}{path}$")}]})
}

/// Allowed and excluded web sites. Domains match their subdomains; a leading `www.` is ignored. With a path,
/// `example.com/docs` matches that page and everything below it; the case of the path counts.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct SourcePolicy {
    /// Preferred domains, with or without a path, at most 1,000; with `require_domain_match`, the only allowed ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = site(), "maxItems" = validation::MAX_DOMAINS))]
    #[validate(custom(function = "validation::domains"))]
    pub include_domains: Vec<String>,
    /// Excluded domains, with or without a path, at most 1,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = site(), "maxItems" = validation::MAX_DOMAINS))]
    #[validate(custom(function = "validation::domains"))]
    pub exclude_domains: Vec<String>,
    /// Drop results outside `include_domains`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub require_domain_match: bool,
}
