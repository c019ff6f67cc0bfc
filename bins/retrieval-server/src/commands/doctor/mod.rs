//! `doctor`: checks an installation without changing it, with or without a running server.

mod checks;
mod report;

use std::io::IsTerminal;

use anyhow::bail;
use settings::Settings;

use report::{Finding, Status};

/// Prints the outcome of every check: a table on a terminal, one JSON object per line otherwise.
///
/// # Errors
/// A check failed.
pub async fn run(settings: &Settings, json: bool) -> anyhow::Result<()> {
    let findings: Vec<Finding> = checks::all(settings).await;
    report::print(&findings, json || !std::io::stdout().is_terminal());
    let failed: Vec<&str> =
        findings.iter().filter(|finding| finding.status == Status::Failed).map(|finding| finding.check).collect();
    if failed.is_empty() { Ok(()) } else { bail!("failed checks: {}", failed.join(", ")) }
}
