use api_types::ResearchEvent;
use api_types::timestamp::rfc3339;
use app::clock::to_date_time;
use research::{RunEvent, RunView};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::run_view;

/// Converts an event.
pub(crate) fn event(event: RunEvent) -> ResearchEvent {
    ResearchEvent {
        kind: format!("research.{}", event.kind),
        sequence: event.sequence,
        research_id: event.research_id.0,
        at: rfc3339(to_date_time(event.at)),
        fields: event.data,
    }
}

/// Converts the last event of a run, which carries the run.
pub(crate) fn last_event(last: RunEvent, run: &RunView, now: OffsetDateTime) -> ResearchEvent {
    let mut last = event(last);
    let mut value = serde_json::to_value(run_view::run(run, now)).unwrap_or_default();
    value["usage"] = json!({"searches": run.searches, "documents": run.documents, "tokens": run.tokens});
    last.fields.insert("research".to_owned(), value);
    last
}

/// Writes an event of a stream (HTML standard, 9.2). JSON has no line breaks outside of strings, and escapes those within.
pub(crate) fn write(event: &ResearchEvent, stream: &mut String) {
    let data = serde_json::to_value(event).unwrap_or(Value::Null);
    stream.push_str(&format!("id: {}\nevent: {}\ndata: {data}\n\n", event.sequence, event.kind));
}
