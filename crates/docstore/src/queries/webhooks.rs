use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{OrganizationId, Timestamp, WebhookId};

use super::{Conn, audit};
use crate::error::Result;
use crate::rows::{AuditEntry, Webhook};
use crate::schema::{organizations, webhooks};
use crate::types::Bind;

pub async fn create_webhook(connection: &mut Conn, webhook: Webhook, limit: i64, entry: AuditEntry) -> Result<bool> {
    let organization_id = webhook.organization_id;
    // Serializes concurrent creations, which would exceed the limit together.
    let _: OrganizationId = lock_rows!(organizations::table.find(Bind(organization_id)).select(organizations::id))
        .first(connection)
        .await?;
    let existing: i64 = webhooks::table
        .filter(webhooks::organization_id.eq(Bind(organization_id)))
        .count()
        .get_result(connection)
        .await?;
    if existing >= limit {
        return Ok(false);
    }
    diesel::insert_into(webhooks::table).values(webhook).execute(connection).await?;
    audit::record(connection, entry).await?;
    Ok(true)
}

pub async fn list_webhooks(connection: &mut Conn, organization_id: OrganizationId) -> Result<Vec<Webhook>> {
    Ok(webhooks::table
        .filter(webhooks::organization_id.eq(Bind(organization_id)))
        .order((webhooks::created_at, webhooks::webhook_id))
        .select(Webhook::as_select())
        .load(connection)
        .await?)
}

pub async fn rotate_webhook_secret(
    connection: &mut Conn,
    organization_id: OrganizationId,
    webhook_id: WebhookId,
    secret: String,
    previous_expires_at: Timestamp,
    entry: AuditEntry,
) -> Result<Option<Webhook>> {
    let ours = webhooks::table.find(Bind(webhook_id)).filter(webhooks::organization_id.eq(Bind(organization_id)));
    let found: Option<Webhook> =
        lock_rows!(ours.clone().select(Webhook::as_select())).first(connection).await.optional()?;
    let Some(webhook) = found else { return Ok(None) };
    let rotated = Webhook {
        previous_secret: Some(webhook.secret),
        previous_secret_expires_at: Some(previous_expires_at),
        secret,
        ..webhook
    };
    diesel::update(ours)
        .set((
            webhooks::secret.eq(rotated.secret.clone()),
            webhooks::previous_secret.eq(rotated.previous_secret.clone()),
            webhooks::previous_secret_expires_at.eq(Bind(Some(previous_expires_at))),
        ))
        .execute(connection)
        .await?;
    audit::record(connection, entry).await?;
    Ok(Some(rotated))
}

pub async fn delete_webhook(
    connection: &mut Conn,
    organization_id: OrganizationId,
    webhook_id: WebhookId,
    entry: AuditEntry,
) -> Result<bool> {
    let ours = webhooks::table.find(Bind(webhook_id)).filter(webhooks::organization_id.eq(Bind(organization_id)));
    let deleted = diesel::delete(ours).execute(connection).await?;
    if deleted > 0 {
        audit::record(connection, entry).await?;
    }
    Ok(deleted > 0)
}
