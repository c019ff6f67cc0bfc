//! Handling of Ctrl-C and termination signals: they are recorded, so that started processes are stopped before we
//! exit.

use anyhow::Context;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

static CAUGHT: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Exit code that shells report after Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Time for children to stop by themselves: a terminal sends Ctrl-C to them too.
const GRACE: Duration = Duration::from_secs(10);

/// Starts to record termination signals instead of exiting.
///
/// # Errors
///
/// Returns an error if the system rejects a handler.
pub fn watch() -> anyhow::Result<()> {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        signal_hook::flag::register(signal.as_raw(), Arc::clone(&CAUGHT)).context("cannot watch for signals")?;
    }
    Ok(())
}

/// Returns true after a termination signal.
pub fn caught() -> bool {
    CAUGHT.load(Ordering::Relaxed)
}

/// Returns the exit code of a run that ended with `succeeded`, or by a signal.
pub fn exit_code(succeeded: bool) -> ExitCode {
    match (caught(), succeeded) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    }
}

/// Runs `command` to its end; stops it after a termination signal.
///
/// # Errors
///
/// Returns an error if it cannot be started or awaited.
pub fn status(command: &mut Command) -> anyhow::Result<ExitStatus> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().with_context(|| format!("cannot start `{program}`"))?;
    wait(&mut child)
}

/// Waits for `child`; sends SIGTERM some time after a termination signal.
///
/// # Errors
///
/// Returns an error if the process cannot be awaited.
pub fn wait(child: &mut Child) -> anyhow::Result<ExitStatus> {
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if caught() {
            let since = *asked.get_or_insert_with(Instant::now);
            if since.elapsed() > GRACE {
                signal(child.id(), Signal::TERM);
                asked = Some(Instant::now());
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends `signal` to the process `id`; ignores processes that have exited.
pub fn signal(id: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Returns true if a process `id` exists, of any user.
pub fn is_running(id: u32) -> bool {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}
