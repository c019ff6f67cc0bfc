//! Private PostgreSQL for one run, in a temporary folder and on a free port.

use super::account::{Account, shared_temporary_folder};
use super::{Provided, Running, Service, apt, free_port};
use crate::{interrupt, shell};
use anyhow::{Context, bail};
use rustix::process::Signal;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Variable with the URL for the tests; its role may create databases.
const VARIABLE: &str = "TEST_DATABASE_URL";

/// Timeout of the first start, which takes seconds on a slow disk.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Timeout of a fast shutdown before an immediate one. The data is discarded anyway.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Start attempts, because another program may take the free port first.
const ATTEMPTS: u32 = 3;

/// Prefix of cluster folders, followed by the id of the process that created them.
const FOLDER_PREFIX: &str = "retrieval-postgres-";

/// Settings for speed without durability.
const UNSAFE: &[&str] = &["fsync=off", "synchronous_commit=off", "full_page_writes=off"];

/// Settings for many small test databases.
const SETTINGS: &[&str] = &[
    "max_connections=300",
    "unix_socket_directories=",
    "listen_addresses=127.0.0.1",
    // Containers often limit /dev/shm to 64 MB.
    "dynamic_shared_memory_type=mmap",
];

/// PostgreSQL for the tests: the one of `TEST_DATABASE_URL`, or a private one.
pub struct Postgres {
    pub disabled: bool,
}

impl Service for Postgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn provide(&self) -> Provided {
        if self.disabled {
            return Provided::Absent { reason: "--no-postgres was given".to_owned() };
        }
        if let Some(url) = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty()) {
            let how = format!("the database of {VARIABLE}");
            return Provided::Running(Running { how, environment: vec![(VARIABLE, url)], _guard: None });
        }
        match Cluster::start() {
            Ok(cluster) => Provided::Running(Running {
                how: format!("a private cluster of {}", cluster.version),
                environment: vec![(VARIABLE, cluster.url.clone()), ("PATH", path_with(&cluster.programs))],
                _guard: Some(Box::new(cluster)),
            }),
            Err(error) => Provided::Absent { reason: format!("{error:#}") },
        }
    }

    fn required_in_ci(&self) -> bool {
        true
    }
}

/// Returns the search path with the folder in front: suites create their databases with psql.
fn path_with(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
}

/// Running PostgreSQL in a temporary folder. Dropping it stops the server and removes the folder.
pub struct Cluster {
    /// URL of its database `postgres`, for a superuser without a password.
    pub url: String,
    /// Output of `postgres --version`.
    pub version: String,
    /// Folder of its programs, such as `psql`.
    pub programs: PathBuf,
    server: Child,
    folder: TempDir,
}

impl Cluster {
    /// Creates and starts a cluster for tests, which loses data in a power failure. Installs PostgreSQL if it is missing and we
    /// are root on Debian.
    ///
    /// # Errors
    ///
    /// Returns an error without programs, or if the cluster does not start; the message has the end of the server's
    /// log.
    pub fn start() -> anyhow::Result<Self> {
        Self::start_with(UNSAFE)
    }

    /// Creates and starts a cluster that commits as one in production does.
    ///
    /// # Errors
    ///
    /// As [`Cluster::start`].
    pub fn start_durable() -> anyhow::Result<Self> {
        Self::start_with(&[])
    }

    fn start_with(settings: &[&str]) -> anyhow::Result<Self> {
        let programs = match find_programs() {
            Some(programs) => programs,
            None => install()?,
        };
        let version = shell::output(Command::new(programs.join("postgres")).arg("--version"))?;
        let account = Account::instead_of_root()?;
        let temporary = shared_temporary_folder();
        remove_leftovers(&temporary);
        let prefix = format!("{FOLDER_PREFIX}{}-", std::process::id());
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(temporary)?;
        if let Some(account) = account {
            account.own(folder.path())?;
        }
        create(&programs, account, folder.path())?;
        for attempt in 1.. {
            let port = free_port()?;
            match serve(&programs, account, folder.path(), port, settings) {
                Ok(server) => {
                    let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
                    return Ok(Self { url, version, programs, server, folder });
                }
                Err(error) if attempt == ATTEMPTS => return Err(error),
                Err(_) => {}
            }
        }
        unreachable!("the last attempt returns")
    }
}

