//! Readiness: the state of each dependency.

use std::future::Future;
use std::time::{Duration, Instant};

use crate::App;
use crate::search::SecondStage;

/// Timeout of a probe, after which the dependency counts as down.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// State of one dependency.
#[derive(Clone, Debug)]
pub struct DependencyState {
    pub name: &'static str,
    /// The service is not ready while a required dependency is down.
    pub required: bool,
    pub up: bool,
    pub latency: Duration,
    /// Reason for being down.
    pub detail: Option<String>,
}

impl App {
    /// Probes all dependencies concurrently.
    pub async fn readiness(&self) -> Vec<DependencyState> {
        let database = check("database", async { self.store.ping().await.map_err(|error| error.to_string()) });
        let storage = check("storage", async { self.blobs.ping().await.map_err(|error| error.to_string()) });
        let index = async {
            match &self.engine {
                Some(engine) => {
                    Some(check("index", async { engine.ping().await.map_err(|error| error.to_string()) }).await)
                }
                None => None,
            }
        };
        let (database, storage, index) = futures_util::join!(database, storage, index);
        [Some(database), Some(storage), index, self.reranker_state(), self.limiter_state()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Returns the outcome of the last call: a probe would put load on the model. Not required, since searches work without
    /// it.
    fn reranker_state(&self) -> Option<DependencyState> {
        let SecondStage::Model(model) = &self.second_stage else { return None };
        let up = model.is_healthy();
        let detail = (!up).then(|| "the last call failed".to_owned());
        Some(DependencyState { name: "reranker", required: false, up, latency: Duration::ZERO, detail })
    }

    /// Returns the state of the monitored connection. Not required, even if requests fail without it: an outage affects all
    /// instances, and none would be left in service.
    fn limiter_state(&self) -> Option<DependencyState> {
        let up = self.limiter.shared_counter_is_up()?;
        let detail = (!up).then(|| "the shared counter is unreachable".to_owned());
        Some(DependencyState { name: "rate_limit", required: false, up, latency: Duration::ZERO, detail })
    }
}

async fn check(name: &'static str, probe: impl Future<Output = Result<(), String>>) -> DependencyState {
    let started = Instant::now();
    let outcome = tokio::time::timeout(PROBE_TIMEOUT, probe).await;
    let detail = match outcome {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error),
        Err(_) => Some(format!("no answer within {PROBE_TIMEOUT:?}")),
    };
    DependencyState { name, required: true, up: detail.is_none(), latency: started.elapsed(), detail }
}
