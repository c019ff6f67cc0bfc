//! What commands print: JSON on standard output for programs, messages on standard error for people.

use std::io::Write;

use serde_json::Value;

/// One line of JSON. A reader that went away is no error of ours.
pub fn json(value: &Value) {
    let _ = writeln!(std::io::stdout(), "{value}");
}

/// The whole chain of causes, on standard error.
pub fn failure(error: &anyhow::Error) {
    let _ = writeln!(std::io::stderr(), "error: {error:#}");
}

/// A message for whoever watches.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
