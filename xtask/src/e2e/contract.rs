//! The published contract against a running server: Schemathesis makes requests from the OpenAPI document, good and bad,
//! and holds every answer against it.

use super::{Outcome, has_module};
use crate::bench::installation::Installation;
use crate::interrupt;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// What Schemathesis is told about the contract that the document cannot say.
const SETTINGS: [(&str, &str); 2] =
    [("schemathesis.toml", include_str!("schemathesis.toml")), ("hooks.py", include_str!("hooks.py"))];

/// Whether the server does what its document says. Without Schemathesis nothing is tested.
///
/// # Errors
///
/// When the server does not start.
pub fn run(server: &Path, python: &OsStr) -> anyhow::Result<Outcome> {
    if !has_module(python, "schemathesis.cli") {
        let python = python.display();
        return Ok(Outcome::LeftOut(format!(
            "The contract was NOT tested: `{python} -m schemathesis.cli` does not run. pip install schemathesis"
        )));
    }
    let installation = Installation::new(server)?;
    let tenant = installation.tenant()?;
    // Made-up addresses are not asked for pages: there is no time to reach anything.
    let running = installation.serve_with(&[("RETRIEVAL__FETCH__TIMEOUT_MS", "1")])?;
    for (name, content) in SETTINGS {
        std::fs::write(installation.folder().join(name), content)?;
    }
    let mut schemathesis = Command::new(python);
    schemathesis
        .args(["-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "run"])
        .arg(format!("{}/openapi/public.json", installation.base()))
        .args(["--url", installation.base(), "--checks", "all"])
        .arg("--header")
        .arg(format!("Authorization: Bearer {}", tenant.key))
        .env("ORGANIZATION_ID", &tenant.organization)
        .current_dir(installation.folder());
    let status = interrupt::status(&mut schemathesis)?;
    drop(running);
    Ok(Outcome::of(status))
}
