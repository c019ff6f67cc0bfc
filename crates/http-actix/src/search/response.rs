use api_types::{Access, ErrorCode, IntegrationResults, OnExceed, Ranking, SearchResponse, Usage, Warning};
use app::search::{SearchHit, SearchOutcome};
use model::IndexName;
use retrieval_core::shape::{Field, HitPlan, Length, Measure, PagePlan, Plan};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::hit_view::{self, COMMA, HitView};
use super::request::Shaping;
use super::{limit, warnings};
use crate::failure::Failure;
use crate::metered::{self, length_of};
use crate::numbers::wire_int;

/// Scope in which scores are comparable.
const SCORE_SCOPE: &str = "response";

/// Describes the ranking of a list.
pub(crate) fn ranking(ranker_version: String) -> Ranking {
    Ranking { ranker_version, score_scope: SCORE_SCOPE.to_owned() }
}

/// Bytes of a hit or a passage beside its texts: ids, addresses, times and offsets.
const FACTS_BYTES: usize = 256;

/// The parts of an answer, before its shape is planned.
#[derive(Debug)]
pub(crate) struct Page {
    pub schema: Option<String>,
    pub request_id: Uuid,
    pub session_id: String,
    pub access: Access,
    /// Path of the list of the organization's files.
    pub files_path: String,
    pub outcome: SearchOutcome,
    pub shaping: Shaping,
}

impl Page {
    /// Estimates the bytes of the whole answer.
    pub fn bytes(&self) -> usize {
        let texts = |hit: &SearchHit| {
            let passages: usize = hit.passages.iter().map(|passage| FACTS_BYTES + passage.text.len()).sum();
            FACTS_BYTES + hit.snippet.len() + passages
        };
        self.outcome.hits.iter().map(texts).sum()
    }

    /// Plans as much of the answer as the preset shows and the budget allows.
    ///
    /// # Errors
    /// `response_too_large` if the budget cannot be met and the caller asked for an error in that case.
    pub fn shape(mut self) -> Result<ShapedPage, Failure> {
        let plan = self.plan()?;
        if plan.page.unsatisfiable && self.shaping.on_exceed == OnExceed::Error {
            return Err(self.too_large());
        }
        Ok(ShapedPage { page: self, plan })
    }

    fn plan(&mut self) -> Result<Plan, Failure> {
        let Shaping { verbosity, passages, max_chars, max_chars_per_result, .. } = self.shaping;
        let hits = &mut self.outcome.hits;
        let mut plan = Plan::complete(verbosity, hits.len());
        for (hit, plan) in hits.iter_mut().zip(&mut plan.hits) {
            if !passages {
                plan.fields = plan.fields.without(Field::Passages);
            }
            if let Some(max_chars) = max_chars_per_result {
                plan.fields = limit::limit(hit, plan.fields, max_chars)?;
            }
        }
        let Some(max_chars) = max_chars else { return Ok(plan) };
        let hits = self.outcome.hits.iter().zip(&plan.hits);
        let lengths: Result<Vec<_>, Failure> = hits.map(|(hit, plan)| hit_view::measure(hit, plan.fields)).collect();
        Ok(plan.fit(max_chars, &lengths?, self))
    }

    fn too_large(&self) -> Failure {
        let budget = self.shaping.max_chars.unwrap_or_default();
        let message = format!("no response fits into {budget} characters, not even one minimal result");
        Failure::new(ErrorCode::ResponseTooLarge, message)
            .with("field", "response.budget.max_chars_total")
            .with("max_chars_total", budget)
    }

    /// Borrows the planned parts. The view does not state its length yet.
    fn view<'a>(&'a self, page: &PagePlan, hits: &'a [HitPlan]) -> ResponseView<'a> {
        let warnings = warnings::of(&self.outcome, &self.shaping, page);
        ResponseView {
            schema: self.schema.as_deref(),
            request_id: self.request_id,
            search_id: self.outcome.search_id.0,
            session_id: &self.session_id,
            results: HitViews { hits: &self.outcome.hits, plans: hits },
            access: page.access.then_some(&self.access),
            integration_results: self.integration_results(page),
            ranking: page.ranking.then(|| ranking(self.outcome.ranker_version.clone())),
            truncated: (!page.shed.is_empty()).then_some(true),
            degraded: self.outcome.degraded.then_some(true),
            usage: Usage { requests: 1, bytes_returned: 0 },
            warnings: (!warnings.is_empty()).then_some(warnings),
        }
    }

    fn integration_results(&self, page: &PagePlan) -> Option<IntegrationResults> {
        let total = self.outcome.workspace_total.filter(|_| page.integration_results)?;
        // Every hit is shown as long as this block is.
        let hits = self.outcome.hits.iter();
        let selected = hits.filter(|hit| hit.collection.index() == IndexName::Workspace).count();
        Some(IntegrationResults {
            total: wire_int(total),
            selected: wire_int(selected as u64),
            href: self.files_path.clone(),
        })
    }
}

impl Measure for Page {
    fn page(&self, page: &PagePlan) -> Length {
        // A page that cannot be measured does not fit; serializing the answer reports the failure.
        let length = length_of(&self.view(page, &[])).unwrap_or(Length { bytes: u64::MAX, chars: u64::MAX });
        // Each measured hit ends with a comma; the last one has none.
        if self.outcome.hits.is_empty() { length } else { length - COMMA }
    }

    fn text(&self, text: &str) -> Length {
        length_of(&text).unwrap_or_default() - Length { bytes: 2, chars: 2 }
    }

    fn answer_chars(&self, parts: Length) -> u64 {
        metered::stated(parts).chars
    }
}

/// An answer in its final shape.
pub(crate) struct ShapedPage {
    pub page: Page,
    pub plan: Plan,
}

impl ShapedPage {
    /// Serializes the answer. It states its own length.
    pub fn body(&self) -> Result<Vec<u8>, Failure> {
        metered::to_body(&self.view())
    }

    /// Converts the answer to the type that clients read. It does not state its length yet.
    pub fn response(&self) -> Result<SearchResponse, Failure> {
        let value = serde_json::to_value(self.view()).map_err(Failure::internal)?;
        serde_json::from_value(value).map_err(Failure::internal)
    }

    pub fn warnings(&self) -> Vec<Warning> {
        warnings::of(&self.page.outcome, &self.page.shaping, &self.plan.page)
    }

    fn view(&self) -> ResponseView<'_> {
        self.page.view(&self.plan.page, &self.plan.hits)
    }
}

/// A borrowed [`SearchResponse`].
#[derive(Serialize)]
struct ResponseView<'a> {
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    schema: Option<&'a str>,
    request_id: Uuid,
    search_id: Uuid,
    session_id: &'a str,
    results: HitViews<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<&'a Access>,
    #[serde(skip_serializing_if = "Option::is_none")]
    integration_results: Option<IntegrationResults>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranking: Option<Ranking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    degraded: Option<bool>,
    usage: Usage,
    warnings: Option<Vec<Warning>>,
}

/// The planned hits as a list.
struct HitViews<'a> {
    hits: &'a [SearchHit],
    plans: &'a [HitPlan],
}

impl Serialize for HitViews<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.hits.iter().zip(self.plans).map(|(hit, plan)| HitView::new(hit, *plan)))
    }
}
