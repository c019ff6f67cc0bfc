//! Builds of the programs under test.

use crate::{interrupt, shell};
use anyhow::{Context, bail};
use cargo_metadata::Message;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Builds the server and returns its path.
///
/// # Errors
///
/// Returns an error if the build fails.
pub fn build(release: bool) -> anyhow::Result<PathBuf> {
    program("retrieval-server", release)
}

/// Builds the command line client and returns its path.
///
/// # Errors
///
/// Returns an error if the build fails.
pub fn build_client(release: bool) -> anyhow::Result<PathBuf> {
    program("retrieval", release)
}

/// Builds the tests of the console in a browser and returns their path.
///
/// # Errors
///
/// Returns an error if the build fails.
pub fn build_browser_tests() -> anyhow::Result<PathBuf> {
    program("browser-tests", false)
}

fn program(name: &str, release: bool) -> anyhow::Result<PathBuf> {
    let mut build = shell::cargo();
    build.args(["build", "--package", name, "--bin", name]);
    build.args(release.then_some("--release"));
    if !interrupt::status(&mut build)?.success() {
        bail!("build of `{name}` failed");
    }
    Ok(shell::target_folder()?.join(if release { "release" } else { "debug" }).join(name))
}

/// Test program of the server.
pub struct Tests {
    program: PathBuf,
}

impl Tests {
    /// Builds the program. It stays as it is until it is built again.
    ///
    /// # Errors
    ///
    /// Returns an error if the build fails.
    pub fn build() -> anyhow::Result<Self> {
        let mut build = shell::cargo();
        build.args(["test", "--package", "retrieval-server", "--test", "it", "--no-run"]);
        build.args(["--message-format", "json-render-diagnostics"]).stdout(Stdio::piped());
        let mut child = build.spawn().context("cannot start cargo")?;
        let messages = child.stdout.take().context("cargo has no output")?;
        let mut program = None;
        for message in Message::parse_stream(BufReader::new(messages)) {
            if let Message::CompilerArtifact(artifact) = message?
                && artifact.target.name == "it"
            {
                program = artifact.executable;
            }
        }
        if !interrupt::wait(&mut child)?.success() {
            bail!("build of the server's tests failed");
        }
        Ok(Self { program: program.context("cargo names no test program")?.into_std_path_buf() })
    }

    /// Returns a command that runs the tests whose names contain one of `names`, against `server`.
    pub fn command<'a>(&self, server: &Path, names: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(names)
            .current_dir(shell::root().join("bins/retrieval-server"))
            .env("RETRIEVAL_SERVER_BIN", server);
        command
    }
}
