//! Runs cargo-nextest, or `cargo test` if it is not installed, and parses the result.

use super::report::Report;
use crate::{interrupt, shell};
use anyhow::Context;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;

/// Returns true in continuous integration (`CI=true`).
pub fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Runs the tests of the selected crates that match `filters`, or all tests without filters.
///
/// # Errors
///
/// Returns an error if the runner cannot be started.
pub fn run(selection: &[&str], filters: &[String], environment: &[(&str, &str)]) -> anyhow::Result<Report> {
    let with_nextest = shell::output(shell::cargo().args(["nextest", "--version"])).is_ok();
    let mut command = shell::cargo();
    if with_nextest {
        command.args(["nextest", "run", "--no-fail-fast"]).args(selection);
        // Twice as many as processors: tests of processes, servers and time limits mostly wait.
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        command.args(["--test-threads", &(2 * processors).to_string()]);
        command.args(["--color", if std::io::stderr().is_terminal() { "always" } else { "never" }]);
        if in_ci() {
            // A shared machine may stall for seconds during an end-to-end test. Tests that pass only on retry are
            // reported as flaky.
            command.args(["--retries", "1", "--final-status-level", "flaky"]);
        }
        command.args(filters);
    } else {
        eprintln!("cargo-nextest is not installed: falling back to `cargo test`, which runs crates sequentially");
        command.args(["test", "--no-fail-fast", "--tests"]).args(selection).arg("--").args(filters);
    }
    command.envs(environment.iter().copied());
    let (succeeded, lines) = tee(&mut command)?;
    let mut report = if with_nextest { Report::of_nextest(&lines) } else { Report::of_cargo_test(&lines) };
    report.succeeded = succeeded;
    if with_nextest && report.skipped > 0 && filters.is_empty() {
        report.ignored = ignored(selection)?;
    }
    Ok(report)
}

/// Returns the tests marked `#[ignore]`.
fn ignored(selection: &[&str]) -> anyhow::Result<Vec<String>> {
    let mut list = shell::cargo();
    list.args(["nextest", "list", "--run-ignored", "only", "--message-format", "oneline"]).args(selection);
    Ok(shell::output(&mut list)?.lines().map(str::to_owned).collect())
}

/// Runs `command`, copies both of its streams to standard error and returns their lines.
fn tee(command: &mut Command) -> anyhow::Result<(bool, Vec<String>)> {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("cannot start the test runner")?;
    let (sender, receiver) = mpsc::channel();
    let streams: [Option<Box<dyn std::io::Read + Send>>; 2] = [
        child.stdout.take().map(|stream| Box::new(stream) as _),
        child.stderr.take().map(|stream| Box::new(stream) as _),
    ];
    for stream in streams.into_iter().flatten() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            // Bytes, because output of failing tests may not be UTF-8.
            for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
    }
    drop(sender);
    let reader = std::thread::spawn(move || {
        let mut lines = Vec::new();
        for line in receiver {
            let mut out = std::io::stderr().lock();
            let _ = out.write_all(&line).and_then(|()| out.write_all(b"\n"));
            lines.push(String::from_utf8_lossy(&line).into_owned());
        }
        lines
    });
    let status = interrupt::wait(&mut child)?;
    Ok((status.success(), reader.join().unwrap_or_default()))
}
