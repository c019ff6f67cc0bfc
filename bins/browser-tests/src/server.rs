//! A server with its own folder and ports.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::driver::{free_port, wait_for_port};

const KEY_TIMEOUT: Duration = Duration::from_secs(10);

pub struct Server {
    program: PathBuf,
    folder: TempDir,
    ports: [u16; 3],
    process: Option<Child>,
}

impl Server {
    pub fn start(program: &Path) -> anyhow::Result<Self> {
        let ports = [free_port()?, free_port()?, free_port()?];
        let mut server = Server { program: program.to_owned(), folder: tempfile::tempdir()?, ports, process: None };
        server.resume()?;
        Ok(server)
    }

    /// Starts the program, again or for the first time.
    pub fn resume(&mut self) -> anyhow::Result<()> {
        let mut command = self.program();
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.process = Some(command.spawn().with_context(|| format!("starting `{}`", self.program.display()))?);
        wait_for_port(self.ports[0])
    }

    /// Returns the program with the settings of this server, which may crawl itself.
    fn program(&self) -> Command {
        let [api, operations, storage] = self.ports.map(|port| format!("127.0.0.1:{port}"));
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.folder.path())
            .env("RETRIEVAL__SERVER__BIND", &api)
            .env("RETRIEVAL__SERVER__PUBLIC_URL", self.base())
            .env("RETRIEVAL__OPERATIONS__BIND", operations)
            .env("RETRIEVAL__STORAGE__BIND", storage)
            .env("RETRIEVAL__FETCH__ALLOW_NETWORKS", "127.0.0.0/8")
            .stdin(Stdio::null());
        command
    }

    /// Runs an operator command and returns the object that it prints.
    pub fn command(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let output = self.program().args(arguments).output()?;
        ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may have ended.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    /// Returns the key of the first start, which is written after the server has begun to listen.
    pub fn key(&self) -> anyhow::Result<String> {
        let file = self.folder.path().join("data/first-key");
        let start = Instant::now();
        loop {
            // Without the line break the file is not complete.
            match std::fs::read_to_string(&file) {
                Ok(text) if text.ends_with('\n') => return Ok(text.trim_end().to_owned()),
                _ if start.elapsed() < KEY_TIMEOUT => std::thread::sleep(Duration::from_millis(50)),
                _ => bail!("`{}` has no key", file.display()),
            }
        }
    }

    /// Returns the address that the banner prints on a terminal.
    pub fn console_with(&self, key: &str) -> String {
        format!("{}/console/#key={key}", self.base())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
