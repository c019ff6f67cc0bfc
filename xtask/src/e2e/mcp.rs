//! Model Context Protocol: the official clients for Python (`mcp_session.py`) and TypeScript (`mcp_client.mjs`) and
//! LangChain's adapter (`mcp_langchain.py`) against a running server; the first one against `retrieval mcp` too.

use super::clients::Packages;
use super::{Outcome, has_module};
use crate::bench::installation::Installation;
use crate::{interrupt, server};
use serde_json::json;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Version 2 of the package supports every protocol revision of the server.
const PYTHON: Packages = Packages { folder: "mcp", names: &["mcp==2.3.0"] };

const LANGCHAIN: Packages =
    Packages { folder: "langchain", names: &["langchain-mcp-adapters==0.3.2", "langchain-core==1.7.2", "mcp==1.30.0"] };

const TYPESCRIPT: Packages = Packages { folder: "typescript", names: &["@modelcontextprotocol/sdk@1.32.2"] };

/// Sentences of the test page, more than fit into one response.
const SENTENCES: usize = 2_000;

/// Runs the session of each client. Clients that cannot be installed are skipped by name.
///
/// # Errors
///
/// Returns an error if a program does not build or the server does not start.
pub fn run(server: &Path, release: bool, python: &OsStr) -> anyhow::Result<Vec<(String, Outcome)>> {
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
    let session = |command: Option<Command>, client: &str| -> anyhow::Result<(String, Outcome)> {
        let outcome = match command {
            None => Outcome::Skipped(format!("MCP was NOT tested with {client}: it could not be installed")),
            Some(mut command) => {
                command
                    .env("BASE_URL", installation.base())
                    .env("API_KEY", &tenant.key)
                    .env("ORGANIZATION_ID", &tenant.organization)
                    .env("READER_KEY", &reader)
                    .env("RETRIEVAL", &program)
                    .current_dir(installation.folder());
                Outcome::of(interrupt::status(&mut command)?)
            }
        };
        Ok((format!("MCP: {client}"), outcome))
    };
    let outcomes = vec![
        session(official(python)?, "the official Python client")?,
        session(langchain(python)?, "LangChain's adapter")?,
        session(typescript()?, "the official TypeScript client")?,
    ];
    drop(running);
    Ok(outcomes)
}

/// The session of the official Python client, with the interpreter's own package if it has one.
fn official(python: &OsStr) -> anyhow::Result<Option<Command>> {
    let interpreter = match has_module(python, "mcp_types") {
        true => Some(python.into()),
        false => PYTHON.python(python)?,
    };
    Ok(interpreter.map(|interpreter| script(&interpreter, include_str!("mcp_session.py"))))
}

fn langchain(python: &OsStr) -> anyhow::Result<Option<Command>> {
    let interpreter = LANGCHAIN.python(python)?;
    Ok(interpreter.map(|interpreter| script(&interpreter, include_str!("mcp_langchain.py"))))
}

fn script(interpreter: &Path, script: &str) -> Command {
    let mut command = Command::new(interpreter);
    command.args(["-c", script]);
    command
}

fn typescript() -> anyhow::Result<Option<Command>> {
    let Some(folder) = TYPESCRIPT.node()? else { return Ok(None) };
    // Node.js finds packages from the folder of the module.
    let module = folder.join("mcp_client.mjs");
    std::fs::write(&module, include_str!("mcp_client.mjs"))?;
    let mut command = Command::new("node");
    command.arg(module);
    Ok(Some(command))
}
