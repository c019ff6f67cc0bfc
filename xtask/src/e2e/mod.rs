//! `cargo xtask e2e`: external tests of the built server. They are Schemathesis with the published contract, the
//! official MCP client, the users' programs and black-box acceptance folders. Our own end-to-end tests are Rust tests
//! of the server.

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
    /// Folder or file of acceptance tests (pytest, httpx) [default: contract, MCP and programs only]
    path: Option<PathBuf>,
    /// Run the server on a private PostgreSQL instead of SQLite
    #[arg(long)]
    postgres: bool,
    /// Build and test the release profile
    #[arg(long)]
    release: bool,
    /// Server to test [default: built from source]
    #[arg(long, value_name = "FILE", conflicts_with = "release")]
    server: Option<PathBuf>,
    /// Arguments for pytest
    #[arg(last = true)]
    pytest: Vec<String>,
}

/// Tests contract, MCP client and programs against the server, and runs pytest. `PYTHON` overrides `python3`.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    interrupt::watch()?;
    let server = match &options.server {
        Some(server) => server.canonicalize()?,
        None => server::build(options.release)?,
    };
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let contract = contract::run(&server, &python)?;
    let mcp = mcp::run(&server, options.release, &python)?;
    let programs = programs::run(&server, options.release)?;
    let passed = match &options.path {
        Some(path) => run_acceptance(options, path, &server, &python)?,
        None => true,
    };
    // Last, so that skipped parts are noticed.
    for skipped in [&contract, &mcp].into_iter().filter_map(Outcome::skipped) {
        eprintln!("\n!!! {skipped}");
    }
    Ok(interrupt::exit_code(contract.is_good() && mcp.is_good() && programs.is_good() && passed))
}

/// Result of a part of the tests.
enum Outcome {
    Passed,
    Failed,
    /// Not tested, with the reason.
    Skipped(String),
}

impl Outcome {
    fn of(status: std::process::ExitStatus) -> Self {
        if status.success() { Outcome::Passed } else { Outcome::Failed }
    }

    fn skipped(&self) -> Option<&str> {
        match self {
            Outcome::Skipped(why) => Some(why),
            Outcome::Passed | Outcome::Failed => None,
        }
    }

    /// Returns true unless a test failed. In CI a skipped part is a failure too.
    fn is_good(&self) -> bool {
        match self {
            Outcome::Passed => true,
            Outcome::Failed => false,
            Outcome::Skipped(_) => std::env::var_os("CI").is_none(),
        }
    }
}

/// Returns true if the interpreter can import the module.
fn has_module(python: &OsStr, module: &str) -> bool {
    let mut command = std::process::Command::new(python);
    command.args(["-c", &format!("import {module}")]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs the acceptance tests and returns true if they pass.
fn run_acceptance(options: &Options, path: &Path, server: &Path, python: &OsStr) -> anyhow::Result<bool> {
    let mut pytest = std::process::Command::new(python);
    pytest.args(["-m", "pytest", "-q"]).arg(path).args(&options.pytest).env("RETRIEVAL_SERVER_BIN", server);
    let cluster = options.postgres.then(Cluster::start).transpose()?;
    if let Some(cluster) = &cluster {
        // The suites create their databases with psql.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(cluster.programs.clone()).chain(std::env::split_paths(&path));
        pytest.env("PATH", std::env::join_paths(folders)?).env("ACCEPT_DATABASE_URL", &cluster.url);
    }
    let status = interrupt::status(&mut pytest)?;
    drop(cluster);
    Ok(status.success())
}
