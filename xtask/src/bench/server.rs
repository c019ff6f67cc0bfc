//! A server of its own for each workload: temporary data, free ports, the embedded composition.

use super::client::Client;
use super::go_on;
use crate::interrupt;
use anyhow::{Context, bail};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Above what any machine answers: the limit is not what is measured.
const LIMIT_RPS: u32 = 100_000;

const START_TIMEOUT: Duration = Duration::from_secs(120);
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// A data folder with its configuration, and the program that works on it.
pub struct Installation {
    program: PathBuf,
    folder: TempDir,
    base: String,
    operations: String,
}

/// An organization with a key of all scopes.
pub struct Tenant {
    pub organization: String,
    pub key: String,
}

/// A server that runs until this is dropped.
pub struct Server {
    process: Child,
    /// From the start of the process to its first 200 on `/readyz`.
    pub start: Duration,
}

impl Installation {
    /// An empty data folder with a configuration on free ports.
    ///
    /// # Errors
    ///
    /// When the folder or its configuration cannot be written.
    pub fn new(program: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("retrieval-bench-").tempdir()?;
        // All three at once: the same port cannot be given twice.
        let listeners = [(), (), ()].map(|()| TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()));
        let [api, operations, storage] = listeners;
        let (api, operations, storage) = (api?, operations?, storage?);
        // A JSON string is a TOML string too.
        let data = Value::from(folder.path().join("data").to_string_lossy());
        let config = format!(
            "data_dir = {data}\n\
             [server]\nbind = \"{api}\"\npublic_url = \"http://{api}\"\n\
             [operations]\nbind = \"{operations}\"\n\
             [storage]\nbind = \"{storage}\"\n\
             [rate_limit]\ndefault_rps = {LIMIT_RPS}\n"
        );
        std::fs::write(folder.path().join("config.toml"), config)?;
        Ok(Self {
            program: program.to_path_buf(),
            folder,
            base: format!("http://{api}"),
            operations: format!("http://{operations}"),
        })
    }

    /// A folder for files of the measurement itself.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command of the server's program and reads the last line that it prints.
    ///
    /// # Errors
    ///
    /// When it fails, or prints no JSON.
    pub fn command(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg("--config").arg(self.config()).current_dir(self.folder());
        let out = crate::shell::output(&mut command)?;
        let last = out.lines().last().unwrap_or_default();
        serde_json::from_str(last).with_context(|| format!("`{}` printed `{last}`", arguments.join(" ")))
    }

    /// Makes an organization and a key.
    ///
    /// # Errors
    ///
    /// As [`Installation::command`].
    pub fn tenant(&self) -> anyhow::Result<Tenant> {
        let text = |value: &Value, name: &str| {
            value[name].as_str().map(str::to_owned).with_context(|| format!("no `{name}` in {value}"))
        };
        let organization = text(&self.command(&["admin", "org", "create", "--name", "bench"])?, "organization_id")?;
        let limit = LIMIT_RPS.to_string();
        let key = ["admin", "key", "create", "--org", &organization, "--name", "bench", "--limit-rps", &limit];
        let key = text(&self.command(&key)?, "key")?;
        Ok(Tenant { organization, key })
    }

    /// Imports a file into the web index, which no server owns meanwhile, and gives the time that it took and how many
    /// documents it says it took in.
    ///
    /// # Errors
    ///
    /// As [`Installation::command`].
    pub fn import(&self, file: &Path) -> anyhow::Result<(Duration, u64)> {
        let file = file.to_string_lossy();
        let started = Instant::now();
        let counts = self.command(&["web", "import", &file, "--format", "jsonl"])?;
        let imported = counts["imported"].as_u64().with_context(|| format!("no `imported` in {counts}"))?;
        Ok((started.elapsed(), imported))
    }

    /// Starts the server and waits until it is ready.
    ///
    /// # Errors
    ///
    /// When it ends, or is not ready in time; the message holds the end of its log.
    pub fn serve(&self) -> anyhow::Result<Server> {
        let log_path = self.folder().join("server.log");
        let log = File::create(&log_path)?;
        let mut command = Command::new(&self.program);
        command.args(["serve", "--config"]).arg(self.config()).current_dir(self.folder());
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let operations = Client::new(&self.operations, "");
        let begun = Instant::now();
        let process = command.spawn().with_context(|| format!("cannot start `{}`", self.program.display()))?;
        let mut server = Server { process, start: Duration::ZERO };
        while operations.get("/readyz").is_err() {
            go_on()?;
            if server.process.try_wait()?.is_some() || begun.elapsed() > START_TIMEOUT {
                let said = std::fs::read_to_string(&log_path).unwrap_or_default();
                let tail = said.char_indices().rev().nth(2_000).map_or(0, |(at, _)| at);
                bail!("the server did not become ready:\n{}", &said[tail..]);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        server.start = begun.elapsed();
        Ok(server)
    }

    /// A new client, with a connection of its own.
    pub fn client(&self, tenant: &Tenant) -> Client {
        Client::new(&self.base, &tenant.key)
    }

    /// A new client of the internal listener.
    pub fn operations(&self) -> Client {
        Client::new(&self.operations, "")
    }

    fn config(&self) -> PathBuf {
        self.folder().join("config.toml")
    }
}

impl Server {
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
        eprintln!("warning: the server (process {}) does not stop on SIGTERM: it is killed", self.pid());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
