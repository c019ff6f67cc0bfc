use std::sync::Arc;
use std::time::Duration;

use docstore::{ClaimedDelivery, Docstore, StoreError, Webhook};
use model::{Clock, Timestamp};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use trace_context::TraceContext;
use tracing::Instrument;
use uuid::Uuid;

use crate::schedule::{self, FailedAttempt};
use crate::sender::{Attempt, Sender};

/// Attempts in progress.
const CONCURRENT: usize = 32;
/// Attempts of one organization in progress, over all servers. A target that never answers occupies no more.
const SHARE: i64 = 4;
/// Multiple of an attempt's timeout after which another server takes a delivery over.
const LEASE: u32 = 4;

/// Timing of a [`Worker`].
#[derive(Clone, Copy, Debug)]
pub struct WorkerOptions {
    /// Interval of looking for due deliveries.
    pub poll: Duration,
    /// Timeout of one attempt, as that of the sender.
    pub timeout: Duration,
}

/// Worker that delivers events of all organizations, at least once. Several servers can run one each.
pub struct Worker {
    store: Docstore,
    sender: Arc<Sender>,
    clock: Arc<dyn Clock>,
    options: WorkerOptions,
    owner: String,
}

const DELIVERED: &str = "delivered";
const FAILED: &str = "failed";

/// Makes the counters known to the first scrape.
pub fn register_metrics() {
    [DELIVERED, FAILED].into_iter().for_each(|outcome| count(outcome, 0));
}

impl Worker {
    pub fn new(store: Docstore, sender: Arc<Sender>, clock: Arc<dyn Clock>, options: WorkerOptions) -> Self {
        Self { store, sender, clock, options, owner: Uuid::new_v4().to_string() }
    }

    /// Delivers until `stop`, then releases the deliveries in progress.
    pub async fn work(self: Arc<Self>, stop: CancellationToken) {
        let mut sending = JoinSet::new();
        let mut latest = None;
        while !stop.is_cancelled() {
            self.follow_clock(&mut latest).await;
            for claimed in self.claim(CONCURRENT - sending.len()).await {
                let (worker, delivery_id) = (Arc::clone(&self), claimed.delivery.delivery_id);
                // All attempts of a delivery are one trace.
                let trace = TraceContext::start(delivery_id.0);
                // At the highest level, so that a filter which permits a line permits its span, too.
                let log = tracing::error_span!("webhook_delivery", %delivery_id, trace_id = %trace.trace_id());
                sending.spawn(async move { worker.deliver(claimed, &trace).await }.instrument(log));
            }
            tokio::select! {
                () = stop.cancelled() => {}
                Some(_) = sending.join_next() => while sending.try_join_next().is_some() {},
                () = tokio::time::sleep(self.options.poll) => {}
            }
        }
        sending.shutdown().await;
        if let Err(error) = self.store.release_deliveries(self.owner.clone()).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "releasing webhook deliveries failed");
        }
    }

    /// Makes deliveries due that were planned before the clock was set back, since the `latest` look or while no worker ran.
    async fn follow_clock(&self, latest: &mut Option<Timestamp>) {
        let now = self.clock.now();
        if latest.is_none_or(|latest| now < latest)
            && let Err(error) = self.store.replan_deliveries(now).await
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "planning webhook deliveries again failed");
            return;
        }
        *latest = Some(now);
    }

    async fn claim(&self, free: usize) -> Vec<ClaimedDelivery> {
        self.claim_due(free).await.unwrap_or_else(|error| {
            tracing::warn!(error = &error as &dyn std::error::Error, "claiming webhook deliveries failed");
            Vec::new()
        })
    }

    /// Leases at most `free` deliveries. Writes only if one is due: most of the time none is.
    async fn claim_due(&self, free: usize) -> Result<Vec<ClaimedDelivery>, StoreError> {
        let now = self.clock.now();
        if free == 0 || !self.store.has_due_deliveries(now).await? {
            return Ok(Vec::new());
        }
        let lease_expires_at = now + self.options.timeout * LEASE;
        let limit = i64::try_from(free).unwrap_or(i64::MAX);
        self.store.claim_deliveries(self.owner.clone(), now, lease_expires_at, limit, SHARE).await
    }

    async fn deliver(&self, claimed: ClaimedDelivery, trace: &TraceContext) {
        if let Err(error) = self.attempt(&claimed, trace).await {
            // The lease expires, and the delivery is repeated.
            let delivery_id = claimed.delivery.delivery_id;
            tracing::warn!(%delivery_id, error = &error as &dyn std::error::Error, "recording a webhook delivery failed");
        }
    }

    /// Makes one attempt and records its outcome.
    async fn attempt(&self, claimed: &ClaimedDelivery, trace: &TraceContext) -> Result<(), StoreError> {
        let ClaimedDelivery { delivery, webhook } = claimed;
        let (delivery_id, webhook_id) = (delivery.delivery_id, delivery.webhook_id);
        let now = self.clock.now();
        let (url, secrets) = match webhook {
            Some(webhook) => (webhook.url.as_str(), secrets(webhook, now)),
            None => (delivery.url.as_deref().unwrap_or_default(), delivery.secret.as_deref().into_iter().collect()),
        };
        let attempt = Attempt { url, secrets: &secrets, delivery_id, trace, body: &delivery.payload, now };
        let Err(error) = self.sender.send(attempt).await else {
            count(DELIVERED, 1);
            self.store.complete_delivery(delivery_id, webhook_id, self.owner.clone(), self.clock.now()).await?;
            return Ok(());
        };
        count(FAILED, 1);
        let now = self.clock.now();
        let failed = FailedAttempt {
            attempts: delivery.attempts,
            created_at: delivery.created_at,
            failing_since: webhook.as_ref().and_then(|webhook| webhook.failing_since),
            gone: error.gone,
            retry_after: error.retry_after,
        };
        let after = schedule::after(&failed, now, rand::random_range(0.0..1.0));
        tracing::info!(
            %delivery_id, organization_id = %delivery.organization_id, reason = error.message, next = ?after,
            "webhook delivery failed"
        );
        self.store.fail_delivery(delivery_id, webhook_id, self.owner.clone(), error.message, after, now).await?;
        Ok(())
    }
}

/// Returns the secrets that sign at `now`, the current one first.
fn secrets(webhook: &Webhook, now: Timestamp) -> Vec<&str> {
    let previous = webhook.previous_secret.as_deref();
    let is_valid = webhook.previous_secret_expires_at.is_some_and(|at| now < at);
    std::iter::once(webhook.secret.as_str()).chain(previous.filter(|_| is_valid)).collect()
}

/// Counts attempts. A count of 0 makes the counter known to the first scrape.
fn count(outcome: &'static str, attempts: u64) {
    metrics::counter!("retrieval_webhook_attempts_total", "outcome" => outcome).increment(attempts);
}
