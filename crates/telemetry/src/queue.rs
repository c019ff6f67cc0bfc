//! Bounded queue between the code that is measured and the exporter.

use tokio::sync::mpsc::{Receiver, Sender, channel};
use trace_context::{Recorder, Span};

use crate::counts::{self, Loss};

/// Recorder that hands spans over to the exporter.
pub struct SpanQueue(Sender<Span>);

pub(crate) fn bounded(capacity: usize) -> (SpanQueue, Receiver<Span>) {
    let (sender, receiver) = channel(capacity.max(1));
    (SpanQueue(sender), receiver)
}

impl Recorder for SpanQueue {
    fn record(&self, span: Span) {
        // Full, or closed because the process stops.
        if self.0.try_send(span).is_err() {
            counts::dropped(Loss::QueueFull, 1);
        }
    }
}
