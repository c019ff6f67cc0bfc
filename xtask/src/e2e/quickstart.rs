//! `docs/quickstart.md` and the examples of `/docs`, pasted and run against the built server. The scenarios are tests of
//! the server crate.

use super::Outcome;
use crate::interrupt;
use crate::server::Tests;
use std::path::Path;
use std::process::{Command, Stdio};

/// Name of a part, its tests, and the command that must run for them.
const PARTS: [(&str, &str, &[&str]); 4] = [
    ("quickstart: curl", "quickstart::curl", &["curl", "--version"]),
    ("quickstart: Python", "quickstart::python", &["python3", "--version"]),
    ("quickstart: JavaScript", "quickstart::javascript", &["node", "-e", "if (!globalThis.fetch) process.exit(1)"]),
    ("quickstart: MCP clients", "quickstart::mcp_clients", &["sh", "-c", "true"]),
];

/// Parts of the test of the reference's examples, which leaves out languages that cannot run.
const EXAMPLES: (&str, &str) = ("examples of /docs", "quickstart::examples_of_the_reference");

/// Runs the scenarios of each part. Parts whose program does not run are skipped by name.
///
/// # Errors
///
/// Returns an error if the tests do not start.
pub fn run(server: &Path, tests: &Tests) -> anyhow::Result<Vec<(String, Outcome)>> {
    let mut outcomes = Vec::new();
    let scenario = |name: &str| -> anyhow::Result<Outcome> {
        Ok(Outcome::of(interrupt::status(tests.command(server, [name]).arg("--quiet"))?))
    };
    for (name, part, needed) in PARTS {
        let outcome = match runs(needed) {
            true => scenario(part)?,
            false => Outcome::Skipped(format!("The {name} was NOT tested: `{}` does not run", needed.join(" "))),
        };
        outcomes.push((name.to_owned(), outcome));
    }
    let (name, part) = EXAMPLES;
    let needed: [(&str, &[&str]); 3] = [
        ("curl", &["curl", "--version"]),
        ("Python with requests", &["python3", "-c", "import requests"]),
        ("Node.js with fetch", PARTS[2].2),
    ];
    let absent: Vec<_> = needed.iter().filter(|(_, command)| !runs(command)).map(|(what, _)| *what).collect();
    let outcome = match absent.is_empty() {
        true => scenario(part)?,
        false => Outcome::Skipped(format!("The {name} were NOT tested: {} missing", absent.join(", "))),
    };
    outcomes.push((name.to_owned(), outcome));
    Ok(outcomes)
}

/// Returns true if the command starts and succeeds.
fn runs(command: &[&str]) -> bool {
    let [program, arguments @ ..] = command else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
