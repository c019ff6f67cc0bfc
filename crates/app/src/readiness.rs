//! Readiness: the state of each dependency and of the background tasks.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docstore::Docstore;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ingest::supervisor::TaskState;
use model::Timestamp;
use rate_limit::SharedCounter;

use crate::App;
use crate::search::SecondStage;
use crate::shared_task::{SharedTask, Started};

/// Timeout of a probe, after which the dependency counts as down.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// Age until which the outcome of a test write is reused: probes must not load the database.
const WRITE_INTERVAL: Duration = Duration::from_secs(1);
/// Time that a probe waits for a test write. SQLite has one writer, and imports keep it busy.
const WRITE_PATIENCE: Duration = Duration::from_secs(1);
/// Time after which a test write that has not ended counts as failed.
const WRITE_TIMEOUT: Duration = Duration::from_secs(15);
/// Name of the lease that test writes renew, and of its owner.
const WRITE_LEASE: &str = "readiness";

/// State of one dependency.
#[derive(Clone, Debug)]
pub struct DependencyState {
    pub name: &'static str,
    /// The service is not ready while a required dependency is down.
    pub required: bool,
    pub up: bool,
    pub latency: Duration,
    /// Reason for being down, or a remark.
    pub detail: Option<String>,
}

/// Returns true if every required dependency is up.
pub fn is_ready(states: &[DependencyState]) -> bool {
    states.iter().all(|state| state.up || !state.required)
}

/// Check of the machine, such as free disk space, that the composition root provides.
pub struct HostCheck {
    pub name: &'static str,
    pub required: bool,
    /// Returns a remark, or the reason for being down. May block.
    pub check: Arc<dyn Fn() -> Result<Option<String>, String> + Send + Sync>,
}

impl App {
    /// Probes all dependencies concurrently.
    pub fn readiness(&self) -> BoxFuture<'_, Vec<DependencyState>> {
        Box::pin(self.probe_dependencies())
    }

    async fn probe_dependencies(&self) -> Vec<DependencyState> {
        let database = check("database", true, async {
            self.store.ping().await.map_err(|error| error.to_string())?;
            self.write_probe.run(&self.store, self.clock.now()).await.map(|()| None)
        });
        // Not required: an outage of the store affects all instances, and searches and stored documents do not need it.
        let storage = check("storage", false, async { up(self.blobs.ping().await) });
        let index = async {
            match &self.engine {
                Some(engine) => Some(check("index", true, async { up(engine.ping().await) }).await),
                None => None,
            }
        };
        let host = futures_util::future::join_all(self.host_checks.iter().map(check_host));
        let (database, storage, index, host) = futures_util::join!(database, storage, index, host);
        let adapters = [Some(database), Some(storage), index, self.reranker_state(), self.limiter_state()];
        adapters.into_iter().flatten().chain(self.web_provider_states()).chain(host).collect()
    }

    /// Returns the states of the background tasks.
    pub fn background_tasks(&self) -> Vec<TaskState> {
        self.supervisor.tasks()
    }

    /// Returns the outcome of the last call, of which a failure counts for a minute: a probe would put load on the model. Not
    /// required, since searches work without it.
    fn reranker_state(&self) -> Option<DependencyState> {
        let SecondStage::Model(model) = &self.second_stage else { return None };
        let up = model.is_healthy();
        let detail = (!up).then(|| "the last call failed".to_owned());
        Some(DependencyState { name: "reranker", required: false, up, latency: Duration::ZERO, detail })
    }

    /// Returns the outcome of each provider's last call, of which a failure counts for a minute: a probe would use its quota. Not
    /// required, since a search works with the other sources.
    fn web_provider_states(&self) -> Vec<DependencyState> {
        let state = |(name, failure): (&'static str, Option<String>)| {
            let up = failure.is_none();
            DependencyState { name, required: false, up, latency: Duration::ZERO, detail: failure }
        };
        self.web.states().map(state).collect()
    }

    /// Returns the state of the monitored connection. Not required, even if requests fail without it: an outage affects all
    /// instances, and none would be left in service.
    fn limiter_state(&self) -> Option<DependencyState> {
        let (up, detail) = match self.limiter.shared_counter()? {
            SharedCounter::Up => (true, None),
            SharedCounter::Connecting => (false, Some("connecting to the shared counter".to_owned())),
            SharedCounter::Down(reason) => (false, Some(format!("the shared counter is unreachable: {reason}"))),
        };
        Some(DependencyState { name: "rate_limit", required: false, up, latency: Duration::ZERO, detail })
    }
}

/// Test write to the database: at most one at a time, and one per `WRITE_INTERVAL`.
#[derive(Default)]
pub(crate) struct WriteProbe(SharedTask<Result<(), String>>);

impl WriteProbe {
    /// Returns the outcome of the last write, or of a new one. A write that waits behind others is no failure until it has
    /// waited for `WRITE_TIMEOUT`.
    async fn run(&self, store: &Docstore, now: Timestamp) -> Result<(), String> {
        let write = || write_row(store.clone(), now).boxed();
        let Started { at, outcome } = self.0.join(now, |_| WRITE_INTERVAL, write);
        match tokio::time::timeout(WRITE_PATIENCE, outcome).await {
            Ok(outcome) => outcome,
            Err(_) if now.since(at) < WRITE_TIMEOUT => Ok(()),
            Err(_) => Err(format!("writing failed: no write has ended within {WRITE_TIMEOUT:?}")),
        }
    }
}

async fn write_row(store: Docstore, now: Timestamp) -> Result<(), String> {
    // All instances share the owner, so each of them really writes the row.
    let written = store.acquire_lease(WRITE_LEASE.to_owned(), WRITE_LEASE.to_owned(), now, now).await;
    written.map(|_| ()).map_err(|error| format!("writing failed: {}", error_causes::describe(&error)))
}

/// Runs a check of the machine on a blocking thread.
async fn check_host(host: &HostCheck) -> DependencyState {
    let probe = Arc::clone(&host.check);
    let running = tokio::task::spawn_blocking(move || probe());
    check(host.name, host.required, async { running.await.map_err(|error| error.to_string())? }).await
}

fn up<E: std::error::Error>(outcome: Result<(), E>) -> Result<Option<String>, String> {
    outcome.map(|()| None).map_err(|error| error.to_string())
}

async fn check(
    name: &'static str,
    required: bool,
    probe: impl Future<Output = Result<Option<String>, String>>,
) -> DependencyState {
    let started = Instant::now();
    let outcome = tokio::time::timeout(PROBE_TIMEOUT, probe).await;
    let (up, detail) = match outcome {
        Ok(Ok(remark)) => (true, remark),
        Ok(Err(reason)) => (false, Some(reason)),
        Err(_) => (false, Some(format!("no answer within {PROBE_TIMEOUT:?}"))),
    };
    DependencyState { name, required, up, latency: started.elapsed(), detail }
}
