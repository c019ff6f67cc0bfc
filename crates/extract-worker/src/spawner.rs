//! Starts worker processes from one thread that lives as long as the pool.
//!
//! A worker dies with the *thread* that started it (`PR_SET_PDEATHSIG` counts threads), and threads of a runtime come
//! and go.

use std::process::Stdio;
use std::sync::mpsc;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::limits::{self, Limits};
use super::options::WorkerOptions;
use crate::{ExtractError, ExtractErrorKind};

type Order = (Handle, oneshot::Sender<std::io::Result<Child>>);

/// The thread; it ends when this is dropped, and with it every worker.
pub(super) struct Spawner(mpsc::Sender<Order>);

impl Spawner {
    /// # Errors
    /// When the system has no thread to give.
    pub(super) fn start(options: &WorkerOptions) -> std::io::Result<Self> {
        let (orders, inbox) = mpsc::channel::<Order>();
        let options = options.clone();
        std::thread::Builder::new().name("extract-spawner".into()).spawn(move || {
            for (runtime, answer) in inbox {
                let _entered = runtime.enter();
                // A caller that no longer waits gets its child dropped, which kills it.
                let _ = answer.send(command(&options).spawn());
            }
        })?;
        Ok(Self(orders))
    }

    pub(super) async fn spawn(&self) -> Result<Child, ExtractError> {
        let (answer, child) = oneshot::channel();
        let sent = self.0.send((Handle::current(), answer)).is_ok();
        let spawned = if sent { child.await.ok() } else { None };
        let failed = |why: String| ExtractError::new(ExtractErrorKind::Crashed, format!("no extraction worker: {why}"));
        spawned.ok_or_else(|| failed("the pool has ended".into()))?.map_err(|error| failed(error.to_string()))
    }
}

/// The environment is empty but for the limits: a worker must not hold the service's secrets.
fn command(options: &WorkerOptions) -> Command {
    let mut command = Command::new(&options.program);
    command
        .args(&options.args)
        .env_clear()
        .env(limits::VARIABLE, Limits::of(options).encode())
        // glibc reserves 64 MiB of address space for each thread's own heap, which the memory limit would count.
        .env("MALLOC_ARENA_MAX", "1")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}
