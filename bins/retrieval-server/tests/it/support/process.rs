//! Running the program and waiting for it, never forever.

use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use super::until;

/// Longer than any command takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// The program under test.
pub fn program() -> PathBuf {
    std::env::var_os("RETRIEVAL_SERVER_BIN")
        .filter(|path| !path.is_empty())
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_retrieval-server")), PathBuf::from)
}

/// The program with nothing of this process's own settings, in a process group of its own: its worker processes are
/// reached together with it.
pub fn command() -> Command {
    let mut command = Command::new(program());
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("RETRIEVAL__") || name_text == "RUST_LOG" {
            command.env_remove(name);
        }
    }
    command.process_group(0);
    command
}

/// What a command left.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// The exit status; `None` when a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Asserts success. Every line of standard output is JSON.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        assert!(self.status.success(), "{self:#?}");
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {self:#?}"));
        self.stdout.lines().map(parse).collect()
    }

    /// Asserts success and exactly one line of JSON.
    #[track_caller]
    pub fn object(&self) -> Value {
        let [object] = <[Value; 1]>::try_from(self.lines()).unwrap_or_else(|_| panic!("not one line: {self:#?}"));
        object
    }
}

/// Runs the command to its end.
#[track_caller]
pub fn run(command: Command, input: &[u8]) -> Finished {
    finish(start(command, input))
}

/// A command that was started, with the threads that keep its pipes moving.
pub struct Started {
    pub child: Child,
    stdout: thread::JoinHandle<Vec<u8>>,
    stderr: thread::JoinHandle<Vec<u8>>,
}

/// Starts the command with `input` on its standard input.
pub fn start(mut command: Command, input: &[u8]) -> Started {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    thread::spawn(move || {
        // A command that does not read its input, or is killed, is not this thread's business.
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

/// Waits for the end of the command; kills it when it does not come.
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

/// The status of a process that ends within the deadline.
pub fn wait(child: &mut Child, deadline: Duration) -> Option<ExitStatus> {
    let started = std::time::Instant::now();
    until("the process ends", deadline + Duration::from_secs(1), || {
        let status = child.try_wait().unwrap();
        (status.is_some() || started.elapsed() > deadline).then_some(status)
    })
}

/// Sends the signal to the process and everything that it started.
pub fn signal_group(child: &Child, signal: Signal) {
    let group = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    // No such group: everything in it has ended.
    let _ = kill_process_group(group, signal);
}

/// Sends the signal to the process alone.
pub fn signal_process(child: &Child, signal: Signal) {
    let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    // It may have ended a moment ago.
    let _ = kill_process(process, signal);
}
