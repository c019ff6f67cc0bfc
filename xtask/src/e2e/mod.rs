//! `cargo xtask e2e`: what comes from outside, against the built server: Schemathesis with the published contract, and
//! black-box acceptance folders. The project's own end-to-end tests are Rust and live with the server.

mod contract;

use crate::services::Cluster;
use crate::{interrupt, server};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Options {
    /// Folder or file of acceptance tests (pytest, httpx); without it, only the contract is tested
    path: Option<PathBuf>,
    /// Run the server on a private PostgreSQL instead of SQLite
    #[arg(long)]
    postgres: bool,
    /// Build and test the release profile
    #[arg(long)]
    release: bool,
    /// Test this server instead of building one
    #[arg(long, value_name = "FILE", conflicts_with = "release")]
    server: Option<PathBuf>,
    /// Arguments for pytest
    #[arg(last = true)]
    pytest: Vec<String>,
}

/// Builds the server, holds it against its contract, and runs pytest (`PYTHON` names another interpreter than
/// `python3`).
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    interrupt::watch()?;
    let server = match &options.server {
        Some(server) => server.canonicalize()?,
        None => server::build(options.release)?,
    };
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let kept = contract::run(&server, &python)?;
    let passed = match &options.path {
        Some(path) => accept(options, path, &server, &python)?,
        None => true,
    };
    Ok(interrupt::exit_code(kept && passed))
}

/// Whether the acceptance tests pass.
fn accept(options: &Options, path: &Path, server: &Path, python: &OsStr) -> anyhow::Result<bool> {
    let mut pytest = std::process::Command::new(python);
    pytest.args(["-m", "pytest", "-q"]).arg(path).args(&options.pytest).env("RETRIEVAL_SERVER_BIN", server);
    let cluster = options.postgres.then(Cluster::start).transpose()?;
    if let Some(cluster) = &cluster {
        // The suites make their databases with psql.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(cluster.programs.clone()).chain(std::env::split_paths(&path));
        pytest.env("PATH", std::env::join_paths(folders)?).env("ACCEPT_DATABASE_URL", &cluster.url);
    }
    let status = interrupt::status(&mut pytest)?;
    drop(cluster);
    Ok(status.success())
}
