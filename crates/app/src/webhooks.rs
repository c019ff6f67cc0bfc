//! Webhooks that an organization manages itself.

use std::time::Duration;

use ::webhooks::generate_secret;
pub use docstore::Webhook;
use docstore::{AuditEntry, Details, Strings};
use model::{AuditAction, Timestamp, WebhookEvent, WebhookId};
use uuid::Uuid;

use crate::error::{Quota, Result};
use crate::{App, Error, Viewer, audit};

/// Webhooks per organization.
const MAX_WEBHOOKS: u32 = 50;
/// Time for which a replaced secret also signs, so that receivers can be updated.
const ROTATION: Duration = Duration::from_hours(24);

/// A webhook with its new secret, which is never shown again.
#[derive(Clone)]
pub struct NewSecret {
    pub secret: String,
    pub webhook: Webhook,
}

impl App {
    /// Creates a webhook of the viewer's organization.
    ///
    /// # Errors
    /// `Invalid` for a URL that is malformed or not permitted, and without event types. `QuotaExceeded`.
    pub async fn create_webhook(&self, viewer: &Viewer, url: String, events: Vec<WebhookEvent>) -> Result<NewSecret> {
        self.webhooks.check(&url).map_err(|refused| Error::invalid("url", format!("url: {refused}")))?;
        if events.is_empty() {
            return Err(Error::invalid("event_types", "event_types must name at least one event type"));
        }
        let mut names: Vec<String> = Vec::new();
        for event in events {
            if !names.iter().any(|name| name == event.as_str()) {
                names.push(event.as_str().to_owned());
            }
        }
        let (now, secret) = (self.clock.now(), generate_secret());
        let id = WebhookId(Uuid::new_v4());
        let details = Details::default().with("url", url.as_str()).with("event_types", names.clone());
        let entry = entry(viewer, now, AuditAction::WebhookCreated, id, details);
        let webhook = Webhook::new(id, viewer.organization_id, url, Strings(names), secret.clone(), now);
        if !self.store.create_webhook(webhook.clone(), i64::from(MAX_WEBHOOKS), entry).await? {
            return Err(Error::QuotaExceeded(Quota::Webhooks { limit: u64::from(MAX_WEBHOOKS) }));
        }
        Ok(NewSecret { secret, webhook })
    }

    /// Returns the webhooks of the viewer's organization, oldest first.
    pub async fn list_webhooks(&self, viewer: &Viewer) -> Result<Vec<Webhook>> {
        Ok(self.store.list_webhooks(viewer.organization_id).await?)
    }

    /// Replaces the secret of a webhook. The replaced one also signs for a day.
    ///
    /// # Errors
    /// `WebhookNotFound` for a malformed or unknown id, and for webhooks of other organizations.
    pub async fn rotate_webhook_secret(&self, viewer: &Viewer, webhook_id: &str) -> Result<NewSecret> {
        let id = parse(webhook_id)?;
        let (now, secret) = (self.clock.now(), generate_secret());
        let entry = entry(viewer, now, AuditAction::WebhookSecretRotated, id, Details::default());
        let rotated =
            self.store.rotate_webhook_secret(viewer.organization_id, id, secret.clone(), now + ROTATION, entry).await?;
        let webhook = rotated.ok_or(Error::WebhookNotFound)?;
        Ok(NewSecret { secret, webhook })
    }

    /// Deletes a webhook of the viewer's organization with its pending deliveries.
    ///
    /// # Errors
    /// As [`App::rotate_webhook_secret`].
    pub async fn delete_webhook(&self, viewer: &Viewer, webhook_id: &str) -> Result<WebhookId> {
        let id = parse(webhook_id)?;
        let entry = entry(viewer, self.clock.now(), AuditAction::WebhookDeleted, id, Details::default());
        let deleted = self.store.delete_webhook(viewer.organization_id, id, entry).await?;
        if deleted { Ok(id) } else { Err(Error::WebhookNotFound) }
    }
}

fn parse(webhook_id: &str) -> Result<WebhookId> {
    webhook_id.parse().map_err(|_| Error::WebhookNotFound)
}

fn entry(viewer: &Viewer, now: Timestamp, action: AuditAction, id: WebhookId, details: Details) -> AuditEntry {
    audit::subject_entry(&audit::actor(viewer), now, action, Some(viewer.organization_id), id.0, details)
}
