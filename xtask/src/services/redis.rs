//! Private in-memory Redis for one run. Tests that stop a Redis start their own from the same program.

use super::{Provided, Running, Service, apt, free_port};
use crate::{interrupt, shell};
use anyhow::{Context, bail};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Variable with the URL for the tests.
const VARIABLE: &str = "RATE_LIMIT_REDIS_URL";
const PROGRAM: &str = "redis-server";
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// Redis for the tests: the one of `RATE_LIMIT_REDIS_URL`, or a private one.
pub struct Redis;

impl Service for Redis {
    fn name(&self) -> &'static str {
        "Redis"
    }

    fn provide(&self) -> Provided {
        if std::env::var(VARIABLE).is_ok_and(|url| !url.is_empty()) {
            let how = format!("the server of {VARIABLE}");
            return Provided::Running(Running { how, environment: vec![], _guard: None });
        }
        match start() {
            Ok(running) => Provided::Running(running),
            Err(error) => Provided::Absent { reason: format!("{error:#}") },
        }
    }

    fn required_in_ci(&self) -> bool {
        true
    }
}

/// Server process that is killed on drop.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing is persisted, so an orderly shutdown is unnecessary.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start() -> anyhow::Result<Running> {
    let program = match shell::find_program(PROGRAM) {
        Some(program) => program,
        None => install()?,
    };
    let version = shell::output(Command::new(&program).arg("--version"))?;
    let port = free_port()?;
    let mut server = Server(command(program, port).spawn().context("cannot start redis-server")?);
    let deadline = Instant::now() + START_TIMEOUT;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if server.0.try_wait()?.is_some() || Instant::now() > deadline || interrupt::caught() {
            bail!("redis-server did not start on port {port}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let version = version.split(" sha=").next().unwrap_or_default().to_owned();
    Ok(Running {
        how: format!("a private {version}"),
        environment: vec![(VARIABLE, format!("redis://127.0.0.1:{port}"))],
        _guard: Some(Box::new(server)),
    })
}

fn command(program: PathBuf, port: u16) -> Command {
    let mut command = match shell::find_program("setpriv") {
        // On Linux, stops the server even if we are killed.
        Some(setpriv) => {
            let mut setpriv = Command::new(setpriv);
            setpriv.args(["--pdeathsig", "KILL", "--"]).arg(program);
            setpriv
        }
        None => Command::new(program),
    };
    command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--appendonly", "no"]);
    // Ctrl-C goes to the tests first.
    command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    command
}

fn install() -> anyhow::Result<PathBuf> {
    const WANTED: &str = "no redis-server found on the PATH";
    apt::install("redis-server", WANTED, VARIABLE)?;
    shell::find_program(PROGRAM).context("apt-get installed Redis, but redis-server is not on the PATH")
}
