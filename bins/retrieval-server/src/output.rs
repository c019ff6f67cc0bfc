//! Output of commands: JSON on standard output for programs, messages on standard error for people.

use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

use anyhow::anyhow;
use ingest::clock::to_date_time;
use model::Timestamp;
use serde_json::Value;
use time::format_description::well_known::Rfc3339;

use crate::logging;

/// First error of standard output, except for a closed pipe. A command goes on, since its work counts without its output, and the
/// program fails at the end.
static FIRST_ERROR: OnceLock<io::Error> = OnceLock::new();

/// Prints one line of JSON. A closed pipe is ignored.
pub fn json(value: &Value) {
    let _ = print(&format!("{value}\n"));
}

/// Prints one line of JSON that is shown only once. If standard output cannot be written, not even to a closed pipe, it is printed on
/// standard error.
pub fn json_once(value: &Value) {
    let line = format!("{value}\n");
    if print(&line).is_err() {
        let _ = io::stderr().write_all(line.as_bytes());
    }
}

/// Prints text for people. A closed pipe is ignored.
pub fn text(text: &str) {
    let _ = print(text);
}

/// Writes to standard output.
///
/// # Errors
/// The kind of the error, which is kept for [`first_error`].
fn print(text: &str) -> Result<(), ErrorKind> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| {
        let kind = error.kind();
        if kind != ErrorKind::BrokenPipe {
            // Later errors have the same cause.
            let _ = FIRST_ERROR.set(error);
        }
        kind
    })
}

/// Returns the first error of standard output as one of the program.
pub fn first_error() -> Option<anyhow::Error> {
    FIRST_ERROR.get().map(|error| anyhow!("writing standard output: {error}"))
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
