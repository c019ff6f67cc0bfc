use api_types::{ErrorCode, KeyCreateRequest, KeyCreateResponse, KeyListResponse, KeyRevokeResponse, NoBody};
use model::Scope;

use crate::examples::{Example, keys as examples};
use crate::parameters::ApiKeyId;
use crate::{InvalidRequest, Operation, Tag};

group! {
    /// The API keys of the organization.
    ListKeys,
    /// A new API key.
    CreateKey,
    /// Revocation of an API key.
    RevokeKey,
}

impl Operation for ListKeys {
    type Path = ();
    type Query = ();
    type Body = NoBody;
    type Response = KeyListResponse;

    const ID: &'static str = "listKeys";
    const ROUTE: &'static str = "GET /v1/keys";
    const TAG: Tag = Tag::Account;
    const SCOPE: Option<Scope> = Some(Scope::KeysWrite);
    const SUMMARY: &'static str = "List API keys";
    const DESCRIPTION: &'static str = "\
Lists the API keys of the organization, oldest first, without their secrets. The oldest of more than 1,000 revoked and \
expired keys are deleted.";
    const LABEL: &'static str = "List keys";
    const SUCCESS: &'static str = "The keys.";
    const INVALID: InvalidRequest = InvalidRequest { field: "page", message: "unknown query parameter `page`" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::list_response()
    }
}

impl Operation for CreateKey {
    type Path = ();
    type Query = ();
    type Body = KeyCreateRequest;
    type Response = KeyCreateResponse;

    const ID: &'static str = "createKey";
    const ROUTE: &'static str = "POST /v1/keys";
    const TAG: Tag = Tag::Account;
    const SCOPE: Option<Scope> = Some(Scope::KeysWrite);
    const SUMMARY: &'static str = "Create an API key";
    const DESCRIPTION: &'static str = "\
Creates an API key of the organization and returns its secret, once. The key has no scope that the calling credential lacks, no \
higher rate limit, and expires no later than the calling key. Access tokens are short-lived, so a key that one creates may \
outlive it. An organization has at most 100 valid keys, and creates at most 1,000 in 24 hours. Creating and revoking keys is \
recorded in the operator's audit log.";
    const LABEL: &'static str = "Create key";
    const SUCCESS: &'static str = "The key with its secret.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::QuotaExceeded];
    const INVALID: InvalidRequest = InvalidRequest { field: "limit_rps", message: "limit_rps must be at least 1" };
    // A second request would create a second key.
    const RETRY_SAFE: bool = false;

    fn request_examples() -> Vec<Example> {
        examples::create_requests()
    }

    fn response_example() -> Example {
        examples::create_response()
    }
}

impl Operation for RevokeKey {
    type Path = ApiKeyId;
    type Query = ();
    type Body = NoBody;
    type Response = KeyRevokeResponse;

    const ID: &'static str = "revokeKey";
    const ROUTE: &'static str = "DELETE /v1/keys/{api_key_id}";
    const TAG: Tag = Tag::Account;
    const SCOPE: Option<Scope> = Some(Scope::KeysWrite);
    const SUMMARY: &'static str = "Revoke an API key";
    const DESCRIPTION: &'static str = "\
Revokes an API key of the organization, also the one of this request. Every server rejects it within 5 seconds. Revoking it \
again changes nothing.";
    const LABEL: &'static str = "Revoke key";
    const SUCCESS: &'static str = "The revoked key.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::KeyNotFound];
    const INVALID: InvalidRequest =
        InvalidRequest { field: "api_key_id", message: "api_key_id must have at most 128 characters" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::revoke_response()
    }
}
