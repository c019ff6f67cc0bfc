//! Task that sends spans in batches.

use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use trace_context::Span;

use crate::collector::{Collector, CollectorError};
use crate::counts::{self, Loss};
use crate::options::{ExporterOptions, Timing};
use crate::payload;
use crate::wall_time::WallTime;

/// Running exporter.
pub struct Exporter {
    stop: CancellationToken,
    task: JoinHandle<()>,
    flush: Duration,
}

impl Exporter {
    pub(crate) fn start(collector: Collector, spans: Receiver<Span>, options: ExporterOptions) -> Self {
        let (stop, flush) = (CancellationToken::new(), options.timing.flush);
        let wall = WallTime::new(options.clock.as_ref());
        let batches = Batches { collector, options, wall, stop: stop.clone(), is_down: false };
        Self { stop, task: tokio::spawn(batches.run(spans)), flush }
    }

    /// Sends the waiting spans and ends, at most for the time of a flush. Later spans are dropped.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if timeout(self.flush, &mut self.task).await.is_err() {
            tracing::warn!("the last spans of traces were not sent in time");
            self.task.abort();
        }
    }
}

struct Batches {
    collector: Collector,
    options: ExporterOptions,
    wall: WallTime,
    stop: CancellationToken,
    /// The last batch was lost. Logged once, and the next ones get one attempt each.
    is_down: bool,
}

impl Batches {
    async fn run(mut self, mut spans: Receiver<Span>) {
        let timing = self.options.timing;
        let mut batch = Vec::new();
        loop {
            tokio::select! {
                () = self.stop.cancelled() => break,
                is_open = gather(&mut spans, &mut batch, &timing) => if !is_open { break },
            }
            self.deliver(&mut batch).await;
        }
        spans.close();
        while !batch.is_empty() || spans.recv_many(&mut batch, timing.batch).await > 0 {
            self.deliver(&mut batch).await;
        }
    }

    /// Sends a batch, with a few attempts, and clears it.
    async fn deliver(&mut self, batch: &mut Vec<Span>) {
        self.wall.update(self.options.clock.as_ref());
        let body = payload::encode(batch, &self.options, &self.wall);
        let count = batch.len() as u64;
        batch.clear();
        match self.attempts(body).await {
            Ok(rejected) => {
                counts::exported(count.saturating_sub(rejected));
                counts::dropped(Loss::Rejected, rejected.min(count));
                if std::mem::take(&mut self.is_down) {
                    tracing::info!("spans of traces are sent again");
                }
            }
            Err(error) => {
                let loss = if error.is_temporary() { Loss::Unavailable } else { Loss::Rejected };
                counts::dropped(loss, count);
                if !std::mem::replace(&mut self.is_down, true) {
                    tracing::warn!(error = &error as &dyn std::error::Error, "spans of traces are dropped");
                }
            }
        }
    }

    async fn attempts(&self, body: Vec<u8>) -> Result<u64, CollectorError> {
        let timing = &self.options.timing;
        let most = if self.is_down { 1 } else { timing.attempts };
        let mut back_off = timing.back_off;
        for _ in 1..most {
            match self.collector.send(body.clone()).await {
                Err(error) if error.is_temporary() && !self.stop.is_cancelled() => {
                    let delay = error.retry_after().unwrap_or(back_off).min(timing.max_back_off);
                    back_off = back_off.saturating_mul(2);
                    tokio::select! {
                        () = sleep(delay) => {}
                        () = self.stop.cancelled() => {}
                    }
                }
                outcome => return outcome,
            }
        }
        self.collector.send(body).await
    }
}

/// Fills a batch, and waits for more spans while it is small. Returns false if there will be none. Spans stay in the batch if the
/// future is dropped.
async fn gather(spans: &mut Receiver<Span>, batch: &mut Vec<Span>, timing: &Timing) -> bool {
    if batch.is_empty() && spans.recv_many(batch, timing.batch).await == 0 {
        return false;
    }
    let until = Instant::now() + timing.delay;
    while batch.len() < timing.batch {
        let room = timing.batch - batch.len();
        match timeout_at(until, spans.recv_many(batch, room)).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    true
}
