//! Ctrl-C and its kin: noted instead of obeyed, so that what was started for a run is stopped before we end.

use anyhow::Context;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

static CAUGHT: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Exit status that a shell reports for a program ended by Ctrl-C.
const INTERRUPTED: u8 = 130;

/// A terminal sends its Ctrl-C to our children as well, and they stop in their own way: they get this long for it.
const GRACE: Duration = Duration::from_secs(10);

/// From here on the signals that ask a program to end are noted only.
///
/// # Errors
///
/// When the system refuses a handler.
pub fn watch() -> anyhow::Result<()> {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        signal_hook::flag::register(signal.as_raw(), Arc::clone(&CAUGHT)).context("cannot watch for signals")?;
    }
    Ok(())
}

/// Returns true after a request to end.
pub fn caught() -> bool {
    CAUGHT.load(Ordering::Relaxed)
}

/// The exit code for a run that ended with `succeeded`, or by a signal.
pub fn exit_code(succeeded: bool) -> ExitCode {
    match (caught(), succeeded) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    }
}

/// Runs `command` to its end, or to ours.
///
/// # Errors
///
/// When it cannot be started or waited for.
pub fn status(command: &mut Command) -> anyhow::Result<ExitStatus> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().with_context(|| format!("cannot start `{program}`"))?;
    wait(&mut child)
}

/// Waits for `child` and asks it to end when we are asked to.
///
/// # Errors
///
/// When it cannot be waited for.
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

/// Sends `signal` to the process `id`; one that has ended already is left alone.
pub fn signal(id: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Returns true where a process `id` of any user exists.
pub fn is_running(id: u32) -> bool {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}
