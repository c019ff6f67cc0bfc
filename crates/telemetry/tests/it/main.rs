//! Exporter and collectors of all kinds: healthy, refusing, stalled, dead.
#![expect(clippy::unwrap_used, reason = "tests")]

mod collector;
mod delivery;
mod outages;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::SystemClock;
use telemetry::{ExporterOptions, Timing};
use trace_context::{Span, SpanKind};

/// Deadline of everything that takes milliseconds.
const DEADLINE: Duration = Duration::from_secs(30);

fn options(url: &str) -> ExporterOptions {
    ExporterOptions {
        url: url.to_owned(),
        header: None,
        service: "retrieval".to_owned(),
        version: "1.2.3".to_owned(),
        instance: "a".to_owned(),
        clock: Arc::new(SystemClock),
        timing: Timing {
            delay: Duration::from_millis(5),
            back_off: Duration::from_millis(1),
            max_back_off: Duration::from_millis(5),
            ..Timing::default()
        },
    }
}

fn span(name: impl Into<Cow<'static, str>>) -> Span {
    let started = Instant::now();
    Span {
        trace_id: 7,
        span_id: 8,
        parent: None,
        name: name.into(),
        kind: SpanKind::Internal,
        started,
        ended: started + Duration::from_millis(3),
        failed: false,
        attributes: vec![],
    }
}
