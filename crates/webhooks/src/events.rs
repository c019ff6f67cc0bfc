//! Bodies of deliveries: `{type, timestamp, data}`.

use docstore::{IndexRun, NewWebhookEvent, ResearchRun};
use model::{ResearchStop, Timestamp, WebhookEvent};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// First and last time with an RFC 3339 form: the beginning of the year 0 and the end of the year 9999.
const FIRST: Timestamp = Timestamp::from_millis(-62_167_219_200_000);
const LAST: Timestamp = Timestamp::from_millis(253_402_300_799_999);

/// Returns the event of a run that completed or failed. Its data are the fields of `GET /v1/files/index/{sync_id}`.
pub fn run_ended(run: &IndexRun) -> NewWebhookEvent {
    let event_type = if run.error.is_none() { WebhookEvent::RunCompleted } else { WebhookEvent::RunFailed };
    let stats = run.stats();
    let data = json!({
        "sync_id": run.sync_id.to_string(),
        "state": run.state.as_str(),
        "started_at": run.started_at.map(rfc3339),
        "completed_at": run.completed_at.map(rfc3339),
        "error": run.error,
        "stats": {
            "enumerated": stats.enumerated,
            "fetched": stats.fetched,
            "indexed": stats.indexed,
            "failed": stats.failed,
            "skipped_unsupported": stats.skipped_unsupported,
            "deleted": stats.deleted,
            "bytes": stats.bytes,
        },
    });
    let at = run.completed_at.unwrap_or(run.requested_at);
    NewWebhookEvent { event_type, subject: run.sync_id.to_string(), payload: body(event_type, at, data) }
}

/// Returns the event of a research run that ended. Its data are fields of `GET /v1/research/{research_id}`, without the report.
pub fn research_ended(run: &ResearchRun, event_type: WebhookEvent) -> NewWebhookEvent {
    let at = run.completed_at.unwrap_or(run.created_at);
    let error: Value = run.error.as_deref().and_then(|error| serde_json::from_str(error).ok()).unwrap_or_default();
    let data = json!({
        "research_id": run.research_id.to_string(),
        "session_id": run.session_id.to_string(),
        "status": run.status.as_str(),
        "stop_reason": run.stop_reason.map(ResearchStop::as_str),
        "created_at": rfc3339(run.created_at),
        "started_at": run.started_at.map(rfc3339),
        "completed_at": rfc3339(at),
        "expires_at": rfc3339(run.expires_at),
        "error": error,
        "metadata": run.metadata.0,
        "usage": {"searches": run.searches, "documents": run.documents, "tokens": run.tokens},
    });
    NewWebhookEvent { event_type, subject: run.research_id.to_string(), payload: body(event_type, at, data) }
}

fn body(event_type: WebhookEvent, at: Timestamp, data: Value) -> String {
    json!({"type": event_type.as_str(), "timestamp": rfc3339(at), "data": data}).to_string()
}

/// Formats a time. Times without an RFC 3339 form become the nearest one that has, as in answers of the API.
fn rfc3339(at: Timestamp) -> String {
    let milliseconds = at.clamp(FIRST, LAST).as_millis();
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(milliseconds) * 1_000_000)
        .ok()
        .and_then(|at| at.format(&Rfc3339).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use docstore::Details;
    use model::{ResearchStatus, RunMode, RunState};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn event_carries_the_state_of_the_run() {
        let at = Timestamp::from_millis(1_790_000_000_500);
        let queued = IndexRun::queued(Uuid::from_u128(7).into(), Uuid::nil().into(), RunMode::Full, at);
        let error = Some("no storage".to_owned());
        let run = IndexRun { state: RunState::Failed, completed_at: Some(at), error, indexed: 3, ..queued.clone() };
        let event = run_ended(&run);
        assert_eq!((event.event_type, event.subject), (WebhookEvent::RunFailed, run.sync_id.to_string()));
        let body: Value = serde_json::from_str(&event.payload).expect("JSON");
        assert_eq!((&body["type"], &body["timestamp"]), (&json!("run.failed"), &json!("2026-09-21T14:13:20.5Z")));
        assert_eq!(body["data"]["sync_id"], "00000000-0000-0000-0000-000000000007");
        assert_eq!((&body["data"]["error"], &body["data"]["stats"]["indexed"]), (&json!("no storage"), &json!(3)));
        assert_eq!(body["data"]["completed_at"], body["timestamp"]);
        assert!(body["data"].get("started_at").is_some_and(Value::is_null), "{body}");
        let completed = run_ended(&IndexRun { state: RunState::Completed, ..queued });
        assert_eq!(completed.event_type, WebhookEvent::RunCompleted);
        let body: Value = serde_json::from_str(&completed.payload).expect("JSON");
        for field in ["started_at", "completed_at", "error"] {
            assert!(body["data"].get(field).is_some_and(Value::is_null), "{field}, as in the API: {body}");
        }
    }

    #[test]
    fn times_without_a_form_become_the_nearest_with_one() {
        let run = ResearchRun {
            research_id: Uuid::from_u128(7).into(),
            organization_id: Uuid::nil().into(),
            session_id: Uuid::nil().into(),
            identity: String::new(),
            query: String::new(),
            request: "{}".to_owned(),
            progress: Details::default(),
            status: ResearchStatus::Completed,
            stop_reason: None,
            error: None,
            metadata: Details::default(),
            webhook_url: None,
            webhook_secret: None,
            webhook_events: None,
            searches: 0,
            documents: 0,
            tokens: 0,
            last_sequence: 0,
            attempts: 0,
            lease_owner: None,
            lease_expires_at: None,
            created_at: Timestamp::MIN,
            started_at: Some(LAST),
            completed_at: None,
            expires_at: Timestamp::MAX,
        };
        let event = research_ended(&run, WebhookEvent::ResearchCompleted);
        let body: Value = serde_json::from_str(&event.payload).expect("JSON");
        assert_eq!(body["data"]["created_at"], "0000-01-01T00:00:00Z");
        assert_eq!(body["data"]["started_at"], "9999-12-31T23:59:59.999Z");
        assert_eq!(body["data"]["expires_at"], "9999-12-31T23:59:59.999Z");
    }
}
