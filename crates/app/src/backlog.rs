//! Gauges of the work that waits in the database, and of the size of the index. Every instance reports the same values.

use std::sync::Arc;
use std::time::Duration;

use docstore::{Docstore, StoreError};
use engine::{EngineError, SearchEngine};
use metrics::gauge;
use model::{Clock, IndexName, ResearchStatus, RunState, Timestamp};

/// Interval of the counts, below the usual interval of scrapes.
const INTERVAL: Duration = Duration::from_secs(10);

/// Counts at start and then periodically. During an outage of the database the gauges keep their last values.
pub(crate) async fn watch(store: Docstore, engine: Option<Arc<dyn SearchEngine>>, clock: Arc<dyn Clock>) {
    loop {
        if let Err(error) = count(&store, engine.is_some(), clock.now()).await {
            tracing::debug!(error = &error as &dyn std::error::Error, "counting the backlog failed");
        }
        if let Some(engine) = &engine
            && let Err(error) = count_indexed(engine.as_ref()).await
        {
            tracing::debug!(error = &error as &dyn std::error::Error, "counting the documents of the index failed");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Makes the gauges known to the first scrape.
pub(crate) fn register() {
    IndexName::ALL.iter().for_each(|index| set_outbox(*index, 0, Duration::ZERO));
    unfinished().for_each(|state| set_runs(state, 0));
    set_embedding(0, Duration::ZERO);
    IndexName::ALL.iter().for_each(|index| set_indexed(*index, 0));
    unended().for_each(|status| set_research(status, 0));
}

/// Counts what waits. Without an engine, changes of the indexes wait for one to be configured, and have no age.
async fn count(store: &Docstore, has_engine: bool, now: Timestamp) -> Result<(), StoreError> {
    for index in IndexName::ALL.iter().copied() {
        let entries = store.count_outbox(index).await?;
        let oldest = if has_engine { store.oldest_outbox_entry(index).await? } else { None };
        set_outbox(index, entries, oldest.map_or(Duration::ZERO, |oldest| now.since(oldest)));
    }
    let jobs = store.count_embedding_jobs().await?;
    let oldest = store.oldest_embedding_job().await?;
    set_embedding(jobs, oldest.map_or(Duration::ZERO, |oldest| now.since(oldest)));
    for state in unfinished() {
        set_runs(state, store.count_runs(state).await?);
    }
    for status in unended() {
        set_research(status, store.count_research(status).await?);
    }
    Ok(())
}

async fn count_indexed(engine: &dyn SearchEngine) -> Result<(), EngineError> {
    for index in IndexName::ALL.iter().copied() {
        set_indexed(index, engine.document_count(index).await?);
    }
    Ok(())
}

fn unfinished() -> impl Iterator<Item = RunState> {
    RunState::ALL.iter().copied().filter(|state| !state.is_terminal())
}

fn set_outbox(index: IndexName, entries: i64, age: Duration) {
    gauge!("retrieval_outbox_entries", "index" => index.as_str()).set(entries as f64);
    gauge!("retrieval_outbox_age_seconds", "index" => index.as_str()).set(age.as_secs_f64());
}

fn set_embedding(jobs: i64, age: Duration) {
    gauge!("retrieval_embedding_jobs").set(jobs as f64);
    gauge!("retrieval_embedding_age_seconds").set(age.as_secs_f64());
}

fn unended() -> impl Iterator<Item = ResearchStatus> {
    ResearchStatus::ALL.iter().copied().filter(|status| !status.is_terminal())
}

fn set_research(status: ResearchStatus, runs: i64) {
    gauge!("retrieval_research_unfinished", "status" => status.as_str()).set(runs as f64);
}

fn set_indexed(index: IndexName, documents: u64) {
    gauge!("retrieval_index_documents", "index" => index.as_str()).set(documents as f64);
}

fn set_runs(state: RunState, runs: i64) {
    gauge!("retrieval_index_runs", "state" => state.as_str()).set(runs as f64);
}
