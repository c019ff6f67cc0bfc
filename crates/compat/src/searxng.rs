//! SearXNG: `/search?format=json`.

use api_types::{ErrorCode, Freshness, Verbosity};
use serde::Deserialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::dates::published;
use crate::document::{summary, title};
use crate::{ErrorReply, ForeignRequest, ForeignSearch, Hit, Moment, Refusal, SearchPlan, Service};

/// Results of a page.
const PAGE: usize = 10;

/// Name of the only engine.
const ENGINE: &str = "retrieval";

/// Categories that web pages belong to.
const CATEGORIES: [&str; 6] = ["general", "web", "news", "science", "it", "q&a"];

/// The service's errors and names.
pub struct Searxng;

impl Service for Searxng {
    const FIELDS: &'static [(&'static str, &'static str)] = &[("query", "q")];

    fn error(code: ErrorCode, message: &str, _: Uuid) -> ErrorReply {
        ErrorReply { status: code.status(), body: json!({"error": message}) }
    }
}

/// The query parameters of `GET /search`, all of them texts.
#[derive(Debug, Deserialize)]
pub struct SearchRequest {
    #[serde(default)]
    q: String,
    format: Option<String>,
    pageno: Option<String>,
    time_range: Option<String>,
    categories: Option<String>,
}

impl SearchRequest {
    fn page(&self) -> Result<usize, Refusal> {
        match self.pageno.as_deref() {
            None => Ok(1),
            Some(text) => {
                let page = text.parse().ok().filter(|page| *page > 0);
                page.ok_or_else(|| Refusal::new("pageno", "pageno must be a positive number"))
            }
        }
    }

    fn window(&self) -> Result<Option<Freshness>, Refusal> {
        match self.time_range.as_deref() {
            None => Ok(None),
            Some("day") => Ok(Some(Freshness::Pd)),
            Some("week") => Ok(Some(Freshness::Pw)),
            Some("month") => Ok(Some(Freshness::Pm)),
            Some("year") => Ok(Some(Freshness::Py)),
            Some(_) => Err(Refusal::new("time_range", "time_range must be `day`, `week`, `month` or `year`")),
        }
    }

    fn check_categories(&self) -> Result<(), Refusal> {
        let categories = self.categories.as_deref().unwrap_or_default();
        let mut named = categories.split(',').map(str::trim).filter(|name| !name.is_empty()).peekable();
        let is_known = |name: &str| CATEGORIES.contains(&name.to_lowercase().as_str());
        if named.peek().is_none() || named.any(is_known) {
            return Ok(());
        }
        Err(Refusal::new("categories", format!("categories must name one of {}", CATEGORIES.join(", "))))
    }
}

impl ForeignRequest for SearchRequest {
    type Service = Searxng;
}

impl ForeignSearch for SearchRequest {
    fn plan(&self, _: OffsetDateTime) -> Result<SearchPlan, Refusal> {
        if self.format.as_deref() != Some("json") {
            return Err(Refusal::new("format", "format must be `json`"));
        }
        self.check_categories()?;
        let mut plan = SearchPlan::new(&self.q, PAGE);
        plan.skip = (self.page()? - 1).saturating_mul(PAGE);
        if let Some(window) = self.window()? {
            plan.within(window);
        }
        plan.request.response.verbosity = Verbosity::Compact;
        Ok(plan)
    }

    fn answer(&self, hits: Vec<Hit>, _: Moment) -> Value {
        let skipped = self.page().unwrap_or(1).saturating_sub(1).saturating_mul(PAGE);
        let result = |(at, Hit { result, .. }): (usize, &Hit)| {
            json!({
                "url": result.canonical_url,
                "title": title(result),
                "content": summary(result),
                "publishedDate": published(result),
                "engine": ENGINE,
                "engines": [ENGINE],
                "category": "general",
                "template": "default.html",
                "positions": [skipped.saturating_add(at + 1)],
                "score": result.score.map(|score| score.value),
            })
        };
        let results: Vec<Value> = hits.iter().enumerate().map(result).collect();
        json!({
            "query": self.q,
            "number_of_results": results.len(),
            "results": results,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": [],
        })
    }
}
