//! A PostgreSQL that a test crashes, restarts and replaces by its standby.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;
use tokio_postgres::NoTls;

use super::program::{Program, find};
use super::until;

const DEADLINE: Duration = Duration::from_secs(30);

/// Settings of a primary for tests: the system does not crash, so files are not synced.
const SETTINGS: [&str; 6] = [
    "fsync=off",
    "full_page_writes=off",
    "unix_socket_directories=",
    "listen_addresses=127.0.0.1",
    "dynamic_shared_memory_type=mmap",
    "wal_level=replica",
];

/// Cluster in a folder of its own.
pub struct Postgres {
    pub program: Program,
    tools: PathBuf,
    account: Option<(u32, u32)>,
}

impl Postgres {
    /// Creates and starts a cluster; `None` without PostgreSQL.
    pub fn start() -> Option<Self> {
        let tools = find("initdb")?.canonicalize().unwrap().parent().unwrap().to_owned();
        let account = account();
        let folder = folder(account);
        let data = folder.path().join("data");
        let mut initdb = command(&tools.join("initdb"), account);
        initdb.arg("-D").arg(&data).args([
            "-U",
            "postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]);
        finish(initdb);
        Some(Self::serve(folder, tools, account))
    }

    /// Starts a hot standby that has every transaction before the primary acknowledges it.
    pub fn standby(&self) -> Self {
        let folder = folder(self.account);
        let mut copy = command(&self.tools.join("pg_basebackup"), self.account);
        copy.arg("-D").arg(folder.path().join("data")).args([
            "-d",
            &self.url(),
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
            "--no-sync",
        ]);
        finish(copy);
        let standby = Self::serve(folder, self.tools.clone(), self.account);
        self.execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.execute("SELECT pg_reload_conf()");
        until("the standby is synchronous", DEADLINE, || {
            (self.first("SELECT sync_state FROM pg_stat_replication")? == "sync").then_some(())
        });
        standby
    }

    fn serve(folder: TempDir, tools: PathBuf, account: Option<(u32, u32)>) -> Self {
        let (data, server) = (folder.path().join("data"), tools.join("postgres"));
        let program = Program::start(folder, move |port| {
            let mut postgres = command(&server, account);
            postgres.arg("-D").arg(&data).args(["-p", &port.to_string()]);
            for setting in SETTINGS {
                postgres.args(["-c", setting]);
            }
            postgres
        });
        let cluster = Self { program, tools, account };
        cluster.wait();
        cluster
    }

    /// URL of its database, for a superuser without a password.
    pub fn url(&self) -> String {
        url(&self.program.address())
    }

    /// Ends all connections and processes at once, as a crash does.
    pub fn crash(&mut self) {
        self.program.end(Signal::QUIT);
    }

    pub fn resume(&mut self) {
        self.program.resume();
        self.wait();
    }

    /// Makes a standby the primary.
    pub fn promote(&self) {
        self.execute("SELECT pg_promote()");
    }

    pub fn execute(&self, statement: &str) {
        query(&self.url(), statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }

    /// Returns the first value of a query.
    pub fn first(&self, statement: &str) -> Option<String> {
        query(&self.url(), statement).ok()?
    }

    fn wait(&self) {
        until("PostgreSQL accepts queries", DEADLINE, || self.first("SELECT 1"));
    }
}

/// Returns the URL of the cluster's database at an address.
pub fn url(address: &str) -> String {
    format!("postgres://postgres@{address}/postgres")
}

fn query(url: &str, statement: &str) -> Result<Option<String>, tokio_postgres::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let connection = tokio::spawn(connection);
        let rows = client.simple_query(statement).await?;
        drop(client);
        let _ = connection.await;
        Ok(rows.into_iter().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        }))
    })
}

/// Returns the account to use instead of root, which PostgreSQL refuses.
fn account() -> Option<(u32, u32)> {
    let id = |arguments: &[&str]| -> Option<u32> {
        let output = Command::new("id").args(arguments).output().ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    if id(&["-u"]) != Some(0) {
        return None;
    }
    let named = |name| Some((id(&["-u", name])?, id(&["-g", name])?));
    named("postgres").or_else(|| named("retrieval-test")).or_else(|| named("nobody"))
}

fn folder(account: Option<(u32, u32)>) -> TempDir {
    // Other accounts may not reach the folder of TMPDIR.
    let parent = if account.is_some() { PathBuf::from("/tmp") } else { std::env::temp_dir() };
    let folder = tempfile::Builder::new().prefix("retrieval-test-postgres-").tempdir_in(parent).unwrap();
    if let Some((user, group)) = account {
        chown(folder.path(), Some(user), Some(group)).unwrap();
    }
    folder
}

fn command(program: &Path, account: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null());
    if let Some((user, group)) = account {
        command.uid(user).gid(group);
    }
    command
}

fn finish(mut command: Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
