//! Model Context Protocol: the official client (`mcp_session.py`) against a running server and against `retrieval
//! mcp`.

use super::{Outcome, has_module};
use crate::bench::installation::Installation;
use crate::{interrupt, server};
use serde_json::json;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Script of the client session with its assertions.
const SESSION: &str = include_str!("mcp_session.py");

/// Sentences of the test page, more than fit into one response.
const SENTENCES: usize = 2_000;

/// Runs the client session. Without the Python package nothing is tested.
///
/// # Errors
///
/// Returns an error if a program does not build or the server does not start.
pub fn run(server: &Path, release: bool, python: &OsStr) -> anyhow::Result<Outcome> {
    // Version 2 of the package supports every protocol revision of the server.
    if !has_module(python, "mcp_types") {
        let python = python.display();
        return Ok(Outcome::Skipped(format!(
            "MCP was NOT tested: `{python}` has no package `mcp` from 2.0 on. pip install mcp"
        )));
    }
    let program = server::build_client(release)?;
    let installation = Installation::new(server)?;
    let tenant = installation.tenant()?;
    let reader = installation.scoped_key(&tenant.organization, "document:read")?;
    let page = installation.folder().join("tides.jsonl");
    let mut text = "# Tides\n\n".to_owned();
    for number in 0..SENTENCES {
        // Writing to a String cannot fail.
        let _ = write!(text, "The moon moves the tides, as \"page {number}\" says.\n\n");
    }
    let tides = json!({"url": "https://example.com/tides", "title": "Tides", "markdown": text});
    std::fs::write(&page, format!("{tides}\n"))?;
    installation.import(&page)?;
    let running = installation.serve()?;
    let mut session = Command::new(python);
    session
        .args(["-c", SESSION])
        .env("BASE_URL", installation.base())
        .env("API_KEY", &tenant.key)
        .env("READER_KEY", reader)
        .env("RETRIEVAL", program)
        .current_dir(installation.folder());
    let status = interrupt::status(&mut session)?;
    drop(running);
    Ok(Outcome::of(status))
}
