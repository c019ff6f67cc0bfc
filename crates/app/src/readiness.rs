//! Whether everything that requests need is there.

use std::future::Future;
use std::time::{Duration, Instant};

use crate::App;
use crate::search::SecondStage;

/// A dependency that takes longer counts as down.
const MOST: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
pub struct DependencyState {
    pub name: &'static str,
    /// Without it the service is not ready.
    pub required: bool,
    pub up: bool,
    pub latency: Duration,
    /// Why it is down.
    pub detail: Option<String>,
}

impl App {
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

    /// By what became of the last call: a probe of its own would be work for the model. Searches do without it.
    fn reranker_state(&self) -> Option<DependencyState> {
        let SecondStage::Model(model) = &self.second_stage else { return None };
        let up = model.is_healthy();
        let detail = (!up).then(|| "the last call failed".to_owned());
        Some(DependencyState { name: "reranker", required: false, up, latency: Duration::ZERO, detail })
    }

    /// The connection is watched anyway. Not required even where requests fail without it: that hits every instance
    /// alike, and none of them would be left to answer.
    fn limiter_state(&self) -> Option<DependencyState> {
        let up = self.limiter.shared_counter_is_up()?;
        let detail = (!up).then(|| "the shared counter cannot be reached".to_owned());
        Some(DependencyState { name: "rate_limit", required: false, up, latency: Duration::ZERO, detail })
    }
}

async fn check(name: &'static str, probe: impl Future<Output = Result<(), String>>) -> DependencyState {
    let started = Instant::now();
    let outcome = tokio::time::timeout(MOST, probe).await;
    let detail = match outcome {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error),
        Err(_) => Some(format!("no answer within {MOST:?}")),
    };
    DependencyState { name, required: true, up: detail.is_none(), latency: started.elapsed(), detail }
}
