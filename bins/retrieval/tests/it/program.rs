//! Runs the program in a temporary home without the settings of this process.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::mock_server::MockServer;

pub const KEY: &str = "rk_test_key_that_is_secret";

pub struct Home {
    folder: TempDir,
}

/// Exit status and output of a run.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Home {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn config(&self) -> PathBuf {
        self.path().join("config/retrieval/config.toml")
    }

    /// Returns a command without a key, with the home as its working directory.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrieval"));
        command.env_clear().env("HOME", self.path()).env("XDG_CONFIG_HOME", self.path().join("config"));
        command.current_dir(self.path()).args(arguments).stdin(Stdio::null());
        command
    }

    /// Returns a command with a key and the URL of the fake service.
    pub fn command_at(&self, server: &MockServer, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command.env("RETRIEVAL_BASE_URL", server.address()).env("RETRIEVAL_API_KEY", KEY);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Done {
        done(self.command(arguments).output().unwrap())
    }

    pub fn run_at(&self, server: &MockServer, arguments: &[&str]) -> Done {
        done(self.command_at(server, arguments).output().unwrap())
    }
}

impl Done {
    /// Returns standard output as JSON, one document per line, after a successful run.
    #[track_caller]
    pub fn json(&self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the JSON error of a failed run.
    #[track_caller]
    pub fn error(&self) -> Value {
        assert_ne!(self.code, Some(0), "{self:#?}");
        let body: Value = serde_json::from_str(&self.stderr).unwrap_or_else(|error| panic!("{error} in {self:#?}"));
        body["error"].clone()
    }
}

/// Runs a command to its end with `input` on standard input.
pub fn with_input(mut command: Command, input: &str) -> Done {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that fails early does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    finish(child)
}

pub fn finish(child: Child) -> Done {
    done(child.wait_with_output().unwrap())
}

fn done(output: Output) -> Done {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Done { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
