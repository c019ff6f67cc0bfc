//! Usage of each organization: recorded in the background, reported as an overview.

mod count;
pub mod overview;
mod read;
mod refused;
mod window;

pub use overview::{GroupBy, UsageOverview, UsageRequest, key_state};
pub use window::{Interval, Window};

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use docstore::{Docstore, Operation, StoreError, UsageEvent as Row};
use ingest::Supervisor;
use ingest::clock::from_date_time;
use model::{ApiKeyId, Clock, OrganizationId, Timestamp};
use time::OffsetDateTime;
use tokio::sync::{Mutex, mpsc, oneshot};

use refused::Refused;

use crate::files::quota::unsigned;
use crate::retention::in_batches;
use crate::{App, Identity};

/// Maximum number of queued events; further events are dropped and counted, so that no request waits.
const QUEUE: usize = 10_000;
/// Events per transaction.
const BATCH: usize = 2_000;
/// Time to gather events between transactions.
const GATHER: Duration = Duration::from_millis(500);
/// Time to retry a batch while the database is unavailable, after which the batch is dropped.
const RETRY_TIMEOUT: Duration = Duration::from_secs(30);
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Interval between deletions of expired events.
const PRUNE_INTERVAL: Duration = Duration::from_secs(60);
/// Age at which rollups of minutes are deleted: later than they are read.
const MINUTES_KEPT: Duration = Duration::from_hours(36 * 24);
/// Rows deleted per transaction.
const PRUNE_BATCH: i64 = 20_000;

/// An authenticated request and its response.
#[derive(Clone, Debug)]
pub struct UsageEvent {
    pub organization_id: OrganizationId,
    pub identity: Identity,
    /// Method and route pattern, such as `POST /v1/search`.
    pub route: &'static str,
    pub status: u16,
    pub duration: Duration,
    pub at: OffsetDateTime,
    /// True if it was not admitted, as beyond a rate limit. Such requests are counted, and but for the first ones of a minute not stored
    /// one by one.
    pub is_refused: bool,
}

enum Message {
    /// An event and the API key of its request, if it had one.
    Event(Row, Option<ApiKeyId>),
    /// Wakes the writer for the first sum of refused requests.
    Refused,
    /// Signals once all earlier events are written.
    Flush(oneshot::Sender<()>),
}

/// Queue of usage events in front of the database.
pub(crate) struct Recorder {
    queue: mpsc::Sender<Message>,
    refused: Arc<Refused>,
    dropped: AtomicU64,
}

impl Recorder {
    /// Starts the writer. Events are stored unless `retention` is zero.
    pub fn start(store: Docstore, retention: Duration, supervisor: &Supervisor) -> Self {
        let (queue, events) = mpsc::channel(QUEUE);
        // Outlives a panic of the writer, with the queued events.
        let events = Arc::new(Mutex::new(events));
        let refused = Arc::new(Refused::default());
        let sums = Arc::clone(&refused);
        supervisor.spawn("usage_writer", move || {
            let (store, events, sums) = (store.clone(), Arc::clone(&events), Arc::clone(&sums));
            async move { write(&store, &mut *events.lock().await, &sums, !retention.is_zero()).await }
        });
        Self { queue, refused, dropped: AtomicU64::new(0) }
    }

    /// Adds a refused request to its sum. Returns false if there is no place for it.
    fn count_refused(&self, row: &Row, key: Option<ApiKeyId>) -> bool {
        let Some(is_first) = self.refused.add(row, key) else { return false };
        if is_first {
            // If the queue is full, the writer takes the sums with its next batch.
            let _ = self.queue.try_send(Message::Refused);
        }
        true
    }

    /// Returns once all queued events are written.
    pub async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.queue.send(Message::Flush(done)).await.is_ok() {
            // An error means that the writer has stopped.
            let _ = written.await;
        }
    }
}

