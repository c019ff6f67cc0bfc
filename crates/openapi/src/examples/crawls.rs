use serde_json::{Value, json};

use super::{Example, REQUEST_ID, schema_url};

fn crawl(state: &str, schema: &str) -> Value {
    json!({
        "$schema": schema_url(schema),
        "request_id": REQUEST_ID,
        "name": "docs.example.com",
        "crawl_id": "0190a6d5-2c44-7b0e-9d11-3f6a8c2e5b70",
        "state": state,
        "pages": 1204,
        "queued": 310,
        "urls": 1702,
        "limit": 5000,
        "created_at": "2026-06-15T12:00:00Z",
        "started_at": "2026-06-15T12:00:00Z",
        "settings": {
            "seeds": ["https://docs.example.com/"],
            "include": [],
            "exclude": ["/archive/*"],
            "sitemaps": "auto",
            "every_seconds": 86_400,
        },
    })
}

pub(crate) fn list_response() -> Example {
    let mut entry = crawl("running", "");
    if let Some(fields) = entry.as_object_mut() {
        fields.remove("$schema");
        fields.remove("request_id");
    }
    let value = json!({"$schema": schema_url("WebCrawlListResponse"), "request_id": REQUEST_ID, "crawls": [entry]});
    Example { name: "crawls", summary: "One crawl at work", value }
}

pub(crate) fn create_requests() -> Vec<Example> {
    vec![
        Example { name: "site", summary: "A site, once", value: json!({"urls": ["https://docs.example.com/"]}) },
        Example {
            name: "again",
            summary: "Parts of a site, again and again",
            value: json!({
                "urls": ["https://docs.example.com/"],
                "name": "docs",
                "limit": 5000,
                "include": ["/docs/*"],
                "exclude": ["/docs/archive/*"],
                "sitemaps": "only",
                "every_seconds": 86_400,
            }),
        },
    ]
}

pub(crate) fn create_response() -> Example {
    let mut value = crawl("running", "WebCrawlResponse");
    for (field, number) in [("pages", 0), ("queued", 1), ("urls", 1)] {
        value[field] = json!(number);
    }
    Example { name: "started", summary: "The crawl, before its first visit", value }
}

pub(crate) fn stop_response() -> Example {
    Example { name: "stopped", summary: "The stopped crawl", value: crawl("stopped", "WebCrawlResponse") }
}

pub(crate) fn report_response() -> Example {
    let mut value = crawl("running", "WebCrawlReportResponse");
    let outcomes = json!({
        "redirected": 41,
        "skipped": 120,
        "skipped_by_reason": {
            "canonical": {"count": 118, "example": "https://docs.example.com/guide?print=1"},
            "robots": {"count": 2, "example": "https://docs.example.com/private/"},
        },
        "failed": 27,
        "failed_by_reason": {"http_500": {"count": 27, "example": "https://docs.example.com/broken"}},
        "gone": 0,
        "gone_by_reason": {},
        "links_not_followed": {"other_host": {"count": 902, "example": "https://example.org/"}},
    });
    if let (Some(fields), Value::Object(outcomes)) = (value.as_object_mut(), outcomes) {
        fields.extend(outcomes);
    }
    Example { name: "running", summary: "A crawl at work", value }
}

pub(crate) fn delete_response() -> Example {
    Example {
        name: "removed",
        summary: "The crawl and its pages are gone",
        value: json!({
            "$schema": schema_url("WebCrawlDeleteResponse"),
            "request_id": REQUEST_ID,
            "name": "docs.example.com",
            "removed": true,
            "pages_removed": true,
        }),
    }
}
