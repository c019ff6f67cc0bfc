//! Reports of crawls as JSON.

use app::web_index::report::{CrawlView, Outcomes, Reason, total};
use serde_json::{Map, Value, json};

use crate::output;

/// Returns the line of a crawl.
pub fn line(view: &CrawlView) -> Value {
    let CrawlView { crawl, state, plan } = view;
    json!({
        "name": crawl.name,
        "crawl_id": crawl.crawl_id.0,
        "state": state.as_str(),
        "pages": crawl.pages,
        "queued": crawl.queued,
        "urls": crawl.urls,
        "limit": crawl.page_limit,
        "created_at": output::time(crawl.created_at),
        "started_at": output::time(crawl.started_at),
        "finished_at": output::time(crawl.finished_at),
        "settings": plan,
    })
}

/// Returns the line of a crawl with its numbers by outcome and reason.
pub fn with_outcomes(view: &CrawlView, outcomes: &Outcomes) -> Value {
    let mut line = line(view);
    if let Value::Object(fields) = &mut line {
        fields.insert("redirected".to_owned(), outcomes.redirected.into());
        for (name, reasons) in [("skipped", &outcomes.skipped), ("failed", &outcomes.failed), ("gone", &outcomes.gone)]
        {
            fields.insert(name.to_owned(), total(reasons).into());
            fields.insert(format!("{name}_by_reason"), by_reason(reasons).into());
        }
        fields.insert("links_not_followed".to_owned(), by_reason(&outcomes.links_not_followed).into());
    }
    line
}

fn by_reason(reasons: &[Reason]) -> Map<String, Value> {
    let entry =
        |Reason { name, count, example }: &Reason| (name.clone(), json!({ "count": count, "example": example }));
    reasons.iter().map(entry).collect()
}

/// Returns the reasons of failure with their numbers, the most frequent first, in one line; `None` without any.
pub fn failures(outcomes: &Outcomes) -> Option<String> {
    let mut found: Vec<&Reason> = outcomes.failed.iter().chain(&outcomes.gone).collect();
    found.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    let shown: Vec<String> = found.iter().take(4).map(|reason| format!("{} {}", reason.name, reason.count)).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}
