//! What requests cost and how they went: recorded without making them wait, and told.

pub mod overview;
mod window;

pub use overview::{GroupBy, UsageOverview, UsageRequest, key_state};
pub use window::{Interval, Window};

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use docstore::{Docstore, StoreError, UsageEvent as Row};
use ingest::clock::from_date_time;
use model::{ApiKeyId, Clock, OrganizationId};
use time::OffsetDateTime;
use tokio::sync::{mpsc, oneshot};

use crate::{App, Identity};

/// Events that wait at most; more are counted and dropped rather than let a request wait.
const QUEUE: usize = 10_000;
const BATCH: usize = 2_000;
const PAUSE: Duration = Duration::from_millis(500);
/// How long events wait for a database that is away, while the queue takes what else comes.
const PATIENCE: Duration = Duration::from_secs(30);
const RETRY: Duration = Duration::from_secs(1);
/// How often single requests that have had their time are looked for, and how many go at a time.
const PRUNE_EVERY: Duration = Duration::from_secs(60);
const PRUNE_AT_ONCE: i64 = 20_000;

/// One authenticated request that was answered.
#[derive(Clone, Debug)]
pub struct UsageEvent {
    pub organization_id: OrganizationId,
    pub identity: Identity,
    /// The route's pattern with its method, such as `POST /v1/search`.
    pub route: &'static str,
    pub status: u16,
    pub duration: Duration,
    pub at: OffsetDateTime,
}

enum Message {
    /// With the key that was used, where it was one.
    Event(Row, Option<ApiKeyId>),
    Flush(oneshot::Sender<()>),
}

pub(crate) struct Recorder {
    queue: mpsc::Sender<Message>,
    dropped: AtomicU64,
}

impl Recorder {
    /// Single requests are kept for `retention`; their counts for ever.
    pub fn start(store: Docstore, clock: Arc<dyn Clock>, retention: Duration) -> Self {
        let (queue, events) = mpsc::channel(QUEUE);
        tokio::spawn(write(store.clone(), events, !retention.is_zero()));
        tokio::spawn(prune(store, clock, retention));
        Self { queue, dropped: AtomicU64::new(0) }
    }

    pub async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.queue.send(Message::Flush(done)).await.is_ok() {
            // An error means that the writer is gone: there is nothing left to wait for.
            let _ = written.await;
        }
    }
}

impl App {
    /// Never waits.
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
        if self.usage.queue.try_send(Message::Event(row, key)).is_err() {
            metrics::counter!("retrieval_usage_events_dropped_total").increment(1);
            let dropped = self.usage.dropped.fetch_add(1, Ordering::Relaxed) + 1;
            if dropped.is_power_of_two() {
                tracing::warn!(dropped, "usage events were dropped: the database does not keep up");
            }
        }
    }
}

/// Gathers events for a moment and writes them together, and once for each key when it was last used.
async fn write(store: Docstore, mut events: mpsc::Receiver<Message>, keep_events: bool) {
    let mut messages = Vec::with_capacity(BATCH);
    while events.recv_many(&mut messages, BATCH).await > 0 {
        let (mut rows, mut used, mut waiting) = (Vec::new(), HashMap::new(), Vec::new());
        let was_all = messages.len() < BATCH;
        for message in messages.drain(..) {
            match message {
                Message::Event(row, key) => {
                    if let Some(key) = key {
                        let last = used.entry(key).or_insert(row.created_at);
                        *last = row.created_at.max(*last);
                    }
                    rows.push(row);
                }
                Message::Flush(done) => waiting.push(done),
            }
        }
        record(&store, rows, keep_events).await;
        if !used.is_empty()
            && let Err(error) = store.touch_api_keys(used.into_iter().collect()).await
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "the last use of keys was not recorded");
        }
        // Under load there is more to write already.
        if waiting.is_empty() && was_all {
            tokio::time::sleep(PAUSE).await;
        }
        for done in waiting {
            let _ = done.send(());
        }
    }
}

async fn record(store: &Docstore, rows: Vec<Row>, keep_events: bool) {
    if rows.is_empty() {
        return;
    }
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        match store.record_usage(rows.clone(), keep_events).await {
            Ok(()) => return,
            Err(StoreError::Unavailable(_) | StoreError::Conflict) if tokio::time::Instant::now() < deadline => {
                tokio::time::sleep(RETRY).await;
            }
            Err(error) => {
                let (error, events) = (&error as &dyn std::error::Error, rows.len());
                metrics::counter!("retrieval_usage_events_dropped_total").increment(events as u64);
                tracing::warn!(error, events, "usage events were not recorded");
                return;
            }
        }
    }
}

async fn prune(store: Docstore, clock: Arc<dyn Clock>, retention: Duration) {
    loop {
        tokio::time::sleep(PRUNE_EVERY).await;
        // In parts, so that nobody waits for long behind one of them.
        loop {
            match store.prune_usage_events(clock.now() - retention, PRUNE_AT_ONCE).await {
                Ok(pruned) if pruned as i64 >= PRUNE_AT_ONCE => {}
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "old usage events were not pruned");
                    break;
                }
            }
        }
    }
}
