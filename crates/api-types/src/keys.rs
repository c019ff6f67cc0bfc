use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use validator::Validate;

use crate::strict::{not_null, optional_integer};
use crate::{IgnoredSchema, KeyStatus, validation};

/// The body of `POST /v1/keys`. Omitted properties are those of the calling credential.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct KeyCreateRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// Name that lists show.
    #[validate(length(min = 1, max = 100))]
    pub name: String,
    /// Scopes of the key; only those of the calling credential. Default: all of these.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", extend("minItems" = 1, "maxItems" = validation::MAX_WORDS))]
    #[validate(custom(function = "validation::words"))]
    pub scopes: Option<Vec<String>>,
    /// Rate limit in requests per second; at most that of the calling credential. Default: the server's default, or the lower
    /// limit of the calling credential.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1))]
    pub limit_rps: Option<i64>,
    /// Time of expiry (RFC 3339), in the future and not after that of the calling key. Default: that of the calling key.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: Option<String>,
}

/// The response of `GET /v1/keys`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct KeyListResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Keys of the organization, oldest first, with revoked and expired ones.
    pub keys: Vec<KeyEntry>,
}

/// An API key, without its secret.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct KeyEntry {
    /// Id of the key.
    pub api_key_id: Uuid,
    /// Name of the key.
    pub name: String,
    /// First characters of the key, for display.
    pub key_prefix: String,
    /// Scopes of the key.
    pub scopes: Vec<String>,
    /// Rate limit in requests per second.
    #[schemars(range(min = 1))]
    pub limit_rps: i64,
    /// State of the key.
    pub status: KeyStatus,
    /// Time of creation (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// Time of expiry (RFC 3339); omitted if the key never expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: Option<String>,
    /// Time of revocation (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub revoked_at: Option<String>,
    /// Approximate time of the last use (RFC 3339); omitted if the key was never used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_used_at: Option<String>,
}

/// The response of `POST /v1/keys`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct KeyCreateResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// The secret. It is shown here only.
    pub key: String,
    /// The key's properties.
    #[serde(flatten)]
    pub entry: KeyEntry,
}

/// The response of `DELETE /v1/keys/{api_key_id}`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct KeyRevokeResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// The revoked key.
    #[serde(flatten)]
    pub entry: KeyEntry,
}
