//! Published contract: valid OpenAPI (`openapi-spec-validator`), and implemented by a running server. Schemathesis
//! generates valid and invalid requests from the document and validates every response.

use super::{Outcome, has_module};
use crate::bench::installation::Installation;
use crate::interrupt;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// Schemathesis settings for rules that the document cannot express.
const SETTINGS: [(&str, &str); 2] =
    [("schemathesis.toml", include_str!("schemathesis.toml")), ("hooks.py", include_str!("hooks.py"))];

/// Modules of Python, and the packages that have them.
const PACKAGES: [(&str, &str); 2] =
    [("schemathesis.cli", "schemathesis"), ("openapi_spec_validator", "openapi-spec-validator")];

/// Tests the server against its document. Without the Python packages nothing is tested.
///
/// # Errors
///
/// Returns an error if the server does not start.
pub fn run(server: &Path, python: &OsStr) -> anyhow::Result<Outcome> {
    let missing: Vec<_> =
        PACKAGES.iter().filter(|(module, _)| !has_module(python, module)).map(|(_, package)| *package).collect();
    if !missing.is_empty() {
        let (python, missing) = (python.display(), missing.join(" "));
        return Ok(Outcome::Skipped(format!("The contract was NOT tested: {python} -m pip install {missing}")));
    }
    let installation = Installation::new(server)?;
    let tenant = installation.tenant()?;
    // Generated URLs must not be fetched: the timeout is too short for any connection.
    let running = installation.serve_with(&[("RETRIEVAL__FETCH__TIMEOUT_MS", "1")])?;
    for (name, content) in SETTINGS {
        std::fs::write(installation.folder().join(name), content)?;
    }
    let document = installation.folder().join("openapi.json");
    std::fs::write(&document, installation.client(&tenant).get("/openapi/public.json")?)?;
    let mut validator = Command::new(python);
    validator.args(["-m", "openapi_spec_validator"]).arg(&document);
    if !interrupt::status(&mut validator)?.success() {
        return Ok(Outcome::Failed);
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
