use api_types::timestamp::rfc3339;
use api_types::{
    WebhookCreateResponse, WebhookDeleteResponse, WebhookEntry, WebhookEventType, WebhookListResponse,
    WebhookRotateResponse, WebhookStatus,
};
use app::Work;
use app::clock::to_date_time;
use app::webhooks::{NewSecret, Webhook};
use model::WebhookEvent;
use openapi::parameters::WebhookId;
use openapi::{Input, operations};

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;

impl Endpoint for operations::ListWebhooks {
    async fn handle(context: &Context, _: Input<Self>) -> Result<WebhookListResponse, Failure> {
        let webhooks =
            context.run(Work::Small, |service, viewer| async move { service.list_webhooks(&viewer).await }).await?;
        Ok(WebhookListResponse {
            schema: context.schema::<WebhookListResponse>(),
            request_id: context.request_id,
            webhooks: webhooks.into_iter().map(entry).collect(),
        })
    }
}

impl Endpoint for operations::CreateWebhook {
    async fn handle(context: &Context, input: Input<Self>) -> Result<WebhookCreateResponse, Failure> {
        let url = input.body.url;
        let events = input.body.event_types.into_iter().map(event).collect();
        let NewSecret { secret, webhook } = context
            .run(Work::Small, |service, viewer| async move { service.create_webhook(&viewer, url, events).await })
            .await?;
        Ok(WebhookCreateResponse {
            schema: context.schema::<WebhookCreateResponse>(),
            request_id: context.request_id,
            secret,
            webhook: entry(webhook),
        })
    }
}

impl Endpoint for operations::RotateWebhookSecret {
    async fn handle(context: &Context, input: Input<Self>) -> Result<WebhookRotateResponse, Failure> {
        let WebhookId(id) = input.path;
        let NewSecret { secret, webhook } = context
            .run(Work::Small, |service, viewer| async move { service.rotate_webhook_secret(&viewer, &id).await })
            .await?;
        let expires_at = webhook.previous_secret_expires_at.unwrap_or(webhook.created_at);
        Ok(WebhookRotateResponse {
            schema: context.schema::<WebhookRotateResponse>(),
            request_id: context.request_id,
            secret,
            previous_secret_expires_at: rfc3339(to_date_time(expires_at)),
            webhook: entry(webhook),
        })
    }
}

impl Endpoint for operations::DeleteWebhook {
    async fn handle(context: &Context, input: Input<Self>) -> Result<WebhookDeleteResponse, Failure> {
        let WebhookId(id) = input.path;
        let deleted = context
            .run(Work::Small, |service, viewer| async move { service.delete_webhook(&viewer, &id).await })
            .await?;
        Ok(WebhookDeleteResponse {
            schema: context.schema::<WebhookDeleteResponse>(),
            request_id: context.request_id,
            webhook_id: deleted.0,
            deleted: true,
        })
    }
}

fn event(event: WebhookEventType) -> WebhookEvent {
    match event {
        WebhookEventType::RunCompleted => WebhookEvent::RunCompleted,
        WebhookEventType::RunFailed => WebhookEvent::RunFailed,
        WebhookEventType::ResearchCompleted => WebhookEvent::ResearchCompleted,
        WebhookEventType::ResearchFailed => WebhookEvent::ResearchFailed,
        WebhookEventType::ResearchCancelled => WebhookEvent::ResearchCancelled,
    }
}

fn entry(webhook: Webhook) -> WebhookEntry {
    let time = |at| rfc3339(to_date_time(at));
    let status = match (webhook.disabled_at, webhook.failing_since) {
        (Some(_), _) => WebhookStatus::Disabled,
        (None, Some(_)) => WebhookStatus::Failing,
        (None, None) => WebhookStatus::Active,
    };
    WebhookEntry {
        webhook_id: webhook.webhook_id.0,
        url: webhook.url,
        event_types: webhook.event_types.0,
        status,
        created_at: time(webhook.created_at),
        failing_since: webhook.failing_since.map(time),
        last_error: webhook.last_error,
        disabled_at: webhook.disabled_at.map(time),
        disabled_reason: webhook.disabled_reason,
    }
}
