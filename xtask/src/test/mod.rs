//! `cargo xtask test`: all tests of the workspace, with the services they need.

mod nextest;
mod report;
mod untested;

use crate::services::{Chromium, ExternalS3, Meilisearch, NODE, PYTHON, Postgres, Qdrant, Redis, Services};
use crate::{interrupt, shell};
use anyhow::bail;
use report::Report;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

#[derive(clap::Args)]
pub struct Options {
    /// Skip PostgreSQL
    #[arg(long)]
    no_postgres: bool,
    /// Only tests of this crate; repeatable
    #[arg(long = "package", short, value_name = "CRATE")]
    packages: Vec<String>,
    /// Only tests whose name contains one of these
    filters: Vec<String>,
}

impl Options {
    /// Returns cargo's arguments for the selected crates.
    fn selection(&self) -> Vec<&str> {
        match self.packages.as_slice() {
            [] => vec!["--workspace"],
            packages => packages.iter().flat_map(|package| ["--package", package]).collect(),
        }
    }

    /// Returns true if a library is selected: cargo rejects documentation tests of programs alone.
    fn has_library(&self) -> bool {
        let libraries = shell::root().join("crates");
        self.packages.is_empty() || self.packages.iter().any(|package| libraries.join(package).is_dir())
    }
}

/// Builds, starts the services, runs the tests, stops the services and prints the summary.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    interrupt::watch()?;
    let server = build(&options.selection())?;
    if interrupt::caught() {
        return Ok(interrupt::exit_code(false));
    }
    let services = Services::start(vec![
        Box::new(Postgres { disabled: options.no_postgres }),
        Box::new(Redis),
        Box::new(Meilisearch),
        Box::new(Qdrant),
        Box::new(ExternalS3),
        Box::new(Chromium),
        Box::new(PYTHON),
        Box::new(NODE),
    ]);
    let mut environment: Vec<(&str, &str)> = services.environment().collect();
    let server = server.to_string_lossy();
    environment.push(("RETRIEVAL_SERVER_BIN", &server));

    // nextest does not run documentation examples.
    let examples_hold = !options.filters.is_empty() || !options.has_library() || {
        let mut examples = shell::cargo();
        examples.args(["test", "--doc", "--quiet"]).args(options.selection()).envs(environment.iter().copied());
        interrupt::status(&mut examples)?.success()
    };
    let tests = if interrupt::caught() {
        Report::default()
    } else {
        nextest::run(&options.selection(), &options.filters, &environment)?
    };

    let missing = if nextest::in_ci() { services.missing_in_ci() } else { vec![] };
    let mut lines = services.summary();
    lines.extend(untested::lines(nextest::in_ci()));
    lines.extend(missing.iter().map(|name| format!("FAILED: CI=true, and {name} was not tested")));
    if !examples_hold {
        lines.push("FAILED: a documentation example failed".to_owned());
    }
    // Before the summary, so that warnings of a shutdown do not follow it.
    drop(services);
    if interrupt::caught() {
        lines.push("interrupted: the services are stopped and removed".to_owned());
    }
    tests.print(&lines);
    Ok(interrupt::exit_code(tests.succeeded && examples_hold && missing.is_empty()))
}

/// Builds the server and all tests together, to share dependencies, and returns the server's path.
fn build(selection: &[&str]) -> anyhow::Result<PathBuf> {
    let mut build: Command = shell::cargo();
    build.args(["build", "--bins", "--tests", "--examples"]).args(selection);
    if !interrupt::status(&mut build)?.success() && !interrupt::caught() {
        bail!("the workspace build failed: no test was run");
    }
    Ok(shell::target_folder()?.join("debug/retrieval-server"))
}
