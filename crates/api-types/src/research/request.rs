use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;
use validator::Validate;

use crate::search_request::{Filters, FreshnessPolicy, SearchScope, SourcePolicy};
use crate::strict::{integer, is_default, not_null, object, optional_integer, optional_object, optional_words, word};
use crate::{IgnoredSchema, validation};

/// The body of `POST /v1/research`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ResearchRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// Question in natural language, or several questions.
    #[validate(length(min = 1, max = 8000))]
    pub query: String,
    /// Thoroughness: presets of the budget.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "standard"))]
    pub depth: ResearchDepth,
    /// Wishes for the report, such as its readers or language. Only a model can follow them.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 4000))]
    pub instructions: Option<String>,
    /// Indexes to search, as in a search. Default: the web index.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub scope: SearchScope,
    /// Filters on sources, as in a search.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub filters: Filters,
    /// Bounds on publication time, as in a search.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    pub freshness_policy: FreshnessPolicy,
    /// Allowed and excluded web sites, as in a search.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub source_policy: SourcePolicy,
    /// Form of the report.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub output: ResearchOutputRequest,
    /// Limits of the run. Unset ones take the preset of the depth.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub budget: ResearchBudget,
    /// Completed run to continue: short questions are understood in its context.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub previous_research_id: Option<String>,
    /// Labels of the caller, returned with the run: at most 16, with keys of 1 to 64 characters and values of at most 512.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = validation::MAX_METADATA))]
    #[validate(custom(function = "validation::metadata"))]
    pub metadata: BTreeMap<String, String>,
    /// Groups the requests of one task. Takes precedence over the header `X-Session-ID`.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub session_id: Option<String>,
    /// Name of the calling model. Reserved for analytics; not stored.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub client_model: Option<String>,
    /// Address that receives the end of this run, in addition to the webhooks of the organization.
    #[serde(default, deserialize_with = "optional_object", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ResearchWebhookRequest")]
    #[validate(nested)]
    pub webhook: Option<ResearchWebhookRequest>,
}

/// Thoroughness of a run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchDepth {
    /// Up to 6 searches, 8 documents, 30 seconds, 20,000 tokens.
    Quick,
    /// Up to 24 searches, 40 documents, 300 seconds, 150,000 tokens.
    #[default]
    Standard,
    /// Up to 60 searches, 120 documents, 900 seconds, 500,000 tokens.
    Deep,
}

/// Form of the report.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ResearchOutputRequest {
    /// Format of the report.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "markdown"))]
    pub format: ResearchFormat,
    /// JSON Schema (2020-12) of a structured report: at most 64 kB, 16 levels, 2,000 subschemas and 64 different patterns,
    /// without external and recursive references.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub schema: Option<Map<String, Value>>,
    /// Maximum length of the report in characters.
    #[serde(default = "default_max_chars", deserialize_with = "integer", skip_serializing_if = "is_default_max_chars")]
    #[schemars(extend("default" = DEFAULT_MAX_CHARS))]
    #[validate(range(min = 200, max = 100_000))]
    pub max_chars: i64,
}

impl Default for ResearchOutputRequest {
    fn default() -> Self {
        Self { format: ResearchFormat::default(), schema: None, max_chars: DEFAULT_MAX_CHARS }
    }
}

/// Default of `output.max_chars`.
const DEFAULT_MAX_CHARS: i64 = 12_000;

fn default_max_chars() -> i64 {
    DEFAULT_MAX_CHARS
}

fn is_default_max_chars(count: &i64) -> bool {
    *count == DEFAULT_MAX_CHARS
}

/// Format of a report.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchFormat {
    /// Markdown with marks such as `[1]`.
    #[default]
    Markdown,
    /// Plain text with marks such as `[1]`.
    Text,
    /// JSON that the schema describes.
    Structured,
}

/// Limits of a run. No step begins that could exceed one of them.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ResearchBudget {
    /// Maximum number of searches.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1, max = 200))]
    pub max_searches: Option<i64>,
    /// Maximum number of documents read; results of searches do not count.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 0, max = 500))]
    pub max_documents: Option<i64>,
    /// Maximum time of the run in seconds.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1, max = 3600))]
    pub max_seconds: Option<i64>,
    /// Maximum number of tokens of the model, prompts and answers together. With 0 no model is used.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 0, max = 5_000_000))]
    pub max_tokens: Option<i64>,
    /// Ending of a run that is out of budget.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "return_partial"))]
    pub on_exceed: ResearchOnExceed,
}

/// Ending of a run that is out of budget.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchOnExceed {
    /// The report covers the material found so far, with the warning `budget_reached`.
    #[default]
    ReturnPartial,
    /// The run fails without a report.
    Fail,
}

/// Address that receives the end of one run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ResearchWebhookRequest {
    /// Address that receives the event by `POST`: http or https, on the public internet.
    #[schemars(extend("format" = "iri"))]
    #[validate(length(min = 1, max = 2048))]
    pub url: String,
    /// Types of the events to receive, at least one. Default: all.
    #[serde(default, deserialize_with = "optional_words", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<ResearchEventType>", extend("minItems" = 1, "maxItems" = validation::MAX_WORDS))]
    #[validate(custom(function = "validation::some_words"))]
    pub event_types: Option<Vec<ResearchEventType>>,
}

/// Type of an event about the end of a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum ResearchEventType {
    /// The run completed.
    #[serde(rename = "research.completed")]
    Completed,
    /// The run failed.
    #[serde(rename = "research.failed")]
    Failed,
    /// The run was cancelled.
    #[serde(rename = "research.cancelled")]
    Cancelled,
}
