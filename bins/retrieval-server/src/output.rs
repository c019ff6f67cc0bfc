//! Output of commands: JSON on standard output for programs, messages on standard error for people.

use std::io::Write;

use ingest::clock::to_date_time;
use model::Timestamp;
use serde_json::Value;
use time::format_description::well_known::Rfc3339;

use crate::logging;

/// Prints one line of JSON. A closed pipe is ignored.
pub fn json(value: &Value) {
    let _ = writeln!(std::io::stdout(), "{value}");
}

/// Returns a time as RFC 3339, for a field that is null without one.
pub fn time(at: impl Into<Option<Timestamp>>) -> Option<String> {
    to_date_time(at.into()?).format(&Rfc3339).ok()
}

/// Prints an error with its causes on standard error.
pub fn failure(error: &anyhow::Error) {
    let _ = writeln!(std::io::stderr(), "error: {error:#}");
}

/// Prints a message of one line on standard error. It may quote documents.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", logging::visible(text));
}

/// Logs a warning, or prints it where a command has no log.
pub fn warn(text: &str) {
    if tracing::dispatcher::has_been_set() {
        tracing::warn!("{text}");
    } else {
        note(&format!("warning: {text}"));
    }
}
