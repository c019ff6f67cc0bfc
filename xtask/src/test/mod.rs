//! `cargo xtask test`: every test of the workspace, with the services that it needs.

mod nextest;
mod report;
mod untested;

use crate::services::{ExternalS3, Meilisearch, Postgres, Redis, Services};
use crate::{interrupt, shell};
use anyhow::bail;
use report::Report;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

#[derive(clap::Args)]
pub struct Options {
    /// Do without PostgreSQL
    #[arg(long)]
    no_postgres: bool,
    /// Only the tests of this crate; may be given several times
    #[arg(long = "package", short, value_name = "CRATE")]
    packages: Vec<String>,
    /// Only the tests whose name contains one of these
    filters: Vec<String>,
}

impl Options {
    /// The crates to build and test, as cargo's arguments.
    fn selection(&self) -> Vec<&str> {
        match self.packages.as_slice() {
            [] => vec!["--workspace"],
            packages => packages.iter().flat_map(|package| ["--package", package]).collect(),
        }
    }

    /// Returns true where a library is among those crates: `cargo test --doc` fails for programs alone.
    fn has_library(&self) -> bool {
        let libraries = shell::root().join("crates");
        self.packages.is_empty() || self.packages.iter().any(|package| libraries.join(package).is_dir())
    }
}

/// Builds, starts the services, runs the tests, stops the services, says what was tested.
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
        Box::new(ExternalS3),
    ]);
    let mut environment: Vec<(&str, &str)> = services.environment().collect();
    let server = server.to_string_lossy();
    environment.push(("RETRIEVAL_SERVER_BIN", &server));

    // The examples in the documentation are tests as well; the runner knows none of them.
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
        lines.push("FAILED: an example in the documentation does not hold".to_owned());
    }
    // Before the summary: the last lines are for what was tested, not for a shutdown that warns.
    drop(services);
    if interrupt::caught() {
        lines.push("stopped before the end: the services are stopped and removed".to_owned());
    }
    tests.print(&lines);
    Ok(interrupt::exit_code(tests.succeeded && examples_hold && missing.is_empty()))
}

/// Builds the server and all tests, in one go so that both share their dependencies, and names the server's program.
fn build(selection: &[&str]) -> anyhow::Result<PathBuf> {
    let mut build: Command = shell::cargo();
    build.args(["build", "--bins", "--tests", "--examples"]).args(selection);
    if !interrupt::status(&mut build)?.success() && !interrupt::caught() {
        bail!("the workspace does not build: no test was run");
    }
    Ok(shell::target_folder()?.join("debug/retrieval-server"))
}
