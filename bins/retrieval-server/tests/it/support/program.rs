//! Services that a test starts, stops and starts again on the same port.

use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use super::ports::Ports;
use super::process::{signal_group, signal_process};
use super::until;

const START_DEADLINE: Duration = Duration::from_secs(30);
/// Master key of a Meilisearch.
pub const MEILISEARCH_KEY: &str = "a-master-key-for-tests";

/// Process of an external program, killed on drop.
pub struct Program {
    start: Box<dyn Fn(u16) -> Command>,
    child: Option<Child>,
    ports: Ports,
    pub folder: TempDir,
}

impl Program {
    /// Starts a program that listens on its port of loopback.
    pub fn start(folder: TempDir, start: impl Fn(u16) -> Command + 'static) -> Self {
        let mut program = Self { start: Box::new(start), child: None, ports: Ports::reserve(), folder };
        program.resume();
        program
    }

    pub fn port(&self) -> u16 {
        self.ports.api
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// Starts the process again and waits until it listens. A start that fails at once is repeated: a killed process leaves its
    /// port and locks a moment later.
    #[track_caller]
    pub fn resume(&mut self) {
        until("the program listens", START_DEADLINE, || {
            let ended = self.child.as_mut().is_none_or(|child| child.try_wait().unwrap().is_some());
            if ended {
                self.child = Some(self.spawn());
            }
            TcpStream::connect(self.address()).is_ok().then_some(())
        });
    }

    fn spawn(&self) -> Child {
        use std::os::unix::process::CommandExt;
        let mut command = (self.start)(self.port());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command.spawn().unwrap()
    }

    pub fn kill(&mut self) {
        self.end(Signal::KILL);
    }

    /// Ends the process with a signal and waits for it.
    pub fn end(&mut self, signal: Signal) {
        let Some(mut child) = self.child.take() else { return };
        match signal {
            Signal::KILL => signal_group(&child, signal),
            _ => signal_process(&child, signal),
        }
        child.wait().unwrap();
    }

    /// Sends a signal to the process and its descendants, such as SIGSTOP.
    pub fn signal(&self, signal: Signal) {
        signal_group(self.child.as_ref().expect("the program does not run"), signal);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Finds a program on the PATH, or in the folders of Debian's PostgreSQL. Reports a skipped test otherwise.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    folders.extend(installed.map(|version| version.path().join("bin")));
    let found = folders.into_iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        println!("NOT RUN: no `{name}` on the PATH");
    }
    found
}

/// Starts a Redis without files.
pub fn redis() -> Option<Program> {
    let program = find("redis-server")?;
    Some(Program::start(tempfile::tempdir().unwrap(), move |port| {
        let mut command = Command::new(&program);
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        command
    }))
}

/// Starts a Meilisearch with its own folder.
pub fn meilisearch() -> Option<Program> {
    let program = find("meilisearch")?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    Some(Program::start(folder, move |port| {
        let mut command = Command::new(&program);
        command.current_dir(&path).arg("--no-analytics").arg("--db-path").arg(path.join("data"));
        command.args(["--http-addr", &format!("127.0.0.1:{port}"), "--master-key", MEILISEARCH_KEY]);
        // With the default, two thirds of the machine's memory, each task takes up to half a second.
        command.args(["--max-indexing-memory", "1GiB"]);
        command
    }))
}
