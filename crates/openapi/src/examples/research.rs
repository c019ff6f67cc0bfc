use serde_json::{Value, json};

use super::{
    CAPTURE_ID, DOC_ID, Example, ORGANIZATION_ID, PASSAGE_ID, REQUEST_ID, SESSION_ID, access, metered, schema_url,
};

const RESEARCH_ID: &str = "0190a6d4-0b7e-7d51-8a36-5e2f9c1d7b80";
const QUESTION: &str = "How do heat pumps work in winter?";
const QUOTE: &str = "A heat pump moves heat from the outdoor air into the house, even below freezing.";

pub(crate) fn requests() -> Vec<Example> {
    vec![
        Example { name: "simple", summary: "A question for the web index", value: json!({"query": QUESTION}) },
        Example {
            name: "workspace",
            summary: "A quick answer from the organization's own files, with a webhook",
            value: json!({
                "query": "Which suppliers have a notice period of more than 30 days?",
                "depth": "quick",
                "scope": {"indexes": ["workspace"], "workspace_id": ORGANIZATION_ID},
                "metadata": {"ticket": "4711"},
                "webhook": {"url": "https://hooks.example.com/research", "event_types": ["research.completed"]},
            }),
        },
        Example {
            name: "structured",
            summary: "Values for a schema, within a budget",
            value: json!({
                "query": "Which grease does the X200 pump take, and how often?",
                "output": {
                    "format": "structured",
                    "schema": {
                        "type": "object",
                        "properties": {"grease": {"type": "string"}, "interval": {"type": "string"}},
                    },
                },
                "budget": {"max_searches": 8, "max_seconds": 60, "on_exceed": "fail"},
            }),
        },
    ]
}

fn run(status: &str) -> Value {
    json!({
        "$schema": schema_url("ResearchResponse"),
        "request_id": REQUEST_ID,
        "research_id": RESEARCH_ID,
        "session_id": SESSION_ID,
        "query": QUESTION,
        "status": status,
        "stop_reason": null,
        "created_at": "2026-06-15T12:00:00Z",
        "started_at": null,
        "completed_at": null,
        "expires_at": "2026-07-15T12:00:00Z",
        "progress": {"phase": "searching", "searches": 0, "documents_read": 0, "passages_kept": 0, "elapsed_ms": 0},
        "plan": [{"step": 1, "question": QUESTION, "status": "pending"}],
        "output": null,
        "error": null,
        "warnings": [],
        "metadata": {},
        "access": access(),
        "usage": {"requests": 1, "bytes_returned": 0, "searches": 0, "documents": 0, "tokens": 0},
    })
}

pub(crate) fn created() -> Example {
    let mut value = run("queued");
    value["poll_after_ms"] = 2_000.into();
    Example { name: "queued", summary: "The queued run", value: metered(value) }
}

pub(crate) fn completed() -> Example {
    let mut value = run("completed");
    value["stop_reason"] = "answered".into();
    value["started_at"] = "2026-06-15T12:00:00.01Z".into();
    value["completed_at"] = "2026-06-15T12:00:00.09Z".into();
    value["progress"] = json!({
        "phase": "verifying", "searches": 1, "documents_read": 0, "passages_kept": 1, "elapsed_ms": 80,
    });
    value["plan"][0]["status"] = "done".into();
    value["output"] = json!({
        "format": "markdown",
        "text": format!("{QUOTE} [1]\n"),
        "structured": null,
        "truncated": false,
        "engine": "extractive",
        "citations": [{
            "n": 1,
            "doc_id": DOC_ID,
            "passage_id": PASSAGE_ID,
            "capture_id": CAPTURE_ID,
            "capture_time": "2026-06-14T08:00:00Z",
            "canonical_url": "https://energy.example.org/heat-pumps",
            "title": "Heat pumps in cold climates",
            "index": "web",
            "published_at": "2026-05-01T00:00:00Z",
            "quote": QUOTE,
            "char_start": 2140,
            "char_end": 2220,
            "output_start": 81,
            "output_end": 84,
            "verified": true,
        }],
        "basis": [],
        "unanswered": [],
        "sources_considered": 1,
    });
    value["warnings"] = json!([{
        "code": "synthesis_unavailable",
        "message": "no model wrote the report; it consists of sentences of the sources",
    }]);
    value["usage"]["searches"] = 1.into();
    Example { name: "completed", summary: "A run with its report", value: metered(value) }
}

pub(crate) fn cancelled() -> Example {
    let mut value = run("cancelled");
    value["stop_reason"] = "cancelled".into();
    value["completed_at"] = "2026-06-15T12:00:00.05Z".into();
    Example { name: "cancelled", summary: "A run that was cancelled in the queue", value: metered(value) }
}

pub(crate) fn list() -> Example {
    Example {
        name: "runs",
        summary: "One run",
        value: json!({
            "$schema": schema_url("ResearchListResponse"),
            "request_id": REQUEST_ID,
            "runs": [{
                "research_id": RESEARCH_ID,
                "session_id": SESSION_ID,
                "query": QUESTION,
                "status": "completed",
                "stop_reason": "answered",
                "created_at": "2026-06-15T12:00:00Z",
                "started_at": "2026-06-15T12:00:00.01Z",
                "completed_at": "2026-06-15T12:00:00.09Z",
                "expires_at": "2026-07-15T12:00:00Z",
                "metadata": {"ticket": "4711"},
            }],
        }),
    }
}

pub(crate) fn events() -> Example {
    let event = |sequence: u32, kind: &str| {
        json!({
            "type": format!("research.{kind}"),
            "sequence": sequence,
            "research_id": RESEARCH_ID,
            "at": "2026-06-15T12:00:00.05Z",
        })
    };
    let mut search = event(4, "search");
    search["question"] = 1.into();
    search["query"] = QUESTION.into();
    search["hits"] = 10.into();
    search["new_sources"] = 10.into();
    Example {
        name: "events",
        summary: "Two events of a run in progress",
        value: json!({
            "$schema": schema_url("ResearchEventsResponse"),
            "request_id": REQUEST_ID,
            "research_id": RESEARCH_ID,
            "events": [event(2, "started"), search],
            "next_after": 4,
            "is_complete": false,
        }),
    }
}

pub(crate) fn deleted() -> Example {
    Example {
        name: "deleted",
        summary: "The run is gone",
        value: json!({
            "$schema": schema_url("ResearchDeleteResponse"),
            "request_id": REQUEST_ID,
            "research_id": RESEARCH_ID,
            "deleted": true,
        }),
    }
}
