use serde_json::json;

use super::{DOC_ID, Example, REQUEST_ID, schema_url};

const URL: &str = "https://docs.example.com/guide/start";

pub(crate) fn list_response() -> Example {
    Example {
        name: "pages",
        summary: "The last page of the list",
        value: json!({
            "$schema": schema_url("WebPageListResponse"),
            "request_id": REQUEST_ID,
            "pages": [{
                "url": URL,
                "doc_id": DOC_ID,
                "title": "First steps",
                "first_seen_at": "2026-05-02T08:00:00Z",
                "last_crawled_at": "2026-06-15T12:00:00Z",
            }],
        }),
    }
}

pub(crate) fn stats_response() -> Example {
    Example {
        name: "stats",
        summary: "Two hosts",
        value: json!({
            "$schema": schema_url("WebStatsResponse"),
            "request_id": REQUEST_ID,
            "pages": 1304,
            "hosts": 2,
            "largest_hosts": [{"host": "docs.example.com", "pages": 1204}, {"host": "blog.example.com", "pages": 100}],
            "oldest_crawl": "2026-06-01T03:00:00Z",
            "crawls": 2,
            "crawled_pages": 1304,
            "urls": 1822,
            "queued": 310,
            "hosts_in_back_off": 0,
        }),
    }
}

pub(crate) fn remove_requests() -> Vec<Example> {
    vec![
        Example { name: "page", summary: "One page", value: json!({"url": URL}) },
        Example { name: "host", summary: "All pages of a host", value: json!({"host": "docs.example.com"}) },
        Example {
            name: "prefix",
            summary: "A part of a site",
            value: json!({"prefix": "https://docs.example.com/archive/"}),
        },
    ]
}

pub(crate) fn remove_response() -> Example {
    Example {
        name: "removed",
        summary: "All matching pages are gone",
        value: json!({
            "$schema": schema_url("WebPagesRemoveResponse"),
            "request_id": REQUEST_ID,
            "removed": 37,
            "is_complete": true,
        }),
    }
}

pub(crate) fn refresh_requests() -> Vec<Example> {
    vec![Example { name: "page", summary: "One page", value: json!({"urls": [URL]}) }]
}

pub(crate) fn refresh_response() -> Example {
    Example {
        name: "queued",
        summary: "The visit is queued",
        value: json!({
            "$schema": schema_url("WebPagesRefreshResponse"),
            "request_id": REQUEST_ID,
            "results": [{"url": URL, "queued": true}],
        }),
    }
}
