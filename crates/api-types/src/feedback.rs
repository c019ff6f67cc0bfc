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
    /// Type of the event.
    #[serde(deserialize_with = "word")]
    pub event_type: EventType,
    /// The agent that sends the feedback.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub agent_context: AgentContext,
    /// Document of the event.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub doc_id: Option<String>,
    /// Passage of the event; most useful with `passage_used`.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub passage_id: Option<String>,
    /// Search that returned the result.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub search_id: Option<String>,
    /// Groups the requests of one task. Takes precedence over the header `X-Session-ID`.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub session_id: Option<String>,
    /// Comment for human review and offline evaluation.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 4096))]
    pub comment: Option<String>,
    /// Query text; useful without a `search_id`.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 8192))]
    pub query: Option<String>,
    /// Position of the result in the ranked list, from 1.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1, max = 2147483647))]
    pub rank: Option<i64>,
}

impl FeedbackRequest {
    /// Creates a request with only the event type.
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

/// Type of the event.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventType {
    /// The result helped.
    ResultHelpful,
    /// The result did not help.
    ResultNotHelpful,
    /// The passage was used in an answer.
    PassageUsed,
    /// The read was abandoned.
    ReadAbandoned,
    /// The result duplicates another one.
    DuplicateResult,
    /// The content is out of date.
    StaleResult,
    /// The result is spam or of low quality.
    SpamOrLowQuality,
    /// An expected source is missing.
    MissingExpectedSource,
    /// The content is unsafe or violates a policy.
    UnsafeOrPolicyIssue,
}

/// The agent that sends the feedback.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct AgentContext {
    /// Name of the calling model; stored with the event.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 512))]
    pub client_model: Option<String>,
}

/// The response of `POST /v1/feedback`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct FeedbackResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// The supplied session id, or a new one.
    #[schemars(extend("format" = "uuid"))]
    pub session_id: String,
    /// Always true: the event is stored.
    pub accepted: bool,
    /// Id of the stored event.
    pub feedback_id: Uuid,
    /// The caller's rate-limit state.
    pub access: Access,
    /// Usage of this request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Usage")]
    pub usage: Option<Usage>,
}
