use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use validator::Validate;

use crate::strict::words;
use crate::{IgnoredSchema, validation};

/// The body of `POST /v1/webhooks`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct WebhookCreateRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// Address that receives the events by `POST`: http or https, on the public internet.
    #[schemars(extend("format" = "iri"))]
    #[validate(length(min = 1, max = 2048))]
    pub url: String,
    /// Types of the events to receive, at least one.
    #[serde(deserialize_with = "words")]
    #[schemars(extend("minItems" = 1, "maxItems" = validation::MAX_WORDS))]
    #[validate(custom(function = "validation::words"))]
    pub event_types: Vec<WebhookEventType>,
}

/// Type of an event.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum WebhookEventType {
    /// An indexing run completed.
    #[serde(rename = "run.completed")]
    RunCompleted,
    /// An indexing run failed.
    #[serde(rename = "run.failed")]
    RunFailed,
    /// A research run completed.
    #[serde(rename = "research.completed")]
    ResearchCompleted,
    /// A research run failed.
    #[serde(rename = "research.failed")]
    ResearchFailed,
    /// A research run was cancelled.
    #[serde(rename = "research.cancelled")]
    ResearchCancelled,
}

/// A webhook, without its secret.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebhookEntry {
    /// Id of the webhook.
    pub webhook_id: Uuid,
    /// Address that receives the events.
    pub url: String,
    /// Types of the events. Newer servers may send others.
    pub event_types: Vec<String>,
    /// State of the webhook.
    pub status: WebhookStatus,
    /// Time of creation (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// Time of the first failed attempt since the last success (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub failing_since: Option<String>,
    /// Reason of the last failed attempt since the last success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub last_error: Option<String>,
    /// Time at which the server disabled the webhook (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub disabled_at: Option<String>,
    /// Reason for which the server disabled the webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub disabled_reason: Option<String>,
}

/// State of a webhook.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookStatus {
    /// The last attempt succeeded, or there was none.
    Active,
    /// The last attempt failed; the server repeats it.
    Failing,
    /// Receives no events any more. Delete it and create a new one to resume.
    Disabled,
    /// A state of a newer server; never sent.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// The response of `GET /v1/webhooks`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebhookListResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Webhooks of the organization, oldest first, with disabled ones.
    pub webhooks: Vec<WebhookEntry>,
}

/// The response of `POST /v1/webhooks`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebhookCreateResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// The secret that signs deliveries. It is shown here only.
    pub secret: String,
    /// The webhook's properties.
    #[serde(flatten)]
    pub webhook: WebhookEntry,
}

/// The response of `POST /v1/webhooks/{webhook_id}/rotate`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebhookRotateResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// The new secret. It is shown here only.
    pub secret: String,
    /// Time until which the previous secret signs deliveries, too (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub previous_secret_expires_at: String,
    /// The webhook's properties.
    #[serde(flatten)]
    pub webhook: WebhookEntry,
}

/// The response of `DELETE /v1/webhooks/{webhook_id}`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebhookDeleteResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Id of the deleted webhook.
    pub webhook_id: Uuid,
    /// Always true.
    pub deleted: bool,
}
