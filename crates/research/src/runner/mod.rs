//! Worker that executes research runs.
//!
//! A run is a row with a lease. The worker that holds the lease executes the run and stores the state after each step with
//! its events, in one transaction. If the worker dies, the lease expires and another one continues with the step that was in
//! progress. A run that stores no step in several attempts ends as `interrupted`.

mod capture;
mod drive;
mod finish;
mod position;
mod step;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use app::supervisor::report_panic;
use docstore::{ClaimedResearch, StoreError};
use futures_util::FutureExt;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use trace_context::{ActiveSpan, SpanKind, TraceContext};
use tracing::Instrument;
use uuid::Uuid;

use crate::runs::Research;
pub use finish::register_metrics;

/// Name of the worker in logs and among the background tasks.
const TASK: &str = "research";
/// Longest time of a step that costs no budget.
const FREE_STEP: Duration = Duration::from_secs(20);

/// Reason for a worker to stop executing a run before its end.
#[derive(Debug, thiserror::Error)]
enum Stopped {
    #[error("the run ended, another worker has taken it over, or the database has lost its last steps")]
    LeaseLost,
    #[error("this process is stopping")]
    Stopping,
    #[error("the run is unreadable")]
    Unreadable(#[source] serde_json::Error),
    #[error("the organization does not exist any more")]
    NoOrganization,
    #[error("the database is unavailable")]
    Store(#[from] StoreError),
    #[error("internal error")]
    Panicked,
}

impl Research {
    /// Executes runs until `stop`. A run in progress is then released for any process to continue.
    pub async fn work(self: Arc<Self>, stop: CancellationToken) {
        tokio::select! {
            () = self.execute_runs(&stop) => {}
            () = self.renew_leases() => {}
        }
    }

    async fn execute_runs(self: &Arc<Self>, stop: &CancellationToken) {
        let mut running = JoinSet::new();
        while !stop.is_cancelled() {
            while running.try_join_next().is_some() {}
            if running.len() < self.options.parallel_runs.max(1)
                && let Some((claimed, owner)) = self.claim().await
            {
                let (research, stop) = (Arc::clone(self), stop.clone());
                let research_id = claimed.run.research_id;
                // Of the run, whichever workers execute it.
                let trace = TraceContext::start(research_id.0);
                // At the highest level, so that a filter which permits a line permits its span, too.
                let log = tracing::error_span!("research_run", %research_id, trace_id = %trace.trace_id());
                running.spawn(async move { research.execute(claimed, trace, owner, stop).await }.instrument(log));
                continue;
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.wake.notified() => {}
                Some(_) = running.join_next() => {}
                () = tokio::time::sleep(self.options.poll) => {}
            }
        }
        while running.join_next().await.is_some() {}
    }

    /// Claims the next run. Returns it with the name of its execution.
    async fn claim(&self) -> Option<(ClaimedResearch, String)> {
        let owner = Uuid::new_v4().to_string();
        let now = self.clock.now();
        match self.store.claim_research(owner.clone(), self.leases.ids(), now, now + self.options.lease).await {
            Ok(claimed) => claimed.map(|claimed| (claimed, owner)),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "claiming a research run failed, retrying");
                None
            }
        }
    }

    /// Executes one run while its lease is held.
    async fn execute(
        self: Arc<Self>,
        claimed: ClaimedResearch,
        trace: TraceContext,
        owner: String,
        stop: CancellationToken,
    ) {
        let research_id = claimed.run.research_id;
        let lost = self.leases.add(research_id, &owner);
        tracing::info!(%research_id, organization_id = %claimed.run.organization_id, "research run started");
        self.changes.notify(research_id);
        let mut span = ActiveSpan::of(&trace, "research run", SpanKind::Internal);
        let mut charges = Vec::new();
        let executing = async {
            let conclusion = tokio::select! {
                biased;
                () = lost.cancelled() => return Err(Stopped::LeaseLost),
                () = stop.cancelled() => return Err(Stopped::Stopping),
                driven = self.drive(&claimed, &owner, &mut charges) => driven?,
            };
            // Nothing cuts this off. A renewal of the leases may find the run ended before the database has answered here.
            match conclusion {
                Some(conclusion) => self.conclude(&claimed.run, &owner, conclusion, &mut charges).await,
                None => Ok(()),
            }
        };
        // A run that panics fails: another attempt would only panic again.
        let executed = AssertUnwindSafe(trace_context::within(trace, executing)).catch_unwind().await;
        let outcome = executed.unwrap_or_else(|panic| {
            report_panic(TASK, panic.as_ref());
            Err(Stopped::Panicked)
        });
        self.settle(&claimed.run, charges).await;
        self.leases.remove(research_id, &owner);
        if outcome.as_ref().is_err_and(|error| !matches!(error, Stopped::LeaseLost | Stopped::Stopping)) {
            span.fail();
        }
        drop(span);
        match outcome {
            Ok(()) => {}
            Err(Stopped::LeaseLost) => tracing::info!(%research_id, "research run ended or continues elsewhere"),
            Err(Stopped::Stopping) => {
                if let Err(error) = self.store.release_research(research_id, owner).await {
                    tracing::warn!(%research_id, error = &error as &dyn std::error::Error, "releasing a research run failed");
                }
            }
            // The lease expires, and a worker that reaches the database continues.
            Err(Stopped::Store(error)) => {
                tracing::warn!(%research_id, error = &error as &dyn std::error::Error, "a research run was left");
            }
            Err(error) => {
                tracing::error!(%research_id, error = &error as &dyn std::error::Error, "research run failed");
                if let Err(error) = self.fail(&claimed.run, owner).await {
                    tracing::warn!(%research_id, error = &error as &dyn std::error::Error, "ending a research run failed");
                }
            }
        }
    }

    /// Renews the leases of all runs in progress, with one statement, until dropped.
    async fn renew_leases(&self) {
        let extend = |held| self.store.extend_research_leases(held, self.clock.now() + self.options.lease);
        self.leases.renew(self.options.lease / 5, TASK, extend).await;
    }
}
