//! Processes of the program, with deadlines.

use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use super::until;

/// Deadline of a command: longer than any takes on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// Returns the path of the program under test.
pub fn program() -> PathBuf {
    std::env::var_os("RETRIEVAL_SERVER_BIN")
        .filter(|path| !path.is_empty())
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_retrieval-server")), PathBuf::from)
}

/// Setting that a machine without seccomp filters needs. It is passed on to the program.
pub const SANDBOX: &str = "RETRIEVAL__EXTRACT__SANDBOX";

/// Returns a command of the program without settings from the environment. It gets its own process group, so that signals
/// reach its workers too.
pub fn command() -> Command {
    command_of(&program())
}

/// Returns a command like [`command`] of another program.
pub fn command_of(program: &Path) -> Command {
    without_settings(Command::new(program))
}

/// Variable with the path of an older release's program, for the tests of upgrades.
pub const OLD_PROGRAM: &str = "RETRIEVAL_SERVER_OLD_BIN";

fn without_settings(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        let is_setting = name_text.starts_with("RETRIEVAL__") && name_text != SANDBOX;
        // Releases that do not know the variable of an older program refuse to start with it.
        if is_setting || name_text == OLD_PROGRAM || name_text == "RUST_LOG" {
            command.env_remove(name);
        }
    }
    command.process_group(0);
    command
}

/// Returns a command of the program under a limit of file descriptors, soft and hard.
pub fn command_with_descriptors(limit: u64) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {limit}; exec \"$0\" \"$@\"")]).arg(program());
    without_settings(command)
}

/// Output and status of a finished command.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// Returns the exit status; `None` after a signal.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Asserts success and parses every line of standard output as JSON.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        assert!(self.status.success(), "{self:#?}");
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {self:#?}"));
        self.stdout.lines().map(parse).collect()
    }

    /// Asserts success and parses the only line of standard output as JSON.
    #[track_caller]
    pub fn object(&self) -> Value {
        let [object] = <[Value; 1]>::try_from(self.lines()).unwrap_or_else(|_| panic!("not one line: {self:#?}"));
        object
    }
}

/// Runs a command and waits for it.
#[track_caller]
pub fn run(command: Command, input: &[u8]) -> Finished {
    finish(start(command, input))
}

/// A running command, with the threads that drain its pipes.
pub struct Started {
    pub child: Child,
    stdout: thread::JoinHandle<Vec<u8>>,
    stderr: thread::JoinHandle<Vec<u8>>,
}

/// Starts a command with `input` on its standard input.
pub fn start(mut command: Command, input: &[u8]) -> Started {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    thread::spawn(move || {
        // The command may be killed or not read its input.
        let _ = stdin.write_all(&input);
    });
    let collect = |mut pipe: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.read_to_end(&mut bytes);
            bytes
        })
    };
    let stdout = collect(Box::new(child.stdout.take().unwrap()));
    let stderr = collect(Box::new(child.stderr.take().unwrap()));
    Started { child, stdout, stderr }
}

/// Waits for a command and kills it after the deadline.
#[track_caller]
pub fn finish(mut started: Started) -> Finished {
    let status = wait(&mut started.child, DEADLINE).unwrap_or_else(|| {
        signal_group(&started.child, Signal::KILL);
        started.child.wait().unwrap()
    });
    let text = |thread: thread::JoinHandle<Vec<u8>>| String::from_utf8_lossy(&thread.join().unwrap()).into_owned();
    let finished = Finished { status, stdout: text(started.stdout), stderr: text(started.stderr) };
    assert!(finished.status.signal() != Some(9), "killed after {DEADLINE:?}: {finished:#?}");
    finished
}

/// Waits for a process; returns `None` after the deadline.
pub fn wait(child: &mut Child, deadline: Duration) -> Option<ExitStatus> {
    let started = std::time::Instant::now();
    until("the process ends", deadline + Duration::from_secs(1), || {
        let status = child.try_wait().unwrap();
        (status.is_some() || started.elapsed() > deadline).then_some(status)
    })
}

/// Sends a signal to a process and its descendants.
pub fn signal_group(child: &Child, signal: Signal) {
    let group = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    // Fails if the whole group has ended.
    let _ = kill_process_group(group, signal);
}

/// Sends a signal to a process only.
pub fn signal_process(child: &Child, signal: Signal) {
    let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    // Fails if the process has just ended.
    let _ = kill_process(process, signal);
}
