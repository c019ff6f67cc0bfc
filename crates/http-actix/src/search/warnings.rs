//! Warnings of a search.

use api_types::{Warning, WarningCode};
use app::search::{SearchOutcome, UnavailableProvider, UnknownValues};
use retrieval_core::shape::PagePlan;
use serde_json::{Map, Value, json};

use super::request::Shaping;

/// Longest echo of an unrecognized value, in characters.
const MAX_ECHO: usize = 100;

/// Returns the warnings about an answer of this shape.
pub(crate) fn of(outcome: &SearchOutcome, shaping: &Shaping, page: &PagePlan) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |code, message: String, details: Value| {
        let details = match details {
            Value::Object(details) => details,
            _ => Map::new(),
        };
        warnings.push(Warning { code, message, details });
    };
    if let Some(value) = &shaping.unrecognized_verbosity {
        let value: String = value.chars().take(MAX_ECHO).collect();
        let message = format!("response.verbosity `{value}` is not known; `standard` was used");
        warn(WarningCode::UnknownField, message, json!({"field": "response.verbosity", "value": value}));
    }
    if outcome.filtered_results > 0 {
        let count = outcome.filtered_results;
        let message = match count {
            1 => "1 result removed by source_policy".to_owned(),
            count => format!("{count} results removed by source_policy"),
        };
        warn(WarningCode::SourcePolicyFiltered, message, json!({"filtered_results": count}));
    }
    if let Some((message, details)) = unknown_values(&outcome.unknown_values) {
        warn(WarningCode::FilterUnknownValues, message, details);
    }
    if !outcome.empty_indexes.is_empty() {
        let indexes: Vec<&str> = outcome.empty_indexes.iter().map(|index| index.as_str()).collect();
        let message = format!("searched indexes without any document: {}", indexes.join(", "));
        warn(WarningCode::IndexEmpty, message, json!({"indexes": indexes}));
    }
    for UnavailableProvider { name, reason } in &outcome.unavailable_providers {
        let message = format!("results of the web search provider `{name}` are missing: {}", reason.replace('_', " "));
        warn(WarningCode::WebProviderUnavailable, message, json!({"provider": name, "reason": reason}));
    }
    if outcome.semantic_unavailable {
        let message = "search by meaning is unavailable; results are found by their words only";
        warn(WarningCode::SemanticUnavailable, message.to_owned(), Value::Null);
    }
    if outcome.rerank_unavailable {
        let message = "reranking is unavailable; results are in first-stage order";
        warn(WarningCode::RerankUnavailable, message.to_owned(), Value::Null);
    }
    if !page.shed.is_empty() {
        let levels: Vec<_> = page.shed.iter().map(|level| level.as_str()).collect();
        let message = "parts of the response were left out to fit the budget";
        warn(WarningCode::ResponseTruncated, message.to_owned(), json!({"shed_levels": levels}));
    }
    if page.unsatisfiable {
        let message = "one minimal result exceeds the budget";
        warn(WarningCode::BudgetUnsatisfiable, message.to_owned(), Value::Null);
    }
    warnings
}

/// Returns the warning about matching documents without a value that a filter needs; `None` if there are none.
fn unknown_values(counts: &UnknownValues) -> Option<(String, Value)> {
    let UnknownValues { language, country, published_at } = *counts;
    let fields = [("language", language), ("country", country), ("published_at", published_at)];
    let lacking = || fields.into_iter().filter(|(_, count)| *count > 0);
    lacking().next()?;
    let counts: Vec<String> = lacking().map(|(field, count)| format!("{field} ({count})")).collect();
    let message =
        format!("matching documents removed by filters because their value is unknown: {}", counts.join(", "));
    Some((message, lacking().map(|(field, count)| (field.to_owned(), Value::from(count))).collect()))
}
