//! A server with its own data folder.

use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use uuid::Uuid;

use super::ports::Ports;
use super::process::{self, Finished, Started};
use super::{Client, Database, until};

/// Deadline of a start: longer than one takes on a loaded machine.
const START_DEADLINE: Duration = Duration::from_secs(30);
/// Deadline of a stop, which drains running requests, and waits some time for a database that does not answer.
const STOP_DEADLINE: Duration = Duration::from_secs(25);
/// Characters of the log printed by a failed test.
const LOG_TAIL: usize = 4_000;

/// A server under test. Its data outlives its process and is deleted on drop.
pub struct Server {
    child: Option<Child>,
    folder: TempDir,
    ports: Ports,
    pub database: Database,
    /// Command of the server process.
    pub arguments: Vec<&'static str>,
    /// Limit of the file descriptors of the server process and of commands.
    pub descriptors: Option<u64>,
    /// Program of the server process and of commands, instead of the one under test.
    pub program: Option<PathBuf>,
    /// Variables of the server process and of commands.
    pub environment: Vec<(String, String)>,
}

impl Server {
    /// Starts a server on a migrated database.
    pub fn start(database: Database) -> Self {
        Self::start_with(database, "")
    }

    /// Starts a server with further settings, as TOML sections.
    pub fn start_with(database: Database, sections: &str) -> Self {
        let mut server = Self::prepare(database, sections);
        if server.database.is_postgres() {
            server.command(&["migrate"]).object();
        }
        server.resume();
        server
    }

    /// Writes settings without starting a process or migrating the database.
    pub fn prepare(database: Database, sections: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("retrieval-server-test-").tempdir().unwrap();
        let ports = Ports::reserve();
        let server = Self {
            child: None,
            folder,
            ports,
            database,
            arguments: vec!["serve"],
            descriptors: None,
            program: None,
            environment: vec![],
        };
        let Ports { api, operations, storage, .. } = server.ports;
        let settings = format!(
            "data_dir = {data:?}\n\
             [server]\nbind = \"127.0.0.1:{api}\"\npublic_url = \"{base}\"\n\
             [operations]\nbind = \"127.0.0.1:{operations}\"\n\
             [storage]\nbind = \"127.0.0.1:{storage}\"\n\
             [database]\nurl = {url:?}\n\
             {sections}\n",
            data = server.data_folder(),
            base = server.base(),
            url = server.database.url(),
        );
        fs::write(server.settings_file(), settings).unwrap();
        server
    }

