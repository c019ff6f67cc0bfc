//! `cargo xtask e2e`: external tests of the built server. They are Schemathesis with the published contract, the
//! MCP clients, clients of other services, the users' programs, the quickstart, the console in a browser and black-box acceptance folders. Our own
//! end-to-end tests are Rust tests of the server; those of faults are repeated here.

mod acceptance;
mod browser;
mod clients;
mod contract;
mod faults;
mod foreign;
pub mod instances;
mod mcp;
mod programs;
mod quickstart;

use crate::{interrupt, server};
use acceptance::Suite;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};

#[derive(clap::Args)]
pub struct Options {
    /// Folder or file of acceptance tests (pytest, httpx), which are not part of this repository [default: contract, MCP and
    /// programs only]
    path: Option<PathBuf>,
    /// Run the acceptance tests of PATH on a private PostgreSQL instead of SQLite
    #[arg(long, requires = "path")]
    postgres: bool,
    /// Run the acceptance tests of PATH on the embedded backends, PostgreSQL with Redis, Meilisearch, Qdrant, an external S3
    /// store, and all of these together but Qdrant, with one and with two instances. Starts those that are installed
    #[arg(long, requires = "path", conflicts_with = "postgres")]
    services: bool,
    /// Build and test the release profile
    #[arg(long)]
    release: bool,
    /// Server to test [default: built from source]
    #[arg(long, value_name = "FILE", conflicts_with = "release")]
    server: Option<PathBuf>,
    /// Test the console in Chromium, and nothing else
    #[arg(long, conflicts_with = "path", group = "repeated")]
    browser: bool,
    /// Test faults of processes and services, and nothing else
    #[arg(long, conflicts_with = "path", group = "repeated")]
    faults: bool,
    /// Only fault tests whose name begins with this, such as `research`; repeatable
    #[arg(long, value_name = "NAME", requires = "faults")]
    only: Vec<String>,
    /// Folder for pictures of the console's views
    #[arg(long, value_name = "DIR", requires = "browser")]
    screenshots: Option<PathBuf>,
    /// Repetitions of the browser tests or the fault tests
    #[arg(long, value_name = "N", requires = "repeated", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Arguments for pytest
    #[arg(last = true)]
    pytest: Vec<String>,
}

/// Tests contract, MCP clients and programs against the server, and runs pytest. `PYTHON` overrides `python3`.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    interrupt::watch()?;
    let server = match &options.server {
        Some(server) => server.canonicalize()?,
        None => server::build(options.release)?,
    };
    if options.browser {
        return report(&browser::run(&server, options.rounds, options.screenshots.as_deref())?);
    }
    if options.faults {
        return report(&faults::run(&server, options.rounds, &options.only)?);
    }
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let contract = contract::run(&server, &python)?;
    let mcp = mcp::run(&server, options.release, &python)?;
    let foreign = foreign::run(&server, &python)?;
    let tests = server::Tests::build()?;
    let programs = programs::run(&server, &tests, options.release)?;
    let quickstart = quickstart::run(&server, &tests)?;
    let mut outcomes = vec![("contract".to_owned(), contract)];
    outcomes.extend(mcp);
    outcomes.push(("programs".to_owned(), programs));
    outcomes.extend(quickstart);
    outcomes.extend(foreign.map(|(name, outcome)| (name.to_owned(), outcome)));
    if let Some(path) = &options.path {
        let suite = Suite { path, arguments: &options.pytest, server: &server, python: &python };
        let compositions = match (options.services, options.postgres) {
            (true, _) => &acceptance::ALL[..],
            (false, true) => &[acceptance::POSTGRES],
            (false, false) => &[acceptance::EMBEDDED],
        };
        let acceptance = acceptance::run(&suite, compositions)?;
        outcomes.extend(acceptance.into_iter().map(|(name, outcome)| (format!("acceptance: {name}"), outcome)));
    }
    report(&outcomes)
}

/// Lists the outcomes, skipped parts last, so that they are noticed.
fn report(outcomes: &[(String, Outcome)]) -> anyhow::Result<ExitCode> {
    eprintln!();
    for (name, outcome) in outcomes {
        eprintln!("{:8} {name}", outcome.word());
    }
    for skipped in outcomes.iter().filter_map(|(_, outcome)| outcome.skipped()) {
        eprintln!("\n!!! {skipped}");
    }
    Ok(interrupt::exit_code(outcomes.iter().all(|(_, outcome)| outcome.is_good())))
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

    fn word(&self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "FAILED",
            Outcome::Skipped(_) => "skipped",
        }
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
