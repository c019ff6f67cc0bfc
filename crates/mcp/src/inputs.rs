//! Input schemas as models see them: one level of short names. Every field of the API's requests is accepted beside them
//! (`arguments/`), but each listed one costs every conversation its characters.

use serde_json::{Value, json};

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

pub(crate) fn search() -> Value {
    let domains = json!({"type": "array", "items": {"type": "string"}});
    let described = |description: &str| {
        let mut schema = domains.clone();
        schema["description"] = description.into();
        schema
    };
    object(
        json!({
            "query": {"type": "string", "description": "Question or keywords in natural language."},
            "max_results": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "indexes": {
                "type": "array",
                "items": {"type": "string", "enum": ["web", "workspace"]},
                "default": ["web"],
                "description": "`workspace`: the organization's own files.",
            },
            "include_domains": described("Preferred sites, such as `example.com`."),
            "require_domain_match": {"type": "boolean", "description": "Only include_domains."},
            "exclude_domains": described("Sites to leave out."),
            "freshness": {
                "type": "string",
                "enum": ["pd", "pw", "pm", "py"],
                "description": "Published in the past day, week, month or year.",
            },
            "published_after": {"type": "string", "description": "YYYY-MM-DD or RFC 3339."},
            "language": {"type": "string", "description": "Two letters."},
            "country": {"type": "string", "description": "Two letters."},
            "labels": described("Only files with one of these labels."),
            "exact_match": {"type": "boolean", "description": "Only texts with the query as a phrase."},
            "search_queries": described("Rewrites of the query, up to 16."),
            "max_chars": {"type": "integer", "default": 12_000, "description": "Size of the whole answer."},
        }),
        &["query"],
    )
}

pub(crate) fn read_document() -> Value {
    object(
        json!({
            "doc_id": {"type": "string", "description": "Id of a search result."},
            "canonical_url": {"type": "string", "description": "Or the URL of a listed file or any public page."},
            "query": {"type": "string", "description": "Return only the passages that answer this."},
            "start_char": {"type": "integer", "minimum": 0, "description": "Continue here."},
            "capture_id": {"type": "string", "description": "As the previous part says."},
            "max_chars": {"type": "integer", "default": 20_000, "description": "Size of the whole answer."},
            "passage_ids": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Return only these passages.",
            },
        }),
        &[],
    )
}

pub(crate) fn research_start() -> Value {
    object(
        json!({
            "query": {"type": "string", "description": "Question, or several."},
            "depth": {"type": "string", "enum": ["quick", "standard", "deep"], "default": "standard"},
            "indexes": {
                "type": "array",
                "items": {"type": "string", "enum": ["web", "workspace"]},
                "default": ["web"],
            },
            "instructions": {"type": "string", "description": "Readers, language or form of the report."},
            "schema": {"type": "object", "description": "JSON Schema, for a report as JSON."},
            "max_chars": {"type": "integer", "default": 12_000, "description": "Size of the report."},
        }),
        &["query"],
    )
}

pub(crate) fn research_get() -> Value {
    object(
        json!({
            "research_id": {"type": "string"},
            "wait_seconds": {"type": "integer", "minimum": 0, "maximum": 30, "default": 20},
            "max_chars": {"type": "integer", "default": 20_000, "description": "Size of the whole answer."},
        }),
        &["research_id"],
    )
}

pub(crate) fn submit_feedback() -> Value {
    let id = json!({"type": "string"});
    object(
        json!({
            "event_type": {
                "type": "string",
                "enum": [
                    "result_helpful", "result_not_helpful", "passage_used", "read_abandoned", "duplicate_result",
                    "stale_result", "spam_or_low_quality", "missing_expected_source", "unsafe_or_policy_issue",
                ],
            },
            "search_id": id,
            "doc_id": id,
            "passage_id": id,
            "comment": {"type": "string"},
        }),
        &["event_type"],
    )
}

pub(crate) fn list_files() -> Value {
    object(
        json!({
            "cursor": {"type": "string", "description": "next_cursor of the previous page."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
            "start": {"type": "integer", "minimum": 0, "description": "Files to skip, instead of a cursor."},
        }),
        &[],
    )
}

pub(crate) fn upload_file() -> Value {
    object(
        json!({
            "name": {"type": "string", "description": "Such as `notes.md`: .md, .txt, .html, .csv or .tsv."},
            "text": {"type": "string", "description": "The whole content, at most 200 kB."},
        }),
        &["name", "text"],
    )
}
