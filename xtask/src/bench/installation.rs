//! Data folder with configuration and free ports, and the server commands that use it.

use super::client::Client;
use super::engine::Engine;
use super::server::Server;
use super::{check_interrupt, process};
use crate::services;
use anyhow::{Context, bail};
use serde_json::Value;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Rate limit above any measured throughput.
const LIMIT_RPS: u32 = 100_000;
/// Polling interval of an import: the maximum error of its time.
const POLL: Duration = Duration::from_millis(5);

/// Data folder with its configuration, and the server program.
pub struct Installation {
    program: PathBuf,
    folder: Folder,
    api: SocketAddr,
    storage: SocketAddr,
    base: String,
    operations: String,
    /// Environment variables that override the configuration.
    settings: Vec<(&'static str, String)>,
}

enum Folder {
    /// Removed with the installation.
    Temporary(TempDir),
    Kept(PathBuf),
}

/// Organization with a key of all scopes.
#[derive(Clone)]
pub struct Tenant {
    pub organization: String,
    pub key: String,
    pub key_id: String,
}

/// Result of an import.
pub struct Import {
    pub took: Duration,
    /// Number of documents reported as imported.
    pub imported: u64,
    /// Peak resident memory of the import, in bytes.
    pub peak: u64,
}

/// Finished command.
pub struct Measured {
    pub took: Duration,
    /// Peak resident memory, in bytes.
    pub peak: u64,
    /// Last line of the output.
    pub line: Value,
}

impl Installation {
    /// Creates an empty data folder with embedded components.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder or its configuration cannot be written.
    pub fn new(program: &Path) -> anyhow::Result<Self> {
        Self::with(program, &Engine::Embedded, None)
    }

    /// Creates a configuration on free ports for an empty data folder, or for `kept` with its content.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder or its configuration cannot be written.
    pub fn with(program: &Path, engine: &Engine, kept: Option<&Path>) -> anyhow::Result<Self> {
        let folder = match kept {
            Some(kept) => {
                std::fs::create_dir_all(kept).with_context(|| format!("cannot create `{}`", kept.display()))?;
                Folder::Kept(kept.canonicalize()?)
            }
            None => Folder::Temporary(tempfile::Builder::new().prefix("retrieval-bench-").tempdir()?),
        };
        let [api, operations, storage] =
            services::free_ports()?.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let installation = Self {
            program: program.to_path_buf(),
            folder,
            api,
            storage,
            base: format!("http://{api}"),
            operations: format!("http://{operations}"),
            settings: vec![],
        };
        // JSON strings are valid TOML strings.
        let data = Value::from(installation.data().to_string_lossy());
        let config = format!(
            "data_dir = {data}\n\
             [server]\nbind = \"{api}\"\npublic_url = \"http://{api}\"\n\
             [operations]\nbind = \"{operations}\"\n\
             [storage]\nbind = \"{storage}\"\n\
             [rate_limit]\ndefault_rps = {LIMIT_RPS}\n{}",
            engine.settings()
        );
        std::fs::write(installation.config(), config)?;
        Ok(installation)
    }

    /// Adds a setting by the name of its environment variable.
    pub fn with_setting(mut self, variable: &'static str, value: &str) -> Self {
        self.settings.push((variable, value.to_owned()));
        self
    }

    /// Returns a folder for files of the measurement.
    pub fn folder(&self) -> &Path {
        match &self.folder {
            Folder::Temporary(folder) => folder.path(),
            Folder::Kept(folder) => folder,
        }
    }

    /// Returns the data folder of the server.
    pub fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// Creates the tables; the server does this itself for an embedded database.
    ///
    /// # Errors
    ///
    /// Returns an error if the command fails.
    pub fn migrate(&self) -> anyhow::Result<()> {
        crate::shell::output(&mut self.command(&["migrate"])).map(drop)
    }

    /// Creates an organization and a key.
    ///
    /// # Errors
    ///
    /// Returns an error if a command fails or its output differs from the documentation.
    pub fn tenant(&self) -> anyhow::Result<Tenant> {
        self.tenant_with(&[])
    }

    /// Creates a billed organization and a key.
    ///
    /// # Errors
    ///
    /// Returns an error if a command fails or its output differs from the documentation.
    pub fn billed_tenant(&self, cents: u64) -> anyhow::Result<Tenant> {
        self.tenant_with(&["--prepaid-cents", &cents.to_string()])
    }

    fn tenant_with(&self, options: &[&str]) -> anyhow::Result<Tenant> {
        let arguments = [&["admin", "org", "create", "--name", "bench"], options].concat();
        let organization = text(&self.run(&arguments)?, "organization_id")?;
        let (key, key_id) = self.key(&organization)?;
        Ok(Tenant { organization, key, key_id })
    }

    /// Returns the balance of a billed organization in cents, which is the sum of its ledger.
    ///
    /// # Errors
    ///
    /// Returns an error if the command fails or its output differs from the documentation.
    pub fn balance(&self, tenant: &Tenant) -> anyhow::Result<i64> {
        let shown = self.run(&["admin", "balance", "show", "--org", &tenant.organization])?;
        shown["balance_cents"].as_i64().with_context(|| format!("no `balance_cents` in {shown}"))
    }