impl App {
    /// Queues an event without waiting.
    pub fn record_usage(&self, event: UsageEvent) {
        let key = match event.identity {
            Identity::ApiKey(id) => Some(id),
            Identity::Subject(_) => None,
        };
        let row = Row {
            organization_id: event.organization_id,
            identity: event.identity.rate_key(),
            route: event.route.to_owned(),
            status: i32::from(event.status),
            duration_us: i64::try_from(event.duration.as_micros()).unwrap_or(i64::MAX),
            created_at: from_date_time(event.at),
        };
        let is_recorded = match event.is_refused && !self.usage.refused.is_single(&row) {
            true => self.usage.count_refused(&row, key),
            false => self.usage.queue.try_send(Message::Event(row, key)).is_ok(),
        };
        if !is_recorded {
            metrics::counter!("retrieval_usage_events_dropped_total").increment(1);
            let dropped = self.usage.dropped.fetch_add(1, Ordering::Relaxed) + 1;
            if dropped.is_power_of_two() {
                tracing::warn!(dropped, "usage events dropped: the database does not keep up");
            }
        }
    }
}

/// Writes events in batches, with the sums of refused requests, and the last use of each key once per batch.
async fn write(store: &Docstore, events: &mut mpsc::Receiver<Message>, refused: &Refused, keep_events: bool) {
    let mut messages = Vec::with_capacity(BATCH);
    while events.recv_many(&mut messages, BATCH).await > 0 {
        let (mut rows, mut last_used, mut flushes) = (Vec::new(), HashMap::new(), Vec::new());
        let queue_is_empty = messages.len() < BATCH;
        for message in messages.drain(..) {
            match message {
                Message::Event(row, key) => {
                    use_key(&mut last_used, key, row.created_at);
                    rows.push(row);
                }
                Message::Refused => {}
                Message::Flush(done) => flushes.push(done),
            }
        }
        if !rows.is_empty() {
            record(rows.len() as u64, || store.record_usage(rows.clone(), keep_events)).await;
        }
        let mut minutes = Vec::new();
        for sum in refused.take() {
            use_key(&mut last_used, sum.api_key, sum.last);
            minutes.push(sum.minute);
        }
        for minutes in minutes.chunks(BATCH) {
            let requests = minutes.iter().map(|minute| unsigned(minute.requests)).sum();
            record(requests, || store.count_requests(minutes.to_vec())).await;
        }
        if !last_used.is_empty()
            && let Err(error) = store.touch_api_keys(last_used.into_iter().collect()).await
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "recording the last use of keys failed");
        }
        // Under load the next batch is already queued.
        if flushes.is_empty() && queue_is_empty {
            tokio::time::sleep(GATHER).await;
        }
        for done in flushes {
            let _ = done.send(());
        }
    }
}

/// Notes the use of a key at a time, if there is one.
fn use_key(last_used: &mut HashMap<ApiKeyId, Timestamp>, key: Option<ApiKeyId>, at: Timestamp) {
    if let Some(key) = key {
        let last = last_used.entry(key).or_insert(at);
        *last = at.max(*last);
    }
}

/// Writes one batch, with retries while the database is unavailable. Requests count twice if it goes away after it has stored them and
/// before it answers.
async fn record(requests: u64, write: impl Fn() -> Operation<()>) {
    let deadline = tokio::time::Instant::now() + RETRY_TIMEOUT;
    loop {
        match write().await {
            Ok(()) => return,
            Err(StoreError::Unavailable(_) | StoreError::Aborted(_) | StoreError::Conflict)
                if tokio::time::Instant::now() < deadline =>
            {
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                metrics::counter!("retrieval_usage_events_dropped_total").increment(requests);
                tracing::warn!(error, events = requests, "usage events were not recorded");
                return;
            }
        }
    }
}

/// Starts the pruner. Events are kept for `retention`, counts of hours and days forever.
pub(crate) fn spawn_pruner(store: &Docstore, clock: &Arc<dyn Clock>, retention: Duration, supervisor: &Supervisor) {
    let (store, clock) = (store.clone(), Arc::clone(clock));
    supervisor.spawn("usage_pruner", move || prune(store.clone(), Arc::clone(&clock), retention));
}

/// Deletes expired events and rollups of minutes periodically.
async fn prune(store: Docstore, clock: Arc<dyn Clock>, retention: Duration) {
    loop {
        tokio::time::sleep(PRUNE_INTERVAL).await;
        let now = clock.now();
        // In batches, so that other writers never wait long.
        let events = || store.prune_usage_events(now - retention, PRUNE_BATCH);
        let minutes = || store.prune_usage_minutes(now - MINUTES_KEPT, PRUNE_BATCH);
        if let Err(error) = in_batches(PRUNE_BATCH, events).await.and(in_batches(PRUNE_BATCH, minutes).await) {
            tracing::warn!(error = &error as &dyn std::error::Error, "pruning usage failed");
        }
    }
}
