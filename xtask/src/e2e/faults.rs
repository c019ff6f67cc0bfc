//! The fault tests of the server, repeated, with a table of their outcomes.

use super::Outcome;
use crate::interrupt;
use crate::server::Tests;
use crate::services::{Meilisearch, Postgres, Redis, Services};
use anyhow::{Context, ensure};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

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
/// Returns an error if the tests cannot be built or end early, or if none of them ran.
pub fn run(server: &Path, rounds: u32, only: &[String]) -> anyhow::Result<Vec<(String, Outcome)>> {
    let tests = Tests::build()?;
    let services =
        Services::start(vec![Box::new(Postgres { disabled: false }), Box::new(Redis), Box::new(Meilisearch)]);
    let mut rows = BTreeMap::new();
    let mut done = 0;
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        let (status, lines) = one_round(&tests, server, &services, only)?;
        add(&mut rows, &lines);
        done = round;
        if interrupt::caught() {
            break;
        }
        check_end(status.success(), &lines)?;
    }
    for line in services.summary() {
        eprintln!("{line}");
    }
    println!("\n{}", table(&rows));
    ensure!(!rows.is_empty() || interrupt::caught(), "no fault test ran: compare `--only` with the names of the tests");
    Ok(rows.into_iter().map(|(name, row)| (name, row.outcome(done))).collect())
}

/// Runs each test once. Returns the status of the tests and the lines of their output.
fn one_round(
    tests: &Tests,
    server: &Path,
    services: &Services,
    only: &[String],
) -> anyhow::Result<(ExitStatus, Vec<String>)> {
    let mut names: Vec<_> = only.iter().map(|name| format!("{MODULE}{}", name.trim_start_matches(MODULE))).collect();
    if names.is_empty() {
        names.push(MODULE.to_owned());
    }
    let mut command = tests.command(server, names.iter().map(String::as_str));
    // Every test has servers of its own, which mostly wait.
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    command.args(["--show-output", "--test-threads", &(TESTS_PER_PROCESSOR * processors).to_string()]);
    command.envs(services.environment());
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
    let status = interrupt::wait(&mut child)?;
    Ok((status, reader.join().unwrap_or_default()))
}

/// Refuses the end of a round that failed without a failed test: nothing else would tell that tests are missing.
fn check_end(succeeded: bool, lines: &[String]) -> anyhow::Result<()> {
    let has_failure = lines.iter().filter_map(|line| result(line)).any(|(_, outcome)| outcome == "FAILED");
    ensure!(
        succeeded || has_failure,
        "the tests failed, but none of them did: they ended early, see their output above"
    );
    Ok(())
}

impl Row {
    /// Returns the outcome of all `rounds`. A test without a result in one of them ended early, which is a failure.
    fn outcome(&self, rounds: u32) -> Outcome {
        match &self.skipped {
            _ if self.failed > 0 => Outcome::Failed,
            Some(reason) => Outcome::Skipped(format!("A fault was not tested: {reason}.")),
            None if self.passed == rounds => Outcome::Passed,
            None => Outcome::Failed,
        }
    }
}

/// Returns the test and the outcome of which a line of the output tells.
fn result(line: &str) -> Option<(&str, &str)> {
    let (name, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    Some((name, outcome.trim()))
}

/// Adds the outcomes of one round.
fn add(rows: &mut BTreeMap<String, Row>, lines: &[String]) {
    let mut printing: Option<String> = None;
    for line in lines {
        if let Some((name, outcome)) = result(line) {
            let row = rows.entry(short(name)).or_default();
            match outcome {
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
            Some(reason) if row.failed == 0 => format!("| - | not run: {reason} |"),
            Some(_) | None => format!("| {} | {} |", row.passed + row.failed, row.passed),
        };
        text.push_str(&format!("| `{name}` {outcome}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Row, add, check_end, table};
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

    #[test]
    fn row_passes_with_a_pass_in_every_round() {
        let row = |passed, failed, skipped: Option<&str>| Row { passed, failed, skipped: skipped.map(str::to_owned) };
        for (row, expected) in [
            (row(2, 0, None), "passed"),
            (row(1, 1, None), "FAILED"),
            (row(1, 0, None), "FAILED"),
            (row(0, 0, None), "FAILED"),
            (row(0, 0, Some("no Redis")), "skipped"),
            (row(0, 1, Some("no Redis")), "FAILED"),
        ] {
            assert_eq!(row.outcome(2).word(), expected, "{row:?}");
        }
    }

    #[test]
    fn failed_end_needs_a_failed_test() {
        let lines = |outcome: &str| [format!("test faults::redis::killed_redis ... {outcome}")];
        assert!(check_end(true, &[]).is_ok());
        assert!(check_end(false, &lines("FAILED")).is_ok());
        assert!(check_end(false, &lines("ok")).is_err());
        assert!(check_end(false, &[]).is_err());
    }
}
