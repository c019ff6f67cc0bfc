use serde_json::json;

use super::{CAPTURE_ID, DOC_ID, Example, REQUEST_ID, SESSION_ID, access, metered, schema_url};

const QUOTE: &str = "A heat pump moves heat from the outdoor air into the house, even below freezing.";

pub(crate) fn requests() -> Vec<Example> {
    vec![
        Example {
            name: "quote",
            summary: "A quote from anywhere in the latest capture",
            value: json!({"citations": [{"doc_id": DOC_ID, "quote": QUOTE}]}),
        },
        Example {
            name: "place",
            summary: "A quote with its capture and place",
            value: json!({"citations": [
                {"doc_id": DOC_ID, "capture_id": CAPTURE_ID, "quote": QUOTE, "char_start": 2140, "char_end": 2220},
            ]}),
        },
    ]
}

pub(crate) fn response() -> Example {
    Example {
        name: "changed",
        summary: "A quote that the cited capture has, and that was changed since",
        value: metered(json!({
            "$schema": schema_url("CitationsVerifyResponse"),
            "request_id": REQUEST_ID,
            "session_id": SESSION_ID,
            "access": access(),
            "results": [{
                "status": "exact",
                "capture_id": CAPTURE_ID,
                "capture_time": "2026-06-14T08:00:00Z",
                "char_start": 2140,
                "char_end": 2220,
                "latest": {
                    "status": "changed",
                    "capture_id": "0190b3f4-52c1-7d08-9b6e-3a1f5c7d9e20",
                    "capture_time": "2026-06-15T08:00:00Z",
                    "char_start": 2140,
                    "char_end": 2218,
                    "text": "A heat pump moves heat from the outdoor air into the home, even below freezing.",
                    "difference": [{"char_start": 55, "removed": "us", "added": "m"}],
                },
            }],
            "usage": {"requests": 1, "bytes_returned": 0},
        })),
    }
}
