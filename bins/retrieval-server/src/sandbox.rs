//! Confinement of extraction workers: the setting, and what this system enforces.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use app::readiness::HostCheck;
use extract_worker::{SandboxReport, WorkerOptions, WorkerPool};
use settings::{Sandbox, Settings};

/// A pool of extraction workers, and what confines them.
pub struct Workers {
    pub pool: Arc<WorkerPool>,
    pub report: SandboxReport,
}

/// Returns a pool of workers, which run this program.
///
/// # Errors
/// The setting requires a confinement that this system cannot enforce.
pub async fn workers(settings: &Settings) -> anyhow::Result<Workers> {
    let (pool, report) = probe(settings).await?;
    if let Some(reason) = refusal(settings.extract.sandbox, &report) {
        bail!(reason);
    }
    Ok(Workers { pool: Arc::new(pool), report })
}

/// Returns a pool that this system may or may not allow to work, and what confines its workers.
pub async fn probe(settings: &Settings) -> anyhow::Result<(WorkerPool, SandboxReport)> {
    let mut options = WorkerOptions::new(program()?, vec![OsString::from("extract-worker")]);
    options.sandbox_required = is_required(settings.extract.sandbox);
    let pool = WorkerPool::new(options);
    let report = pool.sandbox_report().await.context("testing the sandbox of extraction workers")?;
    Ok((pool, report))
}

/// Returns a path of this program. On Linux it names the running build, also after an upgrade has replaced the file.
fn program() -> anyhow::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe().context("finding the path of this program")
}

/// Returns the reason for not starting, if there is one.
pub fn refusal(setting: Sandbox, report: &SandboxReport) -> Option<String> {
    (is_required(setting) && !report.is_confined()).then(|| {
        format!(
            "extract.sandbox = `required`, but this system does not confine extraction workers: {report}. Use a Linux \
             kernel and a container runtime with seccomp filters, or set `extract.sandbox = \"best_effort\"` to read \
             documents without this protection"
        )
    })
}

/// Logs what confines the workers: missing protection is visible in the default log.
pub fn log(report: &SandboxReport) {
    if report.is_confined() {
        tracing::info!(%report, "extraction workers are confined");
    } else {
        tracing::warn!(%report, "extraction workers are NOT confined: hostile documents may harm this system");
    }
}

/// Returns the check for readiness. Missing protection does not make the service unready, since the operator accepted it.
pub fn host_check(report: SandboxReport) -> HostCheck {
    let check = move || {
        if report.is_confined() { Ok(Some(report.to_string())) } else { Err(report.to_string()) }
    };
    HostCheck { name: "sandbox", required: false, check: Arc::new(check) }
}

/// Only Linux can confine a worker: elsewhere the setting has no effect.
fn is_required(setting: Sandbox) -> bool {
    match setting {
        Sandbox::Required => cfg!(target_os = "linux"),
        Sandbox::BestEffort => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn refusal_names_the_missing_protection_and_the_way_out() {
        let bare = SandboxReport { held: Vec::new(), open: vec!["files".into(), "network".into()] };
        let reason = refusal(Sandbox::Required, &bare).expect("a refusal");
        for named in ["files, network", "landlock, seccomp", "extract.sandbox = \"best_effort\""] {
            assert!(reason.contains(named), "{reason}");
        }
        assert_eq!(refusal(Sandbox::BestEffort, &bare), None);
        let confined = SandboxReport { held: vec!["seccomp".into()], open: Vec::new() };
        assert_eq!(refusal(Sandbox::Required, &confined), None);
    }
}
