//! Supervision of background tasks: a panic is logged, counted and remembered, and the task restarts.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const PANICS: &str = "retrieval_task_panics_total";
const MIN_PAUSE: Duration = Duration::from_millis(250);
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// Time without a panic after which the next restart is quick again.
const RECOVERED: Duration = Duration::from_secs(60);

/// State of a supervised task.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TaskState {
    pub name: &'static str,
    pub phase: Phase,
    /// Panics since the start of the process.
    pub panics: u64,
    pub last_panic: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    Running,
    /// Waits for its restart after a panic.
    Restarting,
    /// Returned, as tasks do when the service stops.
    Ended,
}

/// Supervisor of the background tasks of one process. Cheap to clone.
#[derive(Clone, Default)]
pub struct Supervisor {
    tasks: Arc<Mutex<Vec<TaskState>>>,
    stop: CancellationToken,
}

impl Supervisor {
    /// Creates a supervisor that restarts nothing after `stop`.
    pub fn new(stop: CancellationToken) -> Self {
        Self { stop, ..Self::default() }
    }

    /// Runs `work` as a task until it returns. After a panic it is called again, with back-off. Must be called on a runtime.
    pub fn spawn<F>(&self, name: &'static str, mut work: impl FnMut() -> F + Send + 'static) -> JoinHandle<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        count_panics(name, 0);
        let supervisor = self.clone();
        let slot = {
            let mut tasks = self.lock();
            tasks.push(TaskState { name, phase: Phase::Running, panics: 0, last_panic: None });
            tasks.len() - 1
        };
        tokio::spawn(async move {
            let mut pause = MIN_PAUSE;
            loop {
                let started = Instant::now();
                // The closure may panic as well.
                let outcome = AssertUnwindSafe(async { work().await }).catch_unwind().await;
                let Err(panic) = outcome else { return supervisor.change(slot, |task| task.phase = Phase::Ended) };
                if started.elapsed() >= RECOVERED {
                    pause = MIN_PAUSE;
                }
                let message = report_panic(name, panic.as_ref());
                supervisor.change(slot, |task| {
                    task.phase = Phase::Restarting;
                    task.panics += 1;
                    task.last_panic = Some(message);
                });
                tokio::select! {
                    () = supervisor.stop.cancelled() => return,
                    () = tokio::time::sleep(pause) => {}
                }
                pause = (pause * 2).min(MAX_PAUSE);
                supervisor.change(slot, |task| task.phase = Phase::Running);
            }
        })
    }

    /// Returns the states of all tasks, in the order of their start.
    pub fn tasks(&self) -> Vec<TaskState> {
        self.lock().clone()
    }

    fn change(&self, slot: usize, change: impl FnOnce(&mut TaskState)) {
        if let Some(task) = self.lock().get_mut(slot) {
            change(task);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<TaskState>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Logs and counts a panic of a background task, caught by the supervisor or by the task itself. Returns its message.
pub fn report_panic(task: &'static str, panic: &(dyn Any + Send)) -> String {
    let message = panic_message(panic);
    count_panics(task, 1);
    tracing::error!(task, panic = message, "a background task panicked");
    message
}

/// Counts panics. A count of 0 makes the counter known to the first scrape, also of a process that does not have the task.
pub fn count_panics(task: &'static str, panics: u64) {
    metrics::counter!(PANICS, "task" => task).increment(panics);
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn panicking_task_is_remembered_and_restarted() {
        let supervisor = Supervisor::default();
        let (starts, mut started) = mpsc::unbounded_channel();
        let mut attempts = 0;
        let task = supervisor.spawn("feeder", move || {
            attempts += 1;
            let (attempt, starts) = (attempts, starts.clone());
            async move {
                starts.send(attempt).unwrap();
                assert!(attempt > 1, "disk {} is on fire", 7);
            }
        });
        assert_eq!(started.recv().await, Some(1));
        assert_eq!(started.recv().await, Some(2));
        task.await.unwrap();
        let last_panic = Some("disk 7 is on fire".to_owned());
        assert_eq!(supervisor.tasks(), [TaskState { name: "feeder", phase: Phase::Ended, panics: 1, last_panic }]);
    }

    #[tokio::test]
    async fn other_tasks_continue_and_nothing_restarts_after_the_stop() {
        let stop = CancellationToken::new();
        let supervisor = Supervisor::new(stop.clone());
        let waiting = stop.clone();
        let healthy = supervisor.spawn("runner", move || waiting.clone().cancelled_owned());
        let broken = supervisor.spawn("usage_writer", || async { panic!("expected by the test") });
        while supervisor.tasks()[1].panics == 0 {
            tokio::task::yield_now().await;
        }
        let phases: Vec<Phase> = supervisor.tasks().iter().map(|task| task.phase).collect();
        assert_eq!(phases, [Phase::Running, Phase::Restarting]);
        stop.cancel();
        broken.await.unwrap();
        healthy.await.unwrap();
        assert_eq!(supervisor.tasks()[1].panics, 1);
    }
}
