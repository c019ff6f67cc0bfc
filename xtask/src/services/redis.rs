//! Private in-memory Redis for one run. Tests that stop a Redis start their own from the same program.

use super::process::{self, Process};
use super::{Provided, Running, Service, apt, free_port};
use crate::shell;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Variable with the URL for the tests.
const VARIABLE: &str = "RATE_LIMIT_REDIS_URL";
const PROGRAM: &str = "redis-server";

/// Redis for the tests: the one of `RATE_LIMIT_REDIS_URL`, or a private one.
pub struct Redis;

impl Service for Redis {
    fn name(&self) -> &'static str {
        "Redis"
    }

    fn provide(&self) -> Provided {
        if let Some(url) = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty()) {
            let how = format!("the server of {VARIABLE}");
            return Provided::Running(Running { how, environment: vec![(VARIABLE, url)], _guard: None });
        }
        match start() {
            Ok(running) => Provided::Running(running),
            Err(error) => Provided::Absent { reason: format!("{error:#}") },
        }
    }

    fn required_in_ci(&self) -> bool {
        true
    }
}

fn start() -> anyhow::Result<Running> {
    let server = PrivateRedis::start()?;
    Ok(Running {
        how: format!("a private {}", server.version),
        environment: vec![(VARIABLE, server.url.clone())],
        _guard: Some(Box::new(server)),
    })
}

/// Running Redis in a temporary folder, which it hardly uses: it keeps its data in memory. Dropping it stops the server and removes
/// the folder.
pub struct PrivateRedis {
    pub url: String,
    /// Output of `redis-server --version`.
    pub version: String,
    process: Process,
    folder: TempDir,
}

impl PrivateRedis {
    /// Starts the program, which is installed if that is possible.
    ///
    /// # Errors
    ///
    /// Returns an error without a program, or if it does not start.
    pub fn start() -> anyhow::Result<Self> {
        let program = match shell::find_program(PROGRAM) {
            Some(program) => program,
            None => install()?,
        };
        let version = shell::output(Command::new(&program).arg("--version"))?;
        let version = version.split(" sha=").next().unwrap_or_default().to_owned();
        let folder = tempfile::Builder::new().prefix("retrieval-redis-").tempdir()?;
        let port = free_port()?;
        let mut command = process::command(&program);
        command.current_dir(folder.path());
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--appendonly", "no"]);
        let process = process::start(command, PROGRAM, port)?;
        Ok(Self { url: format!("redis://127.0.0.1:{port}"), version, process, folder })
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn install() -> anyhow::Result<PathBuf> {
    const WANTED: &str = "no redis-server found on the PATH";
    apt::install("redis-server", WANTED, VARIABLE)?;
    shell::find_program(PROGRAM).context("apt-get installed Redis, but redis-server is not on the PATH")
}
