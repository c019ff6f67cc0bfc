use api_types::{
    Access, DocumentProvenance, ErrorCode, IntegrationResults, OnExceed, Passage, Ranking, ResultMetadata, Score,
    SearchResponse, SearchResult, Usage, Warning, WarningCode,
};
use app::search::SearchOutcome;
use retrieval_core::shape::{self, HitMetadata, HitPassage, SearchHit, Shaped};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::failure::Failure;
use crate::metered;
use crate::numbers::wire_int;
use crate::search::request::Shaping;

/// Where scores can be compared.
const SCORE_SCOPE: &str = "response";

/// Where an organization's files are listed.
const FILES_PATH: &str = "/v1/files";

/// Longest echo of an unrecognized value, in characters.
const MAX_ECHO: usize = 100;

/// Everything of an answer that its shape does not change.
pub(crate) struct Page {
    pub schema: Option<String>,
    pub request_id: Uuid,
    pub session_id: String,
    pub access: Access,
    pub outcome: SearchOutcome,
    pub shaping: Shaping,
}

impl Page {
    /// The answer: as much as the preset shows and the budget holds.
    ///
    /// # Errors
    /// `response_too_large` when the budget cannot be met and the caller asked for an error then.
    pub fn into_response(mut self) -> Result<SearchResponse, Failure> {
        let hits = std::mem::take(&mut self.outcome.hits);
        let size = |shaped: &Shaped| match metered::measure(&mut self.response(shaped)) {
            Ok(length) => length.chars as u64,
            // What cannot be serialized here cannot be below either, where the failure is reported.
            Err(_) => u64::MAX,
        };
        let shaped = shape::shape(hits, self.shaping.verbosity, self.shaping.max_chars, &size);
        if shaped.unsatisfiable && self.shaping.on_exceed == OnExceed::Error {
            return Err(self.too_large());
        }
        Ok(self.response(&shaped))
    }

    fn too_large(&self) -> Failure {
        let budget = self.shaping.max_chars.unwrap_or_default();
        let message = format!("no response fits into {budget} characters, not even one minimal result");
        Failure::new(ErrorCode::ResponseTooLarge, message)
            .with("field", "response.budget.max_chars_total")
            .with("max_chars_total", budget)
    }

    fn response(&self, shaped: &Shaped) -> SearchResponse {
        let warnings = self.warnings(shaped);
        SearchResponse {
            schema: self.schema.clone(),
            request_id: self.request_id,
            search_id: self.outcome.search_id.0,
            session_id: self.session_id.clone(),
            results: Some(shaped.hits.iter().map(result).collect()),
            access: shaped.access.then(|| self.access.clone()),
            integration_results: self.integration_results(shaped),
            ranking: shaped.ranking.then(|| Ranking {
                ranker_version: self.outcome.ranker_version.clone(),
                score_scope: SCORE_SCOPE.to_owned(),
            }),
            truncated: (!shaped.shed.is_empty()).then_some(true),
            usage: Some(Usage { requests: 1, bytes_returned: 0 }),
            warnings: (!warnings.is_empty()).then_some(warnings),
        }
    }

    fn integration_results(&self, shaped: &Shaped) -> Option<IntegrationResults> {
        let counts = self.outcome.workspace.filter(|_| shaped.integration_results)?;
        // Counted in what is shown: a budget may have taken some of those that were selected. The scheme tells, since
        // small presets leave `index` out.
        let selected = shaped.hits.iter().filter(|hit| hit.canonical_url.starts_with("workspace://")).count();
        Some(IntegrationResults {
            total: wire_int(counts.total),
            selected: wire_int(selected as u64),
            href: FILES_PATH.to_owned(),
        })
    }

    fn warnings(&self, shaped: &Shaped) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut warn = |code, message: String, details: Value| {
            let details = match details {
                Value::Object(details) => details,
                _ => Map::new(),
            };
            warnings.push(Warning { code, message, details });
        };
        if let Some(value) = &self.shaping.unrecognized_verbosity {
            let value: String = value.chars().take(MAX_ECHO).collect();
            let message = format!("response.verbosity `{value}` is not known; `standard` was used");
            warn(WarningCode::UnknownField, message, json!({"field": "response.verbosity", "value": value}));
        }
        if self.outcome.filtered_results > 0 {
            let count = self.outcome.filtered_results;
            let message = format!("source_policy removed {count} results");
            warn(WarningCode::SourcePolicyFiltered, message, json!({"filtered_results": count}));
        }
        if self.outcome.rerank_unavailable {
            let message = "reranking is unavailable; results stand in first-stage order";
            warn(WarningCode::RerankUnavailable, message.to_owned(), Value::Null);
        }
        if !shaped.shed.is_empty() {
            let levels: Vec<_> = shaped.shed.iter().map(|level| level.as_str()).collect();
            let message = "parts of the response were left out to fit the budget";
            warn(WarningCode::ResponseTruncated, message.to_owned(), json!({"shed_levels": levels}));
        }
        if shaped.unsatisfiable {
            let message = "one minimal result exceeds the budget";
            warn(WarningCode::BudgetUnsatisfiable, message.to_owned(), Value::Null);
        }
        warnings
    }
}

fn result(hit: &SearchHit) -> SearchResult {
    SearchResult {
        rank: i64::from(hit.rank),
        doc_id: hit.doc_id,
        canonical_url: hit.canonical_url.clone(),
        title: hit.title.clone(),
        description: hit.description.clone(),
        snippet: hit.snippet.clone(),
        mime: hit.mime.clone(),
        source_url: hit.source_url.clone(),
        source_uri: hit.source_uri.clone(),
        index: hit.index.clone(),
        labels: hit.labels.clone(),
        metadata: hit.metadata.as_ref().map(metadata),
        passages: hit.passages.as_ref().map(|passages| passages.iter().map(passage).collect()),
        provenance: hit.provenance.as_ref().map(|provenance| DocumentProvenance {
            capture_id: provenance.capture_id,
            capture_time: provenance.capture_time.clone(),
        }),
        score: hit.score.map(|value| Score { value }),
    }
}

fn metadata(metadata: &HitMetadata) -> ResultMetadata {
    ResultMetadata {
        content_digest: metadata.content_digest.clone(),
        extracted_at: metadata.extracted_at.clone(),
        first_seen_at: metadata.first_seen_at.clone(),
        last_crawled_at: metadata.last_crawled_at.clone(),
        last_seen_at: metadata.last_seen_at.clone(),
        published_at: metadata.published_at.clone(),
    }
}

fn passage(passage: &HitPassage) -> Passage {
    Passage {
        passage_id: passage.passage_id,
        doc_id: passage.doc_id,
        ordinal: i64::from(passage.ordinal),
        text: passage.text.clone(),
        char_start: passage.char_start.map(wire_int),
        char_end: passage.char_end.map(wire_int),
        section_heading: passage.section_heading.clone(),
        section_path: (!passage.section_path.is_empty()).then(|| passage.section_path.clone()),
    }
}
