//! Qdrant: the one that the environment names, or a private one if the program is installed.

use super::process::{self, Process};
use super::{Provided, Running, Service, free_ports};
use crate::shell;
use anyhow::Context;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const ADDRESS: &str = "TEST_QDRANT_URL";
const KEY: &str = "TEST_QDRANT_KEY";
const BACKEND: &str = "TEST_QDRANT_BACKEND";
const PROGRAM: &str = "qdrant";
/// API key of the private server.
const PRIVATE_KEY: &str = "an-api-key-for-tests";

/// Qdrant for the tests: the one of `TEST_QDRANT_URL` (its gRPC address) and `TEST_QDRANT_KEY`, or a private one. It is
/// never installed: Debian has no package, and crates.io no release.
pub struct Qdrant;

impl Service for Qdrant {
    fn name(&self) -> &'static str {
        "Qdrant"
    }

    fn provide(&self) -> Provided {
        if let Ok(url) = std::env::var(ADDRESS)
            && !url.is_empty()
        {
            let environment = environment(url.clone(), std::env::var(KEY).unwrap_or_default());
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
    let server = PrivateQdrant::start()?;
    Ok(Running {
        how: format!("a private {}", server.version),
        environment: environment(server.url.clone(), PRIVATE_KEY.to_owned()),
        _guard: Some(Box::new(server)),
    })
}

/// Running Qdrant in a temporary folder. Dropping it stops the server and removes the folder.
pub struct PrivateQdrant {
    /// URL of its gRPC interface.
    pub url: String,
    /// Output of `qdrant --version`.
    pub version: String,
    process: Process,
    folder: TempDir,
}

impl PrivateQdrant {
    /// Starts the installed program.
    ///
    /// # Errors
    ///
    /// Returns an error without a program, or if it does not start.
    pub fn start() -> anyhow::Result<Self> {
        let program = shell::find_program(PROGRAM)
            .with_context(|| format!("{ADDRESS} is not set, and no `{PROGRAM}` is on the PATH"))?;
        let version = shell::output(Command::new(&program).arg("--version"))?;
        let folder = tempfile::Builder::new().prefix("retrieval-qdrant-").tempdir()?;
        let [http, grpc] = free_ports()?;
        let mut command = process::command(&program);
        command.current_dir(folder.path()).arg("--disable-telemetry");
        command.envs([
            ("QDRANT__SERVICE__HOST", "127.0.0.1".to_owned()),
            ("QDRANT__SERVICE__HTTP_PORT", http.to_string()),
            ("QDRANT__SERVICE__GRPC_PORT", grpc.to_string()),
            ("QDRANT__SERVICE__API_KEY", PRIVATE_KEY.to_owned()),
            ("QDRANT__LOG_LEVEL", "OFF".to_owned()),
        ]);
        command.env("QDRANT__STORAGE__STORAGE_PATH", folder.path().join("storage"));
        command.env("QDRANT__STORAGE__SNAPSHOTS_PATH", folder.path().join("snapshots"));
        let process = process::start(command, PROGRAM, grpc)?;
        Ok(Self { url: format!("http://127.0.0.1:{grpc}"), version, process, folder })
    }

    /// Returns its API key.
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

fn environment(url: String, key: String) -> Vec<(&'static str, String)> {
    vec![(ADDRESS, url), (KEY, key), (BACKEND, "qdrant".to_owned())]
}
