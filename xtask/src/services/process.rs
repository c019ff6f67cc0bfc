//! Server processes that last as long as their value.

use crate::{interrupt, shell};
use anyhow::{Context, bail};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const START_TIMEOUT: Duration = Duration::from_secs(20);

/// Server process that is killed on drop.
pub struct Process(Child);

impl Process {
    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its data is discarded, so an orderly shutdown is unnecessary.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a command that runs `program` without input and output, out of reach of Ctrl-C, which goes to the tests first.
pub fn command(program: &Path) -> Command {
    let mut command = match shell::find_program("setpriv") {
        // On Linux, stops the server even if we are killed.
        Some(setpriv) => {
            let mut setpriv = Command::new(setpriv);
            setpriv.args(["--pdeathsig", "KILL", "--"]).arg(program);
            setpriv
        }
        None => Command::new(program),
    };
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command
}

/// Starts the server and waits until it listens on `port` of loopback.
///
/// # Errors
///
/// Returns an error if the server ends or does not listen in time.
pub fn start(mut command: Command, name: &str, port: u16) -> anyhow::Result<Process> {
    let mut server = Process(command.spawn().with_context(|| format!("cannot start {name}"))?);
    let deadline = Instant::now() + START_TIMEOUT;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if server.0.try_wait()?.is_some() || Instant::now() > deadline || interrupt::caught() {
            bail!("{name} did not start on port {port}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(server)
}
