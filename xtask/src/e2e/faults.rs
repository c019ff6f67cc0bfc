//! The fault tests of the server, repeated, with a table of their outcomes.

use super::Outcome;
use crate::services::{Meilisearch, Postgres, Redis, Services};
use crate::{interrupt, shell};
use anyhow::Context;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Stdio;

/// Folder of the tests in `bins/retrieval-server/tests/it`.
const MODULE: &str = "faults::";
/// Number of tests at once, for each processor.
const TESTS_PER_PROCESSOR: usize = 3;
/// Test of which a round reports the reason why it did not run.
const NOT_RUN: &str = "NOT RUN: ";

/// Outcomes of one test.
#[derive(Debug, Default, PartialEq, Eq)]
struct Row {
    passed: u32,
    failed: u32,
    /// Reason why the test did not run, in the last round.
    skipped: Option<String>,
}

/// Runs all fault tests, or those whose names contain one of `only`, `rounds` times, and prints a table.
///
/// # Errors
///
/// Returns an error if the tests cannot be built or the run was interrupted.
pub fn run(server: &Path, rounds: u32, only: &[String]) -> anyhow::Result<Vec<(String, Outcome)>> {
    let services =
        Services::start(vec![Box::new(Postgres { disabled: false }), Box::new(Redis), Box::new(Meilisearch)]);
    let mut rows = BTreeMap::new();
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        add(&mut rows, &one_round(server, &services, only)?);
        if interrupt::caught() {
            break;
        }
    }
    for line in services.summary() {
        eprintln!("{line}");
    }
    println!("\n{}", table(&rows));
    Ok(rows.into_iter().map(|(name, row)| (name, row.outcome())).collect())
}

/// Runs each test once. Returns the lines of the output.
fn one_round(server: &Path, services: &Services, only: &[String]) -> anyhow::Result<Vec<String>> {
    let mut command = shell::cargo();
    command.args(["test", "--package", "retrieval-server", "--test", "it", "--no-fail-fast", "--"]);
    if only.is_empty() {
        command.arg(MODULE);
    }
    command.args(only.iter().map(|name| format!("{MODULE}{}", name.trim_start_matches(MODULE))));
    // Every test has servers of its own, which mostly wait.
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    command.args(["--show-output", "--test-threads", &(TESTS_PER_PROCESSOR * processors).to_string()]);
    command.envs(services.environment()).env("RETRIEVAL_SERVER_BIN", server);
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start the tests")?;
    let output = child.stdout.take().context("the tests have no output")?;
    let reader = std::thread::spawn(move || {
        let mut lines = Vec::new();
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            eprintln!("{line}");
            lines.push(line);
        }
        lines
    });
    interrupt::wait(&mut child)?;
    Ok(reader.join().unwrap_or_default())
}

impl Row {
    fn outcome(&self) -> Outcome {
        match &self.skipped {
            Some(reason) => Outcome::Skipped(format!("A fault was not tested: {reason}.")),
            None if self.failed > 0 => Outcome::Failed,
            None => Outcome::Passed,
        }
    }
}

/// Adds the outcomes of one round.
fn add(rows: &mut BTreeMap<String, Row>, lines: &[String]) {
    let mut printing: Option<String> = None;
    for line in lines {
        if let Some((name, outcome)) = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) {
            let row = rows.entry(short(name)).or_default();
            match outcome.trim() {
                "ok" => row.passed += 1,
                "FAILED" => row.failed += 1,
                _ => {}
            }
        } else if let Some(name) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            printing = Some(short(name));
        } else if let (Some(name), Some(reason)) = (&printing, line.strip_prefix(NOT_RUN)) {
            let row = rows.entry(name.clone()).or_default();
            row.passed -= 1.min(row.passed);
            row.skipped = Some(reason.to_owned());
        }
    }
}

fn short(name: &str) -> String {
    name.strip_prefix(MODULE).unwrap_or(name).to_owned()
}

/// Formats the outcomes as a Markdown table.
fn table(rows: &BTreeMap<String, Row>) -> String {
    let mut text = "| test | rounds | passed |\n| --- | --- | --- |\n".to_owned();
    for (name, row) in rows {
        let outcome = match &row.skipped {
            Some(reason) => format!("| - | not run: {reason} |"),
            None => format!("| {} | {} |", row.passed + row.failed, row.passed),
        };
        text.push_str(&format!("| `{name}` {outcome}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{add, table};
    use std::collections::BTreeMap;

    #[test]
    fn rounds_are_counted_by_test() {
        let mut rows = BTreeMap::new();
        for outcome in ["ok", "FAILED", "ok"] {
            let lines = [
                format!("test faults::kills::sqlite::run_survives ... {outcome}"),
                "test faults::redis::killed_redis ... ok".to_owned(),
                "successes:".to_owned(),
                "---- faults::redis::killed_redis stdout ----".to_owned(),
                "NOT RUN: no `redis-server` on the PATH".to_owned(),
            ];
            add(&mut rows, &lines);
        }
        let expected = "| test | rounds | passed |\n| --- | --- | --- |\n\
                        | `kills::sqlite::run_survives` | 3 | 2 |\n\
                        | `redis::killed_redis` | - | not run: no `redis-server` on the PATH |\n";
        assert_eq!(table(&rows), expected);
    }
}