    /// Creates a key of all scopes and returns it with its id.
    ///
    /// # Errors
    ///
    /// Returns an error if a command fails or its output differs from the documentation.
    pub fn key(&self, organization: &str) -> anyhow::Result<(String, String)> {
        let limit = LIMIT_RPS.to_string();
        let made =
            self.run(&["admin", "key", "create", "--org", organization, "--name", "bench", "--limit-rps", &limit])?;
        Ok((text(&made, "key")?, text(&made, "api_key_id")?))
    }

    /// Creates another key of an organization, with these scopes only.
    ///
    /// # Errors
    ///
    /// Returns an error if a command fails or its output differs from the documentation.
    pub fn scoped_key(&self, organization: &str, scopes: &str) -> anyhow::Result<String> {
        let made =
            self.run(&["admin", "key", "create", "--org", organization, "--name", "scoped", "--scopes", scopes])?;
        made["key"].as_str().map(str::to_owned).with_context(|| format!("no `key` in {made}"))
    }

    /// Imports a file into the web index; no server may use it meanwhile.
    ///
    /// # Errors
    ///
    /// Returns an error if the import fails, its output differs from the documentation, or a signal interrupts it.
    pub fn import(&self, file: &Path) -> anyhow::Result<Import> {
        let done = self.run_measured(&["web", "import", &file.to_string_lossy(), "--format", "jsonl"], &[])?;
        let imported = done.line["imported"].as_u64().with_context(|| format!("no `imported` in {}", done.line))?;
        Ok(Import { took: done.took, imported, peak: done.peak })
    }

    /// Runs a command of the server to its end.
    ///
    /// # Errors
    ///
    /// Returns an error if the command fails, its last line is no JSON, or a signal interrupts it.
    pub fn run_measured(&self, arguments: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<Measured> {
        let (out, log) = (self.folder().join("command.out"), self.folder().join("command.log"));
        let mut command = self.command(arguments);
        command.envs(environment.iter().copied());
        command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&log)?);
        let begun = Instant::now();
        let mut running = command.spawn().with_context(|| format!("cannot start `{}`", self.program.display()))?;
        let mut peak = 0;
        let status = loop {
            if let Some(status) = running.try_wait()? {
                break status;
            }
            if let Err(stopped) = check_interrupt() {
                running.kill()?;
                running.wait()?;
                return Err(stopped);
            }
            peak = process::peak(running.id()).unwrap_or(peak);
            std::thread::sleep(POLL);
        };
        let took = begun.elapsed();
        if !status.success() {
            bail!("`{}` failed with {status}: {}", arguments.join(" "), std::fs::read_to_string(&log)?.trim());
        }
        Ok(Measured { took, peak, line: last_line(&std::fs::read_to_string(&out)?)? })
    }

    /// Starts the server and waits until it is ready.
    ///
    /// # Errors
    ///
    /// Returns an error if it exits or is not ready in time; the message has the end of its log.
    pub fn serve(&self) -> anyhow::Result<Server> {
        self.serve_with(&[])
    }

    /// Starts the server with additional environment variables and waits until it is ready.
    ///
    /// # Errors
    ///
    /// Returns an error if it exits or is not ready in time; the message has the end of its log.
    pub fn serve_with(&self, environment: &[(&str, &str)]) -> anyhow::Result<Server> {
        let mut command = self.command(&["serve"]);
        command.envs(environment.iter().copied());
        Server::start(command, &self.folder().join("server.log"), &self.operations())
    }

    /// Creates an API client with its own connection.
    pub fn client(&self, tenant: &Tenant) -> Client {
        Client::new(&self.base, &tenant.key)
    }

    /// Creates a client of the internal listener.
    pub fn operations(&self) -> Client {
        Client::new(&self.operations, "")
    }

    /// Returns the base URL of the API.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the address of the API.
    pub fn api(&self) -> SocketAddr {
        self.api
    }

    /// Returns the address of the embedded object store.
    pub fn storage(&self) -> SocketAddr {
        self.storage
    }

    /// Runs a server command and parses its last line of output.
    fn run(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        last_line(&crate::shell::output(&mut self.command(arguments))?)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg("--config").arg(self.config()).current_dir(self.folder());
        command.envs(self.settings.iter().map(|(variable, value)| (variable, value)));
        command
    }

    fn config(&self) -> PathBuf {
        self.folder().join("config.toml")
    }
}

fn text(value: &Value, name: &str) -> anyhow::Result<String> {
    value[name].as_str().map(str::to_owned).with_context(|| format!("no `{name}` in {value}"))
}

/// Parses the JSON object in the last line of output.
fn last_line(printed: &str) -> anyhow::Result<Value> {
    let last = printed.lines().last().unwrap_or_default();
    serde_json::from_str(last).with_context(|| format!("a command of the server printed `{last}`"))
}
