//! Progress bars on standard error, on a terminal only.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use retrieval_client::types::IndexStatusResponse;

use super::Terminal;
use crate::api_values;

const TICK: Duration = Duration::from_millis(120);

/// Creates a bar for the bytes of all files; the caller sets its message.
pub fn upload_bar(terminal: &Terminal, bytes: u64) -> ProgressBar {
    if !terminal.shows_progress() {
        return ProgressBar::hidden();
    }
    with_template_style(ProgressBar::new(bytes), "{msg} [{bar:30}] {bytes}/{total_bytes} {eta}")
}

/// Creates a spinner for an indexing run, whose remaining work is unknown.
pub fn run_spinner(terminal: &Terminal) -> ProgressBar {
    if !terminal.shows_progress() {
        return ProgressBar::hidden();
    }
    let bar = with_template_style(ProgressBar::new_spinner(), "{spinner} {msg}");
    bar.enable_steady_tick(TICK);
    bar
}

/// Creates a spinner for a research run, with the time that it has taken.
pub fn research_spinner(terminal: &Terminal) -> ProgressBar {
    if !terminal.shows_progress() {
        return ProgressBar::hidden();
    }
    let bar = with_template_style(ProgressBar::new_spinner(), "{spinner} {elapsed} {wide_msg}");
    bar.enable_steady_tick(TICK);
    bar
}

/// Returns the counts of a run on one line.
pub fn run_line(status: &IndexStatusResponse) -> String {
    let stats = &status.stats;
    let counts = [
        (stats.enumerated, "listed"),
        (stats.indexed, "indexed"),
        (stats.failed, "failed"),
        (stats.skipped_unsupported, "skipped"),
        (stats.deleted, "deleted"),
    ];
    let counts: Vec<String> =
        counts.iter().filter(|(count, _)| *count != 0).map(|(count, what)| format!("{count} {what}")).collect();
    let state = api_values::wire(&status.state);
    if counts.is_empty() { format!("indexing: {state}") } else { format!("indexing: {state} ({})", counts.join(", ")) }
}

/// Applies our template, which is valid; falls back to the default style.
fn with_template_style(bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    }
}
