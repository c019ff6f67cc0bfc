//! Counts of warnings by code.

use api_types::{Warning, WarningCode};
use metrics::counter;

/// Makes the warnings of searches and documents known to the first scrape.
pub(crate) fn register() {
    let codes = openapi::operations::all().flat_map(|spec| spec.warnings);
    codes.for_each(|code| count(*code, 0));
}

/// Counts the warnings of an answer.
pub(crate) fn record<'a>(warnings: impl IntoIterator<Item = &'a Warning>) {
    warnings.into_iter().for_each(|warning| count(warning.code, 1));
}

fn count(code: WarningCode, warnings: u64) {
    // Codes have one name everywhere, that of the wire.
    let Ok(serde_json::Value::String(code)) = serde_json::to_value(code) else { return };
    counter!("retrieval_warnings_total", "code" => code).increment(warnings);
}
