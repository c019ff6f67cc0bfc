use serde_json::json;

use super::{DOC_ID, Example, PASSAGE_ID, REQUEST_ID, SEARCH_ID, SESSION_ID, access, metered, schema_url};

pub(crate) fn requests() -> Vec<Example> {
    vec![
        Example { name: "helpful", summary: "A search was useful", value: json!({"event_type": "result_helpful"}) },
        Example {
            name: "passage_used",
            summary: "A passage was used in an answer",
            value: json!({
                "event_type": "passage_used",
                "search_id": SEARCH_ID,
                "doc_id": DOC_ID,
                "passage_id": PASSAGE_ID,
                "rank": 1,
            }),
        },
        Example {
            name: "missing_source",
            summary: "A missing source",
            value: json!({
                "event_type": "missing_expected_source",
                "query": "how do heat pumps work in winter",
                "comment": "The agency's own guide is not among the results.",
                "agent_context": {"client_model": "example-model-2"},
            }),
        },
    ]
}

pub(crate) fn response() -> Example {
    Example {
        name: "stored",
        summary: "The event is stored",
        value: metered(json!({
            "$schema": schema_url("FeedbackResponse"),
            "request_id": REQUEST_ID,
            "session_id": SESSION_ID,
            "accepted": true,
            "feedback_id": "0190a6d3-0b7d-7a44-8f1e-3c5b7d9f1a26",
            "access": access(),
            "usage": {"requests": 1, "bytes_returned": 0},
        })),
    }
}
