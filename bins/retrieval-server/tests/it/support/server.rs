//! One server with a data folder of its own.

use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use uuid::Uuid;

use super::ports::Ports;
use super::process::{self, Finished, Started};
use super::{Client, Database, until};

/// Longer than a start takes on a busy machine.
const START_DEADLINE: Duration = Duration::from_secs(30);
/// A stop waits for what is going on.
const STOP_DEADLINE: Duration = Duration::from_secs(15);
/// What a failed test shows of the log.
const LOG_TAIL: usize = 4_000;

/// Survives its process: the data stays until this goes.
pub struct Server {
    child: Option<Child>,
    folder: TempDir,
    ports: Ports,
    pub database: Database,
}

impl Server {
    /// A running server on a prepared database.
    pub fn start(database: Database) -> Self {
        Self::start_with(database, "")
    }

    /// The same with more settings, as TOML sections.
    pub fn start_with(database: Database, sections: &str) -> Self {
        let mut server = Self::prepare(database, sections);
        if server.database.is_postgres() {
            server.command(&["migrate"]).object();
        }
        server.resume();
        server
    }

    /// Settings and a place for data; nothing runs, and the database is as it was.
    pub fn prepare(database: Database, sections: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("retrieval-server-test-").tempdir().unwrap();
        let ports = Ports::reserve();
        let server = Self { child: None, folder, ports, database };
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

    /// For another instance on the same database, which must not outlive this one.
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

    /// Starts the process again and waits until it is ready.
    #[track_caller]
    pub fn resume(&mut self) {
        self.spawn();
        let operations = self.operations();
        until("the server is ready", START_DEADLINE, || {
            if let Some(status) = self.child.as_mut().and_then(|child| child.try_wait().unwrap()) {
                panic!("the server ended with {status}");
            }
            let asked = ureq::get(format!("{operations}/readyz")).config().proxy(None).build().call();
            asked.is_ok().then_some(())
        });
    }

    /// Starts the process without waiting.
    pub fn spawn(&mut self) {
        assert!(self.child.is_none(), "a server runs already");
        let append = |name: &str| -> File {
            OpenOptions::new().create(true).append(true).open(self.folder.path().join(name)).unwrap()
        };
        let mut command = process::command();
        command.arg("serve").arg("--config").arg(self.settings_file());
        command.stdin(Stdio::null()).stdout(append("stdout")).stderr(append("log"));
        self.child = Some(command.spawn().unwrap());
    }

    /// Where `/healthz` and `/readyz` are.
    pub fn operations(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.operations)
    }

    /// What the server wrote to standard output since the first start.
    pub fn stdout(&self) -> String {
        fs::read_to_string(self.folder.path().join("stdout")).unwrap_or_default()
    }

    /// What the server logged since the first start.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.folder.path().join("log")).unwrap_or_default()).into_owned()
    }

    /// Asks the server to stop, as a service manager would, and waits for its end.
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

    /// As a power cut would: the process and its workers, at once.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            process::signal_group(&child, Signal::KILL);
            child.wait().unwrap();
        }
    }

    /// Runs a command of the program with this server's settings.
    #[track_caller]
    pub fn command(&self, arguments: &[&str]) -> Finished {
        self.command_with_input(arguments, "")
    }

    #[track_caller]
    pub fn command_with_input(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Finished {
        process::finish(self.start_command(arguments, input))
    }

    /// Starts a command without waiting for its end.
    pub fn start_command(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Started {
        let mut command = process::command();
        command.args(arguments).arg("--config").arg(self.settings_file());
        process::start(command, input.as_ref())
    }

    /// Runs an `admin` command; returns what it printed.
    #[track_caller]
    pub fn admin(&self, arguments: &[&str]) -> Value {
        self.command(&[&["admin"], arguments].concat()).object()
    }

    #[track_caller]
    pub fn create_organization(&self, name: &str) -> Uuid {
        uuid_of(&self.admin(&["org", "create", "--name", name])["organization_id"])
    }

    /// A key of the organization; returns what the command printed. `arguments` are further ones.
    #[track_caller]
    pub fn create_key(&self, organization: Uuid, arguments: &[&str]) -> Value {
        let organization = organization.to_string();
        self.admin(&[&["key", "create", "--org", &organization, "--name", "test"], arguments].concat())
    }

    /// A new organization and a client of it that no rate limit stops.
    #[track_caller]
    pub fn tenant(&self, name: &str) -> Client {
        let organization = self.create_organization(name);
        let key = self.create_key(organization, &["--limit-rps", "100000"]);
        self.client(key["key"].as_str(), organization)
    }

    pub fn client(&self, key: Option<&str>, organization: Uuid) -> Client {
        Client::new(&self.base(), key, organization)
    }

    /// Imports pages, one JSON object each; returns the report.
    #[track_caller]
    pub fn import(&self, pages: &[Value]) -> Value {
        self.command_with_input(&["web", "import", "-"], lines(pages)).object()
    }
}

/// One JSON object a line.
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
            let log = self.log();
            let tail: String = log.chars().rev().take(LOG_TAIL).collect::<Vec<_>>().into_iter().rev().collect();
            eprintln!("--- the end of the server's log ---\n{tail}\n---");
        }
    }
}
