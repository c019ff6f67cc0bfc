//! Requests of a bystander at a fixed rate.

use crate::bench::samples::Samples;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Step of a wait, so that the end of a phase is noticed.
const STEP: Duration = Duration::from_millis(20);

/// Repeated request of a bystander.
pub struct Probe<'a> {
    pub name: &'static str,
    interval: Duration,
    /// Sends the request with this number.
    ask: Box<dyn Fn(usize) -> anyhow::Result<()> + Send + Sync + 'a>,
    next: AtomicUsize,
}

/// Latencies of a probe during one phase.
#[derive(Default)]
pub struct Phase {
    pub latencies: Samples,
    pub failed: usize,
    /// First failure.
    pub error: Option<String>,
}

impl<'a> Probe<'a> {
    /// Creates a probe that sends a request per `interval`.
    pub fn new(
        name: &'static str,
        interval: Duration,
        ask: impl Fn(usize) -> anyhow::Result<()> + Send + Sync + 'a,
    ) -> Self {
        Self { name, interval, ask: Box::new(ask), next: AtomicUsize::new(0) }
    }

    /// Sends requests until `over`, one at a time.
    ///
    /// A latency counts from the time at which the request was due, so that a slow response also delays the requests that
    /// wait for it. Requests that are due but not sent at the end count with their delay until then.
    pub fn run(&self, over: &AtomicBool) -> Phase {
        let mut phase = Phase::default();
        let mut due = Instant::now();
        while !over.load(Ordering::Relaxed) {
            let wait = due.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                std::thread::sleep(wait.min(STEP));
                continue;
            }
            let answer = (self.ask)(self.next.fetch_add(1, Ordering::Relaxed));
            phase.latencies.push(due.elapsed());
            if let Err(error) = answer {
                phase.failed += 1;
                phase.error.get_or_insert(format!("{error:#}"));
            }
            due += self.interval;
        }
        let end = Instant::now();
        while due < end {
            phase.latencies.push(end - due);
            due += self.interval;
        }
        phase
    }
}

#[cfg(test)]
mod tests {
    use super::Probe;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    #[test]
    fn slow_response_delays_the_requests_behind_it() {
        let over = AtomicBool::new(false);
        let interval = Duration::from_millis(10);
        // Only the first response is slow, and the phase ends with it.
        let probe = Probe::new("slow", interval, |_| {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(95) {
                std::hint::spin_loop();
            }
            over.store(true, Ordering::Relaxed);
            anyhow::bail!("refused")
        });
        let phase = probe.run(&over);
        assert!((9..=12).contains(&phase.latencies.len()), "{}", phase.latencies.len());
        assert!(phase.latencies.median() >= Duration::from_millis(40), "{:?}", phase.latencies.median());
        assert_eq!((phase.failed, phase.error.as_deref()), (1, Some("refused")));
    }
}
