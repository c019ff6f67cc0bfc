//! `doctor`: checks a live installation. It changes nothing but its own two organizations, which it deletes.

mod backends;
mod checks;
mod clock;
mod guard;
mod probe;
mod public_url;
mod report;

use std::future::Future;
use std::io::IsTerminal;
use std::time::Duration;

use anyhow::bail;
use settings::Settings;

use report::{Finding, Status};

/// Time for one check.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Prints the outcome of every check: a table on a terminal, one JSON object per line otherwise.
///
/// # Errors
/// A check failed.
pub async fn run(settings: &Settings, json: bool) -> anyhow::Result<()> {
    let findings = all(settings).await;
    print(&findings, json);
    let failed: Vec<&str> =
        findings.iter().filter(|finding| finding.status == Status::Fail).map(|finding| finding.check).collect();
    if failed.is_empty() { Ok(()) } else { bail!("failed checks: {}", failed.join(", ")) }
}

/// Prints the errors of settings with which no check is possible.
pub fn report_settings(errors: &[anyhow::Error], json: bool) {
    let hint = "correct the settings and check again: docs/configuration.md lists every key";
    let finding = |error: &anyhow::Error| Finding::fail("settings", format!("{error:#}"), hint);
    print(&errors.iter().map(finding).collect::<Vec<_>>(), json);
}

fn print(findings: &[Finding], json: bool) {
    report::print(findings, json || !std::io::stdout().is_terminal());
}

async fn all(settings: &Settings) -> Vec<Finding> {
    let mut findings = vec![checks::data_folder(settings)];
    findings.push(backends::database(settings).await);
    findings.push(backends::index(settings).await);
    findings.push(backends::storage(settings).await);
    findings.extend(backends::rate_limit(settings).await);
    findings.extend(backends::reranker(settings).await);
    findings.extend(backends::embedder(settings).await);
    findings.extend(backends::generator(settings).await);
    findings.extend(backends::issuer(settings).await);
    findings.extend(backends::web_providers(settings).await);
    findings.extend(backends::renderer(settings).await);
    findings.extend(backends::collector(settings).await);
    findings.push(checks::sandbox(settings).await);
    findings.push(guard::check(settings).await);
    findings.push(clock::check(settings).await);
    findings.push(checks::free_space(settings));
    findings.push(checks::connections(settings));
    findings.push(checks::certificate(settings));
    findings.extend(public_url::check(settings).await);
    findings.push(checks::backup(settings));
    findings.extend(checks::warnings(settings));
    match failed_backend(&findings) {
        Some(name) => findings.extend(probe::not_tried(name)),
        None => findings.extend(probe::check(settings).await),
    }
    findings
}

/// Returns the check of a backend that failed, without which the round trip would only wait.
fn failed_backend(findings: &[Finding]) -> Option<&'static str> {
    let backends = ["database", "index", "storage"];
    findings.iter().find(|one| one.status == Status::Fail && backends.contains(&one.check)).map(|one| one.check)
}

/// Turns an error and a timeout of a check into a failure with a hint.
async fn within(check: &'static str, hint: &str, finding: impl Future<Output = anyhow::Result<Finding>>) -> Finding {
    match tokio::time::timeout(TIMEOUT, finding).await {
        Ok(Ok(finding)) => finding,
        Ok(Err(error)) => Finding::fail(check, format!("{error:#}"), hint),
        Err(_) => Finding::fail(check, format!("no answer within {TIMEOUT:?}"), hint),
    }
}
