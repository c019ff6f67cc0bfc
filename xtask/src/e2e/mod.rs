//! `cargo xtask e2e`: what comes from outside, against the built server: Schemathesis with the published contract, the
//! official client of the Model Context Protocol, the users' own programs, and black-box acceptance folders. The
//! project's own end-to-end tests are Rust and live with the server.

mod contract;
mod mcp;
mod programs;

use crate::services::Cluster;
use crate::{interrupt, server};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

#[derive(clap::Args)]
pub struct Options {
    /// Folder or file of acceptance tests (pytest, httpx); without it, only the contract, MCP and the programs are tested
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

/// Builds the server, holds it against its contract, has an MCP client and the users' programs use it, and runs pytest
/// (`PYTHON` names another interpreter than `python3`).
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    interrupt::watch()?;
    let server = match &options.server {
        Some(server) => server.canonicalize()?,
        None => server::build(options.release)?,
    };
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let kept = contract::run(&server, &python)?;
    let served = mcp::run(&server, options.release, &python)?;
    let used = programs::run(&server, options.release)?;
    let passed = match &options.path {
        Some(path) => accept(options, path, &server, &python)?,
        None => true,
    };
    // At the end, where it is seen: what was left out says so itself.
    for left_out in [&kept, &served].into_iter().filter_map(Outcome::left_out) {
        eprintln!("\n!!! {left_out}");
    }
    Ok(interrupt::exit_code(kept.is_good() && served.is_good() && used.is_good() && passed))
}

/// Outcome of a part of the tests.
enum Outcome {
    Passed,
    Failed,
    /// Nothing was tested, and this is why.
    LeftOut(String),
}

impl Outcome {
    fn of(status: std::process::ExitStatus) -> Self {
        if status.success() { Outcome::Passed } else { Outcome::Failed }
    }

    fn left_out(&self) -> Option<&str> {
        match self {
            Outcome::LeftOut(why) => Some(why),
            Outcome::Passed | Outcome::Failed => None,
        }
    }

    /// In CI, what is not tested is a failure.
    fn is_good(&self) -> bool {
        match self {
            Outcome::Passed => true,
            Outcome::Failed => false,
            Outcome::LeftOut(_) => std::env::var_os("CI").is_none(),
        }
    }
}

/// Returns true where the interpreter has a module.
fn has_module(python: &OsStr, module: &str) -> bool {
    let mut command = std::process::Command::new(python);
    command.args(["-c", &format!("import {module}")]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs the acceptance tests.
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
