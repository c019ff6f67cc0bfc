//! Running server process.

use super::check_interrupt;
use super::client::Client;
use crate::interrupt;
use anyhow::{Context, bail};
use rustix::process::Signal;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const START_TIMEOUT: Duration = Duration::from_secs(120);
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// Server that is stopped on drop.
pub struct Server {
    process: Child,
    /// Time from process start to the first 200 of `/readyz`.
    pub start: Duration,
}

impl Server {
    /// Starts the server with its output in the file `log`, and waits until `operations` reports it ready.
    ///
    /// # Errors
    ///
    /// Returns an error if it exits or is not ready in time; the message has the end of its log.
    pub fn start(mut command: Command, log: &Path, operations: &Client) -> anyhow::Result<Self> {
        let file = File::create(log)?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let begun = Instant::now();
        let program = command.get_program().to_os_string();
        let process = command.spawn().with_context(|| format!("cannot start `{}`", program.display()))?;
        let mut server = Self { process, start: Duration::ZERO };
        while operations.get("/readyz").is_err() {
            check_interrupt()?;
            if server.process.try_wait()?.is_some() || begun.elapsed() > START_TIMEOUT {
                let said = std::fs::read_to_string(log).unwrap_or_default();
                let tail = said.char_indices().rev().nth(2_000).map_or(0, |(at, _)| at);
                bail!("the server did not become ready:\n{}", &said[tail..]);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        server.start = begun.elapsed();
        Ok(server)
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        interrupt::signal(self.pid(), Signal::TERM);
        let deadline = Instant::now() + STOP_TIMEOUT;
        while Instant::now() < deadline {
            if matches!(self.process.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        eprintln!("warning: the server (process {}) does not stop on SIGTERM: killing it", self.pid());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
