use serde_json::{Value, json};

use super::{Example, REQUEST_ID, schema_url};

const WEBHOOK_ID: &str = "3f8a2c10-5b7d-4e21-9c46-7d1e0b9a6f52";

fn webhook() -> Value {
    json!({
        "webhook_id": WEBHOOK_ID,
        "url": "https://hooks.example.com/retrieval",
        "event_types": ["run.completed", "run.failed"],
        "status": "active",
        "created_at": "2026-06-15T12:00:00Z",
    })
}

fn with_webhook(schema: &str) -> Value {
    let mut value = webhook();
    value["$schema"] = json!(schema_url(schema));
    value["request_id"] = json!(REQUEST_ID);
    value["secret"] = json!("whsec_...");
    value
}

pub(crate) fn list_response() -> Example {
    let mut failing = webhook();
    failing["status"] = json!("failing");
    failing["failing_since"] = json!("2026-06-16T08:30:00Z");
    failing["last_error"] = json!("the target answered with status 503");
    let value = json!({"$schema": schema_url("WebhookListResponse"), "request_id": REQUEST_ID, "webhooks": [failing]});
    Example { name: "webhooks", summary: "One webhook, whose target is down", value }
}

pub(crate) fn create_requests() -> Vec<Example> {
    vec![Example {
        name: "runs",
        summary: "The ends of indexing runs",
        value: json!({
            "url": "https://hooks.example.com/retrieval",
            "event_types": ["run.completed", "run.failed"],
        }),
    }]
}

pub(crate) fn create_response() -> Example {
    Example { name: "created", summary: "The new webhook", value: with_webhook("WebhookCreateResponse") }
}

pub(crate) fn rotate_response() -> Example {
    let mut value = with_webhook("WebhookRotateResponse");
    value["previous_secret_expires_at"] = json!("2026-06-16T12:00:00Z");
    Example { name: "rotated", summary: "The new secret", value }
}

pub(crate) fn delete_response() -> Example {
    Example {
        name: "deleted",
        summary: "The webhook is gone",
        value: json!({
            "$schema": schema_url("WebhookDeleteResponse"),
            "request_id": REQUEST_ID,
            "webhook_id": WEBHOOK_ID,
            "deleted": true,
        }),
    }
}
