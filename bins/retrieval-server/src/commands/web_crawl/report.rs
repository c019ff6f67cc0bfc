//! Reports of crawls.

use docstore::{Crawl, CrawlCount};
use ingest::clock::to_date_time;
use model::{CrawlStatus, CrawlUrlState, Timestamp};
use serde_json::{Map, Value, json};
use time::format_description::well_known::Rfc3339;

/// Returns the state: `running`, `waiting` for the next round, `completed` or `stopped`.
pub fn state(crawl: &Crawl) -> &'static str {
    match crawl.status {
        CrawlStatus::Stopped => "stopped",
        CrawlStatus::Running if crawl.queued > 0 => "running",
        CrawlStatus::Running if settings(crawl).get("every_seconds").is_some_and(|every| !every.is_null()) => "waiting",
        CrawlStatus::Running => "completed",
    }
}

fn settings(crawl: &Crawl) -> Value {
    serde_json::from_str(&crawl.settings).unwrap_or_default()
}

/// Returns the line of a crawl.
pub fn line(crawl: &Crawl) -> Value {
    json!({
        "name": crawl.name,
        "crawl_id": crawl.crawl_id.0,
        "state": state(crawl),
        "pages": crawl.pages,
        "queued": crawl.queued,
        "urls": crawl.urls,
        "limit": crawl.page_limit,
        "created_at": time(Some(crawl.created_at)),
        "started_at": time(Some(crawl.started_at)),
        "finished_at": time(crawl.finished_at),
        "settings": settings(crawl),
    })
}

/// Returns the line of a crawl with its numbers by outcome and reason.
pub fn with_counts(crawl: &Crawl, counts: &[CrawlCount]) -> Value {
    let mut line = line(crawl);
    if let Value::Object(fields) = &mut line {
        fields.extend(outcomes(counts));
    }
    line
}

/// Returns the numbers of URLs by outcome, and for each reason its number and an example.
pub fn outcomes(counts: &[CrawlCount]) -> Map<String, Value> {
    let of = |kind: &str| -> Map<String, Value> {
        let matching = counts.iter().filter(|count| count.kind == kind);
        let reason = |count: &CrawlCount| match count.reason.as_str() {
            "" => "unknown".to_owned(),
            reason => reason.to_owned(),
        };
        matching.map(|count| (reason(count), json!({ "count": count.count, "example": count.example }))).collect()
    };
    let total = |state: CrawlUrlState| -> i64 {
        counts.iter().filter(|count| count.kind == state.as_str()).map(|count| count.count).sum()
    };
    let mut fields = Map::new();
    fields.insert("redirected".to_owned(), total(CrawlUrlState::Redirected).into());
    for (field, state) in
        [("skipped", CrawlUrlState::Skipped), ("failed", CrawlUrlState::Failed), ("gone", CrawlUrlState::Gone)]
    {
        fields.insert(field.to_owned(), total(state).into());
        fields.insert(format!("{field}_by_reason"), of(state.as_str()).into());
    }
    fields.insert("links_not_followed".to_owned(), of("link").into());
    fields
}

/// Returns the reasons of failure with their numbers, the most frequent first, in one line.
pub fn failures(counts: &[CrawlCount]) -> String {
    let kinds = [CrawlUrlState::Failed.as_str(), CrawlUrlState::Gone.as_str()];
    let mut found: Vec<(i64, &str)> = counts
        .iter()
        .filter(|count| kinds.contains(&count.kind.as_str()))
        .map(|count| (count.count, count.reason.as_str()))
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let shown: Vec<String> = found.iter().take(4).map(|(count, reason)| format!("{reason} {count}")).collect();
    if shown.is_empty() { "no failures".to_owned() } else { shown.join(", ") }
}

fn time(at: Option<Timestamp>) -> Option<String> {
    to_date_time(at?).format(&Rfc3339).ok()
}
