//! Meilisearch: the one that the environment names, or a private one if the program is installed.

use super::process::{self, Process};
use super::{Provided, Running, Service, free_port};
use crate::shell;
use anyhow::Context;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const ADDRESS: &str = "ACCEPT_INDEX_URL";
const KEY: &str = "ACCEPT_INDEX_KEY";
const PROGRAM: &str = "meilisearch";
/// Limit of memory for indexing. With the default, two thirds of the machine's memory, a task of one document takes half a
/// second on a machine with 24 GB.
const MAX_INDEXING_MEMORY: &str = "1GiB";
/// Master key of the private server.
const PRIVATE_KEY: &str = "a-master-key-for-tests";

/// Meilisearch for the tests: the one of `ACCEPT_INDEX_URL` and `ACCEPT_INDEX_KEY`, or a private one. It is never
/// installed: Debian has no package, and crates.io no release.
pub struct Meilisearch;

impl Service for Meilisearch {
    fn name(&self) -> &'static str {
        "Meilisearch"
    }

    fn provide(&self) -> Provided {
        if let Some(url) = address() {
            let environment = vec![(ADDRESS, url.clone()), (KEY, key())];
            return Provided::Running(Running { how: url, environment, _guard: None });
        }
        match start() {
            Ok(running) => Provided::Running(running),
            Err(error) => Provided::Absent { reason: format!("{error:#}") },
        }
    }

    fn required_in_ci(&self) -> bool {
        false
    }
}

fn start() -> anyhow::Result<Running> {
    let server = PrivateMeilisearch::start()?;
    Ok(Running {
        how: format!("a private {}", server.version),
        environment: vec![(ADDRESS, server.url.clone()), (KEY, PRIVATE_KEY.to_owned())],
        _guard: Some(Box::new(server)),
    })
}

/// Running Meilisearch in a temporary folder. Dropping it stops the server and removes the folder.
pub struct PrivateMeilisearch {
    pub url: String,
    /// Output of `meilisearch --version`.
    pub version: String,
    process: Process,
    folder: TempDir,
}

impl PrivateMeilisearch {
    /// Starts the installed program.
    ///
    /// # Errors
    ///
    /// Returns an error without a program, or if it does not start.
    pub fn start() -> anyhow::Result<Self> {
        let program = shell::find_program(PROGRAM)
            .with_context(|| format!("{ADDRESS} is not set, and no `{PROGRAM}` is on the PATH"))?;
        let version = shell::output(Command::new(&program).arg("--version"))?;
        let folder = tempfile::Builder::new().prefix("retrieval-meilisearch-").tempdir()?;
        let port = free_port()?;
        let mut command = process::command(&program);
        command.current_dir(folder.path()).arg("--no-analytics").arg("--db-path").arg(folder.path().join("data"));
        command.args(["--http-addr", &format!("127.0.0.1:{port}"), "--master-key", PRIVATE_KEY, "--log-level", "OFF"]);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).to_string();
        command.args(["--max-indexing-memory", MAX_INDEXING_MEMORY, "--max-indexing-threads", &threads]);
        let process = process::start(command, PROGRAM, port)?;
        Ok(Self { url: format!("http://127.0.0.1:{port}"), version, process, folder })
    }

    /// Returns its master key.
    pub fn key(&self) -> &'static str {
        PRIVATE_KEY
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Returns its URL from the environment.
pub fn address() -> Option<String> {
    std::env::var(ADDRESS).ok().filter(|url| !url.is_empty())
}

/// Returns its API key; empty if it needs none.
pub fn key() -> String {
    std::env::var(KEY).unwrap_or_default()
}
