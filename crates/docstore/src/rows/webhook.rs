use std::fmt;

use diesel::prelude::*;
use model::{DeliveryId, OrganizationId, Timestamp, WebhookEvent, WebhookId};
use uuid::Uuid;

use crate::schema::{webhook_deliveries, webhooks};
use crate::types::{Strings, row};

row! {
    /// Address of an organization that receives events.
    #[derive(Clone, Insertable, Queryable, Selectable)]
    #[diesel(table_name = webhooks, treat_none_as_default_value = false)]
    pub struct Webhook {
        pub webhook_id: WebhookId,
        pub organization_id: OrganizationId,
        pub url: String,
        /// Names of event types. A newer version may have stored types that this one does not know.
        pub event_types: Strings,
        /// Signs deliveries, so it is stored as it is.
        pub secret: String,
        /// Secret before the last rotation, which also signs until it expires.
        pub previous_secret: Option<String>,
        pub previous_secret_expires_at: Option<Timestamp>,
        pub created_at: Timestamp,
        /// First failure since the last success.
        pub failing_since: Option<Timestamp>,
        pub last_error: Option<String>,
        pub disabled_at: Option<Timestamp>,
        pub disabled_reason: Option<String>,
    }
}

impl Webhook {
    /// Returns an active webhook.
    pub fn new(
        webhook_id: WebhookId,
        organization_id: OrganizationId,
        url: String,
        event_types: Strings,
        secret: String,
        now: Timestamp,
    ) -> Self {
        Self {
            webhook_id,
            organization_id,
            url,
            event_types,
            secret,
            previous_secret: None,
            previous_secret_expires_at: None,
            created_at: now,
            failing_since: None,
            last_error: None,
            disabled_at: None,
            disabled_reason: None,
        }
    }
}

// Hides the secrets.
impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Webhook");
        shown.field("webhook_id", &self.webhook_id).field("organization_id", &self.organization_id);
        shown.field("failing_since", &self.failing_since).field("disabled_at", &self.disabled_at);
        shown.finish_non_exhaustive()
    }
}

row! {
    /// Event to deliver to a webhook, or to a single address.
    #[derive(Clone, Insertable, Queryable, Selectable)]
    #[diesel(table_name = webhook_deliveries, treat_none_as_default_value = false)]
    pub struct WebhookDelivery {
        pub delivery_id: DeliveryId,
        pub organization_id: OrganizationId,
        /// `None` for a delivery to a single address, which has a `url` and a `secret` of its own.
        pub webhook_id: Option<WebhookId>,
        pub url: Option<String>,
        pub secret: Option<String>,
        pub event_type: String,
        pub payload: String,
        /// Failed attempts so far.
        pub attempts: i32,
        pub next_attempt_at: Timestamp,
        pub lease_owner: Option<String>,
        pub lease_expires_at: Option<Timestamp>,
        pub last_error: Option<String>,
        pub created_at: Timestamp,
    }
}

// Hides the secret.
impl fmt::Debug for WebhookDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("WebhookDelivery");
        shown.field("delivery_id", &self.delivery_id).field("organization_id", &self.organization_id);
        shown.field("webhook_id", &self.webhook_id).field("event_type", &self.event_type);
        shown.field("attempts", &self.attempts).finish_non_exhaustive()
    }
}

/// Event of an organization.
#[derive(Clone, Debug)]
pub struct NewWebhookEvent {
    pub event_type: WebhookEvent,
    /// Id of the changed object. An event of the same type and object is enqueued once for each webhook.
    pub subject: String,
    /// Body of the deliveries.
    pub payload: String,
}

impl NewWebhookEvent {
    /// Returns the delivery of this event to a webhook.
    pub(crate) fn delivery(&self, webhook: &Webhook, now: Timestamp) -> WebhookDelivery {
        let name = format!("{}/{}", self.event_type, self.subject);
        WebhookDelivery {
            delivery_id: Uuid::new_v5(&webhook.webhook_id.0, name.as_bytes()).into(),
            organization_id: webhook.organization_id,
            webhook_id: Some(webhook.webhook_id),
            url: None,
            secret: None,
            event_type: self.event_type.as_str().to_owned(),
            payload: self.payload.clone(),
            attempts: 0,
            next_attempt_at: now,
            lease_owner: None,
            lease_expires_at: None,
            last_error: None,
            created_at: now,
        }
    }
}

/// Delivery that a worker has leased, with its webhook.
#[derive(Clone, Debug)]
pub struct ClaimedDelivery {
    pub delivery: WebhookDelivery,
    /// `None` for a delivery to a single address.
    pub webhook: Option<Webhook>,
}

/// Consequence of a failed attempt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AfterFailure {
    /// Repeats the attempt at this time, and not before it any other delivery to the same webhook.
    Retry(Timestamp),
    /// Deletes the delivery.
    GiveUp,
    /// Disables the webhook with this reason and deletes its deliveries.
    Disable(String),
}
