use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Access;

/// The response of `GET /v1/me`: the caller's organization, credential and quotas.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct MeResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// The organization of the credential.
    pub organization: OrganizationInfo,
    /// The credential of this request.
    pub credential: Credential,
    /// Quotas of the organization.
    pub quotas: Quotas,
    /// Sources of web results of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "WebInfo")]
    pub web: Option<WebInfo>,
    /// The caller's rate-limit state.
    pub access: Access,
}

/// An organization.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct OrganizationInfo {
    /// Id of the organization; `scope.workspace_id` of searches in its files.
    pub organization_id: Uuid,
    /// Name of the organization.
    pub name: String,
    /// True if searches are charged to the balance.
    pub billed: bool,
    /// Prepaid balance in cents; only of billed organizations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub balance_cents: Option<i64>,
}

/// A credential, without its secret.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Credential {
    /// Kind of the credential.
    pub kind: CredentialKind,
    /// Id of the API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    pub api_key_id: Option<Uuid>,
    /// Name of the API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub name: Option<String>,
    /// Visible prefix of the API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub key_prefix: Option<String>,
    /// Scopes of the credential.
    pub scopes: Vec<String>,
    /// Rate limit in requests per second.
    #[schemars(range(min = 1))]
    pub limit_rps: i64,
    /// Time of expiry of the API key (RFC 3339); omitted if it never expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: Option<String>,
}

/// Kind of a credential.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CredentialKind {
    /// API key.
    ApiKey,
    /// Access token of the configured issuer.
    Token,
}

/// Quotas of an organization.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Quotas {
    /// Number of files.
    pub files: Quota,
    /// Bytes of files, with uploads that may still come.
    pub bytes: Quota,
}

/// Use of one quota.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Quota {
    /// Amount in use.
    #[schemars(range(min = 0))]
    pub used: i64,
    /// Maximum; omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 0))]
    pub limit: Option<i64>,
}

/// Sources of web results of the server.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WebInfo {
    /// True if the shared web index has no pages.
    pub index_empty: bool,
    /// True if search providers complement the index.
    pub has_providers: bool,
}