impl Cluster {
    /// Returns the id of the server's main process.
    pub fn pid(&self) -> u32 {
        self.server.id()
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for ask in [Signal::INT, Signal::QUIT] {
            interrupt::signal(self.server.id(), ask);
            let deadline = Instant::now() + STOP_TIMEOUT;
            while Instant::now() < deadline {
                if matches!(self.server.try_wait(), Ok(Some(_))) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        eprintln!("warning: PostgreSQL (process {}) does not stop: killing it", self.server.id());
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Returns a command for `account`, in a folder that the account can read.
fn command(program: &Path, account: Option<Account>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("LC_ALL", "C").stdin(Stdio::null());
    if let Some(account) = account {
        account.run(&mut command);
    }
    command
}

/// Creates the cluster's files.
///
/// Text uses a language's sort order if this PostgreSQL supports it, like most databases in use. Queries that need
/// byte order must request it.
fn create(programs: &Path, account: Option<Account>, folder: &Path) -> anyhow::Result<()> {
    let by_language = ["--locale-provider=icu", "--icu-locale=en-US"];
    let attempt = |more: &[&str]| {
        let mut initdb = command(&programs.join("initdb"), account, folder);
        initdb.arg("-D").arg(folder.join("data"));
        initdb.args(["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]).args(more);
        shell::output(&mut initdb).map(drop)
    };
    attempt(&by_language).or_else(|_| attempt(&[]))
}

/// Starts the server and waits until it accepts connections.
fn serve(
    programs: &Path,
    account: Option<Account>,
    folder: &Path,
    port: u16,
    settings: &[&str],
) -> anyhow::Result<Child> {
    let data = folder.join("data");
    let log = folder.join("log");
    let mut postgres = match shell::find_program("setpriv") {
        // On Linux, stops the server even if we are killed.
        Some(setpriv) => {
            let mut setpriv = command(&setpriv, account, folder);
            setpriv.args(["--pdeathsig", "INT", "--"]).arg(programs.join("postgres"));
            setpriv
        }
        None => command(&programs.join("postgres"), account, folder),
    };
    postgres.arg("-D").arg(&data).args(["-p", &port.to_string()]);
    for setting in SETTINGS.iter().chain(settings) {
        postgres.args(["-c", setting]);
    }
    postgres.stdout(Stdio::null()).stderr(File::create(&log)?);
    // Ctrl-C goes to the tests first; the database stops after them.
    postgres.process_group(0);
    let mut server = postgres.spawn().context("cannot start postgres")?;
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        let ended = server.try_wait()?;
        if ended.is_none() && is_ready(&data) {
            return Ok(server);
        }
        if ended.is_some() || Instant::now() > deadline || interrupt::caught() {
            let _ = server.kill();
            let _ = server.wait();
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            let tail: Vec<&str> = said.lines().rev().take(5).collect();
            bail!("postgres did not start: {}", tail.into_iter().rev().collect::<Vec<_>>().join("; "));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Removes folders of processes that were killed before they could.
fn remove_leftovers(temporary: &Path) {
    for entry in std::fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let maker = name.strip_prefix(FOLDER_PREFIX).and_then(|rest| rest.split_once('-')?.0.parse().ok());
        if maker.is_some_and(|maker| !interrupt::is_running(maker)) {
            // Fails for folders of other users on a shared machine.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Checks for `ready` in the last line of the pid file (PostgreSQL 10 and newer).
fn is_ready(data: &Path) -> bool {
    let file = std::fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    file.lines().last().is_some_and(|line| line.trim() == "ready")
}

/// Returns the folder of the PostgreSQL on the PATH, or of the newest one found.
///
/// Some systems link single programs into a folder of the PATH; the others (`psql`, `initdb`) are next to the link's
/// target.
fn find_programs() -> Option<PathBuf> {
    let linked = shell::find_program("postgres").and_then(|file| file.canonicalize().ok());
    let on_path = linked.and_then(|file| file.parent().map(Path::to_path_buf));
    let mut folders: Vec<PathBuf> = on_path.into_iter().collect();
    for installed in ["/usr/lib/postgresql", "/usr/local/opt", "/opt/homebrew/opt"] {
        let Ok(entries) = std::fs::read_dir(installed) else { continue };
        let mut versions: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join("bin")).collect();
        versions.sort_by_key(|folder| std::cmp::Reverse(version_of(folder)));
        folders.extend(versions);
    }
    folders.extend(["/usr/local/pgsql/bin", "/usr/local/bin", "/usr/bin", "/usr/pgsql/bin"].map(PathBuf::from));
    folders.into_iter().find(|folder| ["postgres", "initdb"].iter().all(|name| folder.join(name).is_file()))
}

/// Returns the version in a path such as `/usr/lib/postgresql/15/bin` or `postgresql@16/bin`; 0 without one.
fn version_of(programs: &Path) -> u32 {
    let name = programs.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    name.rsplit('@').next().and_then(|version| version.parse().ok()).unwrap_or(0)
}

/// Installs PostgreSQL with apt, if we are root.
fn install() -> anyhow::Result<PathBuf> {
    const WANTED: &str = "no PostgreSQL found on the PATH or in /usr/lib/postgresql/*/bin";
    apt::install("postgresql", WANTED, VARIABLE)?;
    find_programs().context("apt-get installed PostgreSQL, but its programs were not found")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::{Cluster, find_programs, version_of};
    use crate::shell;
    use std::path::Path;
    use std::process::Command;

    #[test]
    fn cluster_creates_databases_and_cleans_up() {
        // Installation is up to the command; the summary reports untested services.
        if find_programs().is_none() {
            eprintln!("NOT tested: no PostgreSQL installed");
            return;
        }
        let cluster = Cluster::start().unwrap();
        let psql = |url: &str, query: &str| {
            shell::output(Command::new(cluster.programs.join("psql")).args(["-X", "-At", url, "-c", query]))
        };
        psql(&cluster.url, "create database other").unwrap();
        assert_eq!(psql(&format!("{}?dbname=other", cluster.url), "select current_database()").unwrap(), "other");

        let (folder, url) = (cluster.folder.path().to_path_buf(), cluster.url.clone());
        assert!(folder.join("data").is_dir());
        drop(cluster);
        assert!(!folder.exists());
        let port: u16 = url.split([':', '/']).rev().nth(1).unwrap().parse().unwrap();
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    }

    #[test]
    fn versions_are_parsed_from_folders() {
        assert_eq!(version_of(Path::new("/usr/lib/postgresql/15/bin")), 15);
        assert_eq!(version_of(Path::new("/opt/homebrew/opt/postgresql@16/bin")), 16);
        assert_eq!(version_of(Path::new("/usr/bin")), 0);
    }
}
