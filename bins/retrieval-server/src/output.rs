//! Output of commands: JSON on standard output for programs, messages on standard error for people.

use std::io::Write;

use serde_json::Value;

/// Prints one line of JSON. A closed pipe is ignored.
pub fn json(value: &Value) {
    let _ = writeln!(std::io::stdout(), "{value}");
}

/// Prints an error with its causes on standard error.
pub fn failure(error: &anyhow::Error) {
    let _ = writeln!(std::io::stderr(), "error: {error:#}");
}

/// Prints a message on standard error.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
