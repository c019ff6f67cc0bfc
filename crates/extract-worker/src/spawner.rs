//! Start of worker processes from one thread that lives as long as the pool.
//!
//! A worker dies with the *thread* that started it (`PR_SET_PDEATHSIG` refers to threads), and a runtime ends its threads
//! at any time.

use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use extract::{ExtractError, ExtractErrorKind};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::cpu_time::CpuClock;
use crate::limits::{self, Limits};
use crate::sandbox::{REPORT_VARIABLE, REQUIRED_VARIABLE, SET};
use crate::{SandboxReport, WorkError, WorkerOptions};

type Order = (Handle, oneshot::Sender<std::io::Result<Spawned>>);

/// Process that has just started.
pub struct Spawned {
    pub child: Child,
    /// Clock of the process, if the system has one.
    pub clock: Option<CpuClock>,
}

/// Handle of the thread. Dropping it ends the thread and every worker.
pub struct Spawner(mpsc::Sender<Order>);

impl Spawner {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start(options: &WorkerOptions) -> std::io::Result<Self> {
        let (orders, inbox) = mpsc::channel::<Order>();
        let options = options.clone();
        std::thread::Builder::new().name("extract-spawner".into()).spawn(move || {
            for (runtime, answer) in inbox {
                let _entered = runtime.enter();
                // If the caller is gone, the child is dropped, which kills it.
                let _ = answer.send(spawn(&options));
            }
        })?;
        Ok(Self(orders))
    }

    /// Starts a process.
    ///
    /// # Errors
    /// `Unavailable`: the system cannot start it, or the thread has ended.
    pub async fn spawn(&self) -> Result<Spawned, WorkError> {
        let (answer, spawned) = oneshot::channel();
        let sent = self.0.send((Handle::current(), answer)).is_ok();
        let spawned = if sent { spawned.await.ok() } else { None };
        let spawned = spawned.ok_or_else(|| WorkError::Unavailable("the pool has ended".into()))?;
        spawned.map_err(|error| WorkError::Unavailable(format!("starting a worker: {error}")))
    }
}

fn spawn(options: &WorkerOptions) -> std::io::Result<Spawned> {
    let child = command(options).spawn()?;
    // At once: the worker has not yet dropped the right to be looked at.
    let clock = child.id().and_then(CpuClock::of);
    Ok(Spawned { child, clock })
}

/// Builds the command. Its environment has little more than the limits: a worker must not see the service's secrets.
fn command(options: &WorkerOptions) -> Command {
    let mut command = Command::new(&options.program);
    command
        .args(&options.args)
        .env_clear()
        .env(limits::VARIABLE, Limits::of(options).encode())
        // glibc reserves 64 MiB of address space per thread for its heap, which the memory limit would count.
        .env("MALLOC_ARENA_MAX", "1")
        .current_dir("/")
        // Its priority is that of its group.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if options.sandbox_required {
        command.env(REQUIRED_VARIABLE, SET);
    }
    command
}

/// Time for a worker to enter its jail and report.
const REPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// Starts a worker that only reports its protections.
pub async fn report(options: &WorkerOptions) -> Result<SandboxReport, ExtractError> {
    let failed = |why: String| ExtractError::new(ExtractErrorKind::Crashed, format!("no report of a worker: {why}"));
    let mut command = command(options);
    command.env(REPORT_VARIABLE, SET).stdin(Stdio::null());
    let output = tokio::time::timeout(REPORT_TIMEOUT, command.output()).await;
    let output = output.map_err(|_| failed(format!("none within {REPORT_TIMEOUT:?}")))?;
    let output = output.map_err(|error| failed(error.to_string()))?;
    serde_json::from_slice(&output.stdout).map_err(|error| failed(format!("{error}; {}", output.status)))
}