    /// Returns the database for another instance, which must not outlive this one.
    pub fn same_database(&self) -> Database {
        Database::Shared(match &self.database {
            Database::Sqlite => format!("sqlite://{}", self.data_folder().join("retrieval.db").display()),
            Database::Postgres(_) | Database::Shared(_) => self.database.url(),
        })
    }

    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.api)
    }

    pub fn storage_address(&self) -> String {
        format!("127.0.0.1:{}", self.ports.storage)
    }

    pub fn data_folder(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn settings_file(&self) -> PathBuf {
        self.folder.path().join("settings.toml")
    }

    /// Starts the process and waits until it is ready.
    #[track_caller]
    pub fn resume(&mut self) {
        self.spawn();
        self.wait();
    }

    /// Waits until a started process is ready.
    #[track_caller]
    pub fn wait(&mut self) {
        let operations = self.operations();
        until("the server is ready", START_DEADLINE, || {
            if let Some(status) = self.child.as_mut().and_then(|child| child.try_wait().unwrap()) {
                panic!("the server ended with {status}");
            }
            let response = ureq::get(format!("{operations}/readyz")).config().proxy(None).build().call();
            response.is_ok().then_some(())
        });
    }

    /// Starts the process without waiting for readiness.
    pub fn spawn(&mut self) {
        assert!(self.child.is_none(), "a server runs already");
        let append = |name: &str| -> File {
            OpenOptions::new().create(true).append(true).open(self.folder.path().join(name)).unwrap()
        };
        let mut command = self.process();
        command.args(&self.arguments).arg("--config").arg(self.settings_file());
        command.stdin(Stdio::null()).stdout(append("stdout")).stderr(append("log"));
        self.child = Some(command.spawn().unwrap());
    }

    fn process(&self) -> Command {
        let mut command = match (&self.program, self.descriptors) {
            (Some(program), _) => process::command_of(program),
            (None, Some(limit)) => process::command_with_descriptors(limit),
            (None, None) => process::command(),
        };
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Returns the base URL of the internal listener.
    pub fn operations(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.operations)
    }

    /// Returns a counter of `/metrics`, 0 before its first increment.
    pub fn counted(&self, name: &str) -> u64 {
        let text = Client::new(&self.operations(), None, Uuid::nil()).get("/metrics").text;
        let value = text.lines().filter(|line| !line.starts_with('#')).find_map(|line| line.strip_prefix(name));
        value.map_or(0, |value| value.rsplit(' ').next().unwrap().parse().unwrap())
    }

    /// Returns standard output since the first start.
    pub fn stdout(&self) -> String {
        fs::read_to_string(self.folder.path().join("stdout")).unwrap_or_default()
    }

    /// Returns the log since the first start.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.folder.path().join("log")).unwrap_or_default()).into_owned()
    }

    /// Sends a signal to the server process.
    pub fn signal(&self, signal: Signal) {
        process::signal_process(self.child.as_ref().expect("no server runs"), signal);
    }

    /// Sends SIGTERM, as a service manager does, and waits for the exit.
    #[track_caller]
    pub fn stop(&mut self) -> ExitStatus {
        let mut child = self.child.take().expect("no server runs");
        process::signal_process(&child, Signal::TERM);
        let ended = process::wait(&mut child, STOP_DEADLINE);
        if ended.is_none() {
            process::signal_group(&child, Signal::KILL);
            child.wait().unwrap();
        }
        ended.unwrap_or_else(|| panic!("SIGTERM did not end the server within {STOP_DEADLINE:?}"))
    }

    /// Kills the process and its workers with SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            process::signal_group(&child, Signal::KILL);
            child.wait().unwrap();
        }
    }

    /// Runs an operator command with this server's settings.
    #[track_caller]
    pub fn command(&self, arguments: &[&str]) -> Finished {
        self.command_with_input(arguments, "")
    }

    #[track_caller]
    pub fn command_with_input(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Finished {
        process::finish(self.start_command(arguments, input))
    }

    /// Runs a command that finds no other programs.
    #[track_caller]
    pub fn command_without_path(&self, arguments: &[&str]) -> Finished {
        let mut command = self.process();
        command.args(arguments).arg("--config").arg(self.settings_file()).env("PATH", "/nonexistent");
        process::finish(process::start(command, &[]))
    }

    /// Starts a command without waiting for it.
    pub fn start_command(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Started {
        let mut command = self.process();
        command.args(arguments).arg("--config").arg(self.settings_file());
        process::start(command, input.as_ref())
    }

    /// Runs an `admin` command and returns its output.
    #[track_caller]
    pub fn admin(&self, arguments: &[&str]) -> Value {
        self.command(&[&["admin"], arguments].concat()).object()
    }

    #[track_caller]
    pub fn create_organization(&self, name: &str) -> Uuid {
        uuid_of(&self.admin(&["org", "create", "--name", name])["organization_id"])
    }

    /// Creates a key with further arguments and returns the output.
    #[track_caller]
    pub fn create_key(&self, organization: Uuid, arguments: &[&str]) -> Value {
        let organization = organization.to_string();
        self.admin(&[&["key", "create", "--org", &organization, "--name", "test"], arguments].concat())
    }

    /// Creates an organization and a client with a rate limit that no test reaches.
    #[track_caller]
    pub fn tenant(&self, name: &str) -> Client {
        let organization = self.create_organization(name);
        let key = self.create_key(organization, &["--limit-rps", "100000"]);
        self.client(key["key"].as_str(), organization)
    }

    pub fn client(&self, key: Option<&str>, organization: Uuid) -> Client {
        Client::new(&self.base(), key, organization)
    }

    /// Imports pages, one JSON object each, and returns the report.
    #[track_caller]
    pub fn import(&self, pages: &[Value]) -> Value {
        self.command_with_input(&["web", "import", "-"], lines(pages)).object()
    }
}

/// Formats pages as JSON lines.
pub fn lines(pages: &[Value]) -> String {
    pages.iter().map(|page| format!("{page}\n")).collect()
}

pub fn uuid_of(value: &Value) -> Uuid {
    Uuid::parse_str(value.as_str().unwrap_or_else(|| panic!("not a string: {value}"))).unwrap()
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            // Polls of the test would fill it.
            let log = self.log().lines().filter(|line| !line.contains("INFO request ")).collect::<Vec<_>>().join("\n");
            let tail: String = log.chars().rev().take(LOG_TAIL).collect::<Vec<_>>().into_iter().rev().collect();
            eprintln!("--- end of the server log ---\n{tail}\n---");
        }
    }
}
