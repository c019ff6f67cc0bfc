//! Argument parsers for enum values of the API.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use retrieval_client::types::{ContentFormat, EventType, Freshness, ResearchDepth, Verbosity};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Parses one of `values` into its API type.
fn one_of<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    values: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(values).try_map(|word| serde_json::from_value::<T>(Value::String(word)))
}

pub fn verbosity() -> impl TypedValueParser<Value = Verbosity> {
    one_of(&["ids_only", "compact", "standard", "full"])
}

pub fn format() -> impl TypedValueParser<Value = ContentFormat> {
    one_of(&["markdown", "text"])
}

pub fn depth() -> impl TypedValueParser<Value = ResearchDepth> {
    one_of(&["quick", "standard", "deep"])
}

pub fn event() -> impl TypedValueParser<Value = EventType> {
    one_of(&[
        "result_helpful",
        "result_not_helpful",
        "passage_used",
        "read_abandoned",
        "duplicate_result",
        "stale_result",
        "spam_or_low_quality",
        "missing_expected_source",
        "unsafe_or_policy_issue",
    ])
}

/// Accepts both `day` and `pd`.
pub fn freshness() -> impl TypedValueParser<Value = Freshness> {
    PossibleValuesParser::new(["day", "week", "month", "year", "pd", "pw", "pm", "py"]).map(|word| match &*word {
        "day" | "pd" => Freshness::Pd,
        "week" | "pw" => Freshness::Pw,
        "month" | "pm" => Freshness::Pm,
        _ => Freshness::Py,
    })
}

/// Returns the wire name of an API value.
pub fn wire(word: &impl serde::Serialize) -> String {
    match serde_json::to_value(word) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}
