use api_types::{ContentFormat, DocumentRequest, Freshness, SearchResult, timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::{CHUNK_SEPARATOR, Tavily};
use crate::dates::{self, published};
use crate::document::{self, chunks, title};
use crate::{ForeignRequest, ForeignSearch, Hit, Moment, Refusal, Refused, SearchPlan, Unsupported};

/// Most chunks of one source.
const MAX_CHUNKS: usize = 3;

/// The body of `POST /search`.
#[derive(Debug, Deserialize)]
pub struct SearchRequest {
    #[serde(default)]
    query: String,
    topic: Option<String>,
    search_depth: Option<String>,
    chunks_per_source: Option<usize>,
    max_results: Option<usize>,
    time_range: Option<String>,
    start_date: Option<String>,
    end_date: Option<String>,
    days: Option<i64>,
    include_domains: Option<Vec<String>>,
    include_domains_mode: Option<String>,
    exclude_domains: Option<Vec<String>>,
    include_raw_content: Option<RawContent>,
    include_usage: Option<bool>,
    exact_match: Option<bool>,
    language: Option<String>,
    filter_by_language: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a boolean or a format")]
enum RawContent {
    Flag(bool),
    Format(String),
}

impl SearchRequest {
    fn raw_format(&self) -> Result<Option<ContentFormat>, Refusal> {
        match &self.include_raw_content {
            None | Some(RawContent::Flag(false)) => Ok(None),
            Some(RawContent::Flag(true)) => Ok(Some(ContentFormat::Markdown)),
            Some(RawContent::Format(format)) => match format.as_str() {
                "markdown" => Ok(Some(ContentFormat::Markdown)),
                "text" => Ok(Some(ContentFormat::Text)),
                _ => {
                    let message = "include_raw_content must be true, false, `markdown` or `text`";
                    Err(Refusal::new("include_raw_content", message))
                }
            },
        }
    }

    fn chunks(&self) -> usize {
        match self.search_depth.as_deref() {
            Some("advanced") => self.chunks_per_source.unwrap_or(MAX_CHUNKS).clamp(1, MAX_CHUNKS),
            _ => 1,
        }
    }

    fn window(&self) -> Result<Option<Freshness>, Refusal> {
        match self.time_range.as_deref() {
            None => Ok(None),
            Some("day" | "d") => Ok(Some(Freshness::Pd)),
            Some("week" | "w") => Ok(Some(Freshness::Pw)),
            Some("month" | "m") => Ok(Some(Freshness::Pm)),
            Some("year" | "y") => Ok(Some(Freshness::Py)),
            Some(_) => Err(Refusal::new(
                "time_range",
                "time_range must be `day`, `week`, `month` or `year`, or its first letter",
            )),
        }
    }

    /// Returns the exclusive lower bound of publication times, unless `time_range` alone gives it.
    fn earliest(&self, now: OffsetDateTime) -> Result<Option<OffsetDateTime>, Refusal> {
        let window = self.window()?;
        if let Some(start) = &self.start_date {
            let start = dates::parse("start_date", start)?.after();
            let window = window.map(|window| now.saturating_sub(Duration::days(window.days())));
            return Ok(Some(window.map_or(start, |window| window.max(start))));
        }
        // The clients send a number of days with every search; it applies to news.
        let days = self.days.filter(|_| self.topic.as_deref() == Some("news") && window.is_none());
        match days {
            None | Some(0) => Ok(None),
            Some(days) if days < 0 => Err(Refusal::new("days", "days must not be negative")),
            // A filter also before all times: it drops results without a known time.
            Some(days) => Ok(Some(now.saturating_sub(Duration::seconds(days.saturating_mul(86_400))))),
        }
    }

    /// Returns the phrase in quotation marks that results must contain.
    fn phrase(&self) -> Result<Option<&str>, Refusal> {
        if self.exact_match != Some(true) {
            return Ok(None);
        }
        let mut quoted = self.query.split('"').skip(1).step_by(2).map(str::trim).filter(|phrase| !phrase.is_empty());
        let phrase = quoted.next();
        match quoted.next() {
            None => Ok(phrase),
            Some(_) => Err(Refusal::new("exact_match", "exact_match supports one quoted phrase in the query")),
        }
    }
}

impl ForeignRequest for SearchRequest {
    type Service = Tavily;

    const UNSUPPORTED: &'static [Refused] = &[Refused {
        object: "",
        fields: &[
            Unsupported { field: "include_answer", reason: "this server writes no answers" },
            Unsupported { field: "max_age_hours", reason: "time_range, days and start_date limit the age" },
            Unsupported { field: "max_hours", reason: "time_range, days and start_date limit the age" },
        ],
    }];
}

impl ForeignSearch for SearchRequest {
    fn plan(&self, now: OffsetDateTime) -> Result<SearchPlan, Refusal> {
        let mut plan = SearchPlan::new(&self.query, self.max_results.unwrap_or(5));
        self.raw_format()?;
        let domains = self.include_domains.as_deref().unwrap_or_default();
        plan.require_domains(domains);
        if self.include_domains_mode.as_deref() == Some("prefer") {
            plan.request.source_policy.require_domain_match = false;
        }
        plan.exclude_domains(self.exclude_domains.as_deref().unwrap_or_default());
        plan.request.response.max_passages_per_result = i64::try_from(self.chunks()).unwrap_or(1);
        plan.request.freshness_policy.freshness = self.window()?.filter(|_| self.start_date.is_none());
        plan.request.freshness_policy.published_after = self.earliest(now)?.map(timestamp::rfc3339);
        if let Some(end) = &self.end_date {
            plan.published_before(dates::parse("end_date", end)?.end());
        }
        if let Some(phrase) = self.phrase()? {
            plan.request.search_queries = Some(vec![phrase.to_owned()]);
            plan.request.filters.exact_match = true;
        }
        if self.filter_by_language == Some(true) {
            plan.request.filters.language.clone_from(&self.language);
        }
        Ok(plan)
    }

    fn reads_documents(&self) -> bool {
        matches!(self.raw_format(), Ok(Some(_)))
    }

    fn reads(&self, hit: &SearchResult) -> Vec<DocumentRequest> {
        let format = self.raw_format().ok().flatten();
        format.map(|format| document::whole(&hit.doc_id.to_string(), format, None)).into_iter().collect()
    }

    fn answer(&self, hits: Vec<Hit>, moment: Moment) -> Value {
        let results: Vec<Value> = hits.iter().map(|hit| result(hit, self.chunks())).collect();
        let mut answer = json!({
            "query": self.query,
            "follow_up_questions": null,
            "answer": null,
            // The index has no images.
            "images": [],
            "results": results,
            "response_time": moment.elapsed.as_secs_f64(),
            "request_id": moment.request_id,
        });
        if self.include_usage == Some(true) {
            answer["usage"] = json!({"credits": 1});
        }
        answer
    }
}

fn result(hit: &Hit, most: usize) -> Value {
    let Hit { result, documents } = hit;
    let raw = documents.first().and_then(|outcome| document::text(outcome).ok());
    let mut view = json!({
        "url": result.canonical_url,
        "title": title(result),
        "content": chunks(result, most).join(CHUNK_SEPARATOR),
        "score": result.score.map(|score| score.value),
        "raw_content": raw,
    });
    if let Some(published) = published(result) {
        view["published_date"] = published.into();
    }
    view
}
