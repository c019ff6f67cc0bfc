//! Counts of spans that left the process, and of those that did not.

use metrics::counter;

const EXPORTED: &str = "retrieval_trace_spans_exported_total";
const DROPPED: &str = "retrieval_trace_spans_dropped_total";

/// Reason for the loss of spans.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Loss {
    /// They are made faster than the collector takes them.
    QueueFull,
    /// The collector gave no answer, or asked for more attempts than there are.
    Unavailable,
    /// The collector refused them for good.
    Rejected,
}

impl Loss {
    const ALL: [Self; 3] = [Loss::QueueFull, Loss::Unavailable, Loss::Rejected];

    fn as_str(self) -> &'static str {
        match self {
            Loss::QueueFull => "queue_full",
            Loss::Unavailable => "unavailable",
            Loss::Rejected => "rejected",
        }
    }
}

/// Makes the counters known to the first scrape.
pub fn register_metrics() {
    exported(0);
    Loss::ALL.into_iter().for_each(|loss| dropped(loss, 0));
}

pub fn exported(spans: u64) {
    counter!(EXPORTED).increment(spans);
}

pub fn dropped(loss: Loss, spans: u64) {
    counter!(DROPPED, "reason" => loss.as_str()).increment(spans);
}
