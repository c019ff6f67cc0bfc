use api_types::{
    ErrorCode, NoBody, WebhookCreateRequest, WebhookCreateResponse, WebhookDeleteResponse, WebhookListResponse,
    WebhookRotateResponse,
};
use model::Scope;

use crate::examples::{Example, webhooks as examples};
use crate::parameters::WebhookId;
use crate::{InvalidRequest, Operation, Tag};

group! {
    /// The webhooks of the organization.
    ListWebhooks,
    /// A new webhook.
    CreateWebhook,
    /// A new secret for a webhook.
    RotateWebhookSecret,
    /// Removal of a webhook.
    DeleteWebhook,
}

/// A webhook id that is too long.
const INVALID_ID: InvalidRequest =
    InvalidRequest { field: "webhook_id", message: "webhook_id must have at most 128 characters" };

impl Operation for ListWebhooks {
    type Path = ();
    type Query = ();
    type Body = NoBody;
    type Response = WebhookListResponse;

    const ID: &'static str = "listWebhooks";
    const ROUTE: &'static str = "GET /v1/webhooks";
    const TAG: Tag = Tag::Account;
    const SCOPE: Option<Scope> = Some(Scope::WebhooksWrite);
    const SUMMARY: &'static str = "List webhooks";
    const DESCRIPTION: &'static str = "\
Lists the webhooks of the organization, oldest first, without their secrets. Shows why deliveries fail and why a webhook was \
disabled.";
    const LABEL: &'static str = "List webhooks";
    const SUCCESS: &'static str = "The webhooks.";
    const INVALID: InvalidRequest = InvalidRequest { field: "page", message: "unknown query parameter `page`" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::list_response()
    }
}

impl Operation for CreateWebhook {
    type Path = ();
    type Query = ();
    type Body = WebhookCreateRequest;
    type Response = WebhookCreateResponse;

    const ID: &'static str = "createWebhook";
    const ROUTE: &'static str = "POST /v1/webhooks";
    const TAG: Tag = Tag::Account;
    const SCOPE: Option<Scope> = Some(Scope::WebhooksWrite);
    const SUMMARY: &'static str = "Create a webhook";
    const DESCRIPTION: &'static str = "\
Registers an address that receives events of the organization, and returns its secret, once. Deliveries follow the Standard \
Webhooks specification: a `POST` of `{type, timestamp, data}` with the headers `webhook-id`, `webhook-timestamp` and \
`webhook-signature`. Any 2xx response acknowledges an event. Other deliveries are repeated for 3 days with growing delays, so an \
event can arrive more than once, with the same `webhook-id`. Redirects are not followed. Status 410 disables the webhook. So does \
an event that failed for 3 days without a success of any event in the last 2. An organization has at most 50 webhooks.";
    const LABEL: &'static str = "Create webhook";
    const SUCCESS: &'static str = "The webhook with its secret.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::QuotaExceeded];
    const INVALID: InvalidRequest = InvalidRequest { field: "url", message: "url: the URL is malformed" };
    // A second request would create a second webhook.
    const RETRY_SAFE: bool = false;

    fn request_examples() -> Vec<Example> {
        examples::create_requests()
    }

    fn response_example() -> Example {
        examples::create_response()
    }
}

impl Operation for RotateWebhookSecret {
    type Path = WebhookId;
    type Query = ();
    type Body = NoBody;
    type Response = WebhookRotateResponse;

    const ID: &'static str = "rotateWebhookSecret";
    const ROUTE: &'static str = "POST /v1/webhooks/{webhook_id}/rotate";
    const TAG: Tag = Tag::Account;
    const SCOPE: Option<Scope> = Some(Scope::WebhooksWrite);
    const SUMMARY: &'static str = "Rotate the secret of a webhook";
    const DESCRIPTION: &'static str = "\
Replaces the secret of a webhook and returns the new one, once. For 24 hours deliveries are signed with both secrets, separated \
by a space in `webhook-signature`, so receivers can change at any time. A further rotation ends the previous secret.";
    const LABEL: &'static str = "Rotate secret";
    const SUCCESS: &'static str = "The webhook with its new secret.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::WebhookNotFound];
    const INVALID: InvalidRequest = INVALID_ID;
    // A second request would replace the secret again.
    const RETRY_SAFE: bool = false;

    fn response_example() -> Example {
        examples::rotate_response()
    }
}

impl Operation for DeleteWebhook {
    type Path = WebhookId;
    type Query = ();
    type Body = NoBody;
    type Response = WebhookDeleteResponse;

    const ID: &'static str = "deleteWebhook";
    const ROUTE: &'static str = "DELETE /v1/webhooks/{webhook_id}";
    const TAG: Tag = Tag::Account;
    const SCOPE: Option<Scope> = Some(Scope::WebhooksWrite);
    const SUMMARY: &'static str = "Delete a webhook";
    const DESCRIPTION: &'static str = "\
Deletes a webhook with its pending deliveries. A delivery in progress may still arrive.";
    const LABEL: &'static str = "Delete webhook";
    const SUCCESS: &'static str = "The webhook is deleted.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::WebhookNotFound];
    const INVALID: InvalidRequest = INVALID_ID;
    // A repeated request reports `webhook_not_found`.
    const RETRY_SAFE: bool = false;

    fn response_example() -> Example {
        examples::delete_response()
    }
}
