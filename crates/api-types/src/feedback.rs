use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use validator::Validate;

use crate::strict::{is_default, not_null, object, optional_integer, word};
use crate::validation;
use crate::{Access, IgnoredSchema, Usage};

/// The body of `POST /v1/feedback`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct FeedbackRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// What happened.
    #[serde(deserialize_with = "word")]
    pub event_type: EventType,
    /// The agent that gives the feedback.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub agent_context: AgentContext,
    /// The document that the event concerns.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub doc_id: Option<String>,
    /// The passage that the event concerns; most useful with `passage_used`.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub passage_id: Option<String>,
    /// The ranked list that produced the result.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub search_id: Option<String>,
    /// Groups the requests of one task. Equivalent to the header `X-Session-ID`, and wins over it.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub session_id: Option<String>,
    /// Free text for human review and offline evaluation.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 4096))]
    pub comment: Option<String>,
    /// The query text; useful when no `search_id` is at hand.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 8192))]
    pub query: Option<String>,
    /// The result's position in the ranked list, from 1.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1, max = 2147483647))]
    pub rank: Option<i64>,
}

impl FeedbackRequest {
    /// The event alone, with every other field left out.
    pub fn new(event_type: EventType) -> Self {
        Self {
            schema: IgnoredSchema,
            event_type,
            agent_context: AgentContext::default(),
            doc_id: None,
            passage_id: None,
            search_id: None,
            session_id: None,
            comment: None,
            query: None,
            rank: None,
        }
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventType {
    /// The result helped.
    ResultHelpful,
    /// The result did not help.
    ResultNotHelpful,
    /// The passage was used in an answer.
    PassageUsed,
    /// Reading was given up.
    ReadAbandoned,
    /// The result repeats another one.
    DuplicateResult,
    /// The content is out of date.
    StaleResult,
    /// The result is spam, or worth little.
    SpamOrLowQuality,
    /// A source that should be there is not.
    MissingExpectedSource,
    /// The content is unsafe, or breaks a policy.
    UnsafeOrPolicyIssue,
}

/// The agent that gives the feedback.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct AgentContext {
    /// The calling model; stored with the event.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 512))]
    pub client_model: Option<String>,
}

/// The answer of `POST /v1/feedback`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct FeedbackResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Identifies this request.
    pub request_id: Uuid,
    /// The supplied session id, or a fresh one.
    #[schemars(extend("format" = "uuid"))]
    pub session_id: String,
    /// The event is stored.
    pub accepted: bool,
    /// Identifies the stored event.
    pub feedback_id: Uuid,
    /// The caller's rate-limit state.
    pub access: Access,
    /// What this request cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Usage")]
    pub usage: Option<Usage>,
}
