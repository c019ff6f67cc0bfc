//! Bars for what takes time. They stand on standard error, and only on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use retrieval_client::types::IndexStatusResponse;

use super::Terminal;
use crate::words;

const TICK: Duration = Duration::from_millis(120);

/// Bytes of all files together; the message is for whoever draws it to set.
pub fn upload_bar(terminal: &Terminal, bytes: u64) -> ProgressBar {
    if !terminal.shows_progress() {
        return ProgressBar::hidden();
    }
    styled(ProgressBar::new(bytes), "{msg} [{bar:30}] {bytes}/{total_bytes} {eta}")
}

/// A run: nobody knows how much is left of it.
pub fn run_spinner(terminal: &Terminal) -> ProgressBar {
    if !terminal.shows_progress() {
        return ProgressBar::hidden();
    }
    let bar = styled(ProgressBar::new_spinner(), "{spinner} {msg}");
    bar.enable_steady_tick(TICK);
    bar
}

/// Counts on one line.
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
    let state = words::wire(&status.state);
    if counts.is_empty() { format!("indexing: {state}") } else { format!("indexing: {state} ({})", counts.join(", ")) }
}

/// The template is ours and known to be good; the default is one as well.
fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    }
}
