use serde_json::json;

use super::{
    CAPTURE_ID, DOC_ID, Example, ORGANIZATION_ID, PASSAGE_ID, REQUEST_ID, SEARCH_ID, SESSION_ID, access, metered,
    schema_url,
};

pub(crate) fn requests() -> Vec<Example> {
    vec![
        Example {
            name: "simple",
            summary: "A question for the web index",
            value: json!({"query": "how do heat pumps work in winter"}),
        },
        Example {
            name: "workspace",
            summary: "The web and the organization's own files, in a small response",
            value: json!({
                "query": "notice period for suppliers",
                "max_results": 5,
                "scope": {"indexes": ["web", "workspace"], "workspace_id": ORGANIZATION_ID},
                "response": {"verbosity": "compact", "budget": {"max_chars_total": 4000}},
            }),
        },
        Example {
            name: "narrow",
            summary: "Recent pages of selected sites",
            value: json!({
                "query": "postgresql logical replication limits",
                "filters": {"language": "en"},
                "freshness_policy": {"published_after": "2025-01-01"},
                "source_policy": {"include_domains": ["postgresql.org"], "require_domain_match": true},
                "session_id": SESSION_ID,
            }),
        },
    ]
}

pub(crate) fn response() -> Example {
    Example {
        name: "results",
        summary: "One result with verbosity `standard`",
        value: metered(json!({
            "$schema": schema_url("SearchResponse"),
            "request_id": REQUEST_ID,
            "search_id": SEARCH_ID,
            "session_id": SESSION_ID,
            "results": [{
                "rank": 1,
                "doc_id": DOC_ID,
                "index": "web",
                "canonical_url": "https://energy.example.org/heat-pumps",
                "title": "Heat pumps in cold climates",
                "description": "How heat pumps work when it freezes.",
                "snippet": "A heat pump moves heat from the outdoor air into the house, even below freezing.",
                "mime": "text/html",
                "source_url": "https://energy.example.org/heat-pumps?utm_source=feed",
                "labels": ["topic:energy"],
                "metadata": {
                    "content_digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                    "extracted_at": "2026-06-14T08:00:00Z",
                    "first_seen_at": "2026-05-02T08:00:00Z",
                    "last_crawled_at": "2026-06-14T08:00:00Z",
                    "last_seen_at": "2026-06-14T08:00:00Z",
                    "published_at": "2026-05-01T00:00:00Z",
                },
                "passages": [{
                    "passage_id": PASSAGE_ID,
                    "doc_id": DOC_ID,
                    "ordinal": 3,
                    "text": "A heat pump moves heat from the outdoor air into the house, even below freezing.",
                    "char_start": 2140,
                    "char_end": 2220,
                    "section_heading": "In winter",
                    "section_path": ["How it works", "In winter"],
                }],
                "score": {"value": 0.87},
            }],
            "access": access(),
            "ranking": {"ranker_version": "lexical_v6", "score_scope": "response"},
            "usage": {"requests": 1, "bytes_returned": 0},
            "warnings": null,
        })),
    }
}

pub(crate) fn record() -> Example {
    Example {
        name: "record",
        summary: "A search with one result, ranked by a model",
        value: json!({
            "$schema": schema_url("SearchRecordResponse"),
            "request_id": REQUEST_ID,
            "search_id": SEARCH_ID,
            "session_id": SESSION_ID,
            "created_at": "2026-06-15T12:00:00Z",
            "request": {"query": "how do heat pumps work in winter"},
            "ranking": {"ranker_version": "bge-reranker-v2-m3", "score_scope": "response"},
            "index_generations": {"web": "6c1e7b2a-93d4-4f58-8a0b-5d2e9f4c7a31"},
            "results": [{
                "rank": 1,
                "doc_id": DOC_ID,
                "capture_id": CAPTURE_ID,
                "index": "web",
                "score": {"value": 0.87},
                "explain": {
                    "first_stage": {"rank": 4, "score": 11.25},
                    "lexical": {"rank": 2, "score": 9.5},
                    "model": {"rank": 1, "score": 0.87},
                },
            }],
        }),
    }
}
