use serde_json::json;

use super::{CAPTURE_ID, DOC_ID, Example, PASSAGE_ID, REQUEST_ID, SESSION_ID, access, metered, schema_url};

pub(crate) fn requests() -> Vec<Example> {
    vec![
        Example {
            name: "page",
            summary: "A public page",
            value: json!({"canonical_url": "https://energy.example.org/heat-pumps"}),
        },
        Example {
            name: "by_address",
            summary: "The first 8,000 characters of a page, by address",
            value: json!({
                "canonical_url": "https://energy.example.org/heat-pumps",
                "content": {"max_chars": 8000},
            }),
        },
        Example {
            name: "for_a_question",
            summary: "Passages of a search result for a question, with offsets",
            value: json!({
                "doc_id": DOC_ID,
                "include": ["passages", "content"],
                "query": "efficiency below freezing",
                "content": {"selection": "query_relevant", "include_offsets": true},
            }),
        },
        Example {
            name: "read_on",
            summary: "The next part of a long document, from the same capture",
            value: json!({
                "doc_id": DOC_ID,
                "content": {
                    "selection": "full_document",
                    "range": {"start_char": 8000, "max_chars": 8000, "capture_id": CAPTURE_ID},
                },
            }),
        },
    ]
}

pub(crate) fn response() -> Example {
    Example {
        name: "document",
        summary: "The start of a page",
        value: metered(json!({
            "$schema": schema_url("DocumentResponse"),
            "request_id": REQUEST_ID,
            "session_id": SESSION_ID,
            "access": access(),
            "doc": {
                "doc_id": DOC_ID,
                "canonical_url": "https://energy.example.org/heat-pumps",
                "source_url": "https://energy.example.org/heat-pumps",
                "title": "Heat pumps in cold climates",
                "headings": ["How it works", "In winter"],
                "latest_capture_id": CAPTURE_ID,
                "first_seen_at": "2026-05-02T08:00:00Z",
                "last_seen_at": "2026-06-14T08:00:00Z",
            },
            "content": {
                "selection": "full_document",
                "format": "markdown",
                "text": "# Heat pumps in cold climates\n\nA heat pump moves heat from the outdoor air",
                "truncated": true,
                "char_count": 74,
            },
            "passages": [{
                "passage_id": PASSAGE_ID,
                "doc_id": DOC_ID,
                "ordinal": 0,
                "text": "A heat pump moves heat from the outdoor air into the house, even below freezing.",
                "section_path": ["Heat pumps in cold climates"],
            }],
            "capture_history": [{
                "capture_id": CAPTURE_ID,
                "capture_time": "2026-06-14T08:00:00Z",
                "content_digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                "content_format": "markdown",
            }],
            "provenance": {"capture_id": CAPTURE_ID, "capture_time": "2026-06-14T08:00:00Z"},
            "usage": {"requests": 1, "bytes_returned": 0},
            "warnings": [{
                "code": "content_truncated",
                "message": "the content is longer than the 74 characters of content.max_chars",
                "details": {"field": "content.max_chars", "max_chars": 74},
            }],
        })),
    }
}

pub(crate) fn several() -> Vec<Example> {
    vec![Example {
        name: "pages",
        summary: "The passages of two documents that answer a question, in 6,000 characters",
        value: json!({
            "documents": [{"doc_id": DOC_ID}, {"canonical_url": "https://energy.example.org/insulation"}],
            "include": ["passages"],
            "query": "efficiency below freezing",
            "content": {"selection": "query_relevant", "max_passages": 3},
            "response": {"budget": {"max_chars_total": 6000}},
        }),
    }]
}

pub(crate) fn several_response() -> Example {
    Example {
        name: "outcomes",
        summary: "A document, and one that does not exist",
        value: metered(json!({
            "$schema": schema_url("DocumentsResponse"),
            "request_id": REQUEST_ID,
            "session_id": SESSION_ID,
            "access": access(),
            "results": [
                {
                    "status": "ok",
                    "document": {
                        "doc": {
                            "doc_id": DOC_ID,
                            "canonical_url": "https://energy.example.org/heat-pumps",
                            "source_url": "https://energy.example.org/heat-pumps",
                            "title": "Heat pumps in cold climates",
                            "latest_capture_id": CAPTURE_ID,
                            "first_seen_at": "2026-05-02T08:00:00Z",
                            "last_seen_at": "2026-06-14T08:00:00Z",
                        },
                        "passages": [{
                            "passage_id": PASSAGE_ID,
                            "doc_id": DOC_ID,
                            "ordinal": 3,
                            "text": "A heat pump moves heat from the outdoor air into the house, even below freezing.",
                            "section_heading": "In winter",
                            "section_path": ["How it works", "In winter"],
                        }],
                        "provenance": {"capture_id": CAPTURE_ID, "capture_time": "2026-06-14T08:00:00Z"},
                    },
                },
                {
                    "status": "error",
                    "error": {
                        "code": "document_not_found",
                        "message": "the document does not exist or is not granted to this organization",
                    },
                },
            ],
            "usage": {"requests": 1, "bytes_returned": 0},
        })),
    }
}
