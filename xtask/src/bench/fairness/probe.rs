//! Requests of a bystander at a fixed rate.

use crate::bench::client::Client;
use crate::bench::samples::Samples;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Step of a wait, so that the end of a phase is noticed.
const STEP: Duration = Duration::from_millis(20);
/// Connections of a probe, which take its requests in turn.
pub const CONNECTIONS: usize = 16;

/// Sends the request with this number.
type Ask<'a> = dyn Fn(&Client, usize) -> anyhow::Result<()> + Send + Sync + 'a;

/// Repeated request of a bystander.
pub struct Probe<'a> {
    pub name: &'static str,
    interval: Duration,
    clients: Vec<Client>,
    ask: Box<Ask<'a>>,
    next: AtomicUsize,
}

/// Latencies of a probe during one phase.
#[derive(Default)]
pub struct Phase {
    pub latencies: Samples,
    pub answered: usize,
    pub failed: usize,
    /// First failure.
    pub error: Option<String>,
}

impl Phase {
    fn add(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.answered += other.answered;
        self.failed += other.failed;
        self.error = self.error.take().or(other.error);
    }
}

impl<'a> Probe<'a> {
    /// Creates a probe that sends a request per `interval`, with each client in turn.
    pub fn new(
        name: &'static str,
        interval: Duration,
        clients: Vec<Client>,
        ask: impl Fn(&Client, usize) -> anyhow::Result<()> + Send + Sync + 'a,
    ) -> Self {
        Self { name, interval, clients, ask: Box::new(ask), next: AtomicUsize::new(0) }
    }

    /// Sends requests until `over`.
    ///
    /// A latency counts from the time at which the request was due, so that a slow response also delays the requests that
    /// wait for its connection. Requests that are due but not sent at the end count with their delay until then.
    pub fn run(&self, over: &AtomicBool) -> Phase {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0_u32..)
                .zip(&self.clients)
                .map(|(at, client)| {
                    let due = begun + self.interval * at;
                    scope.spawn(move || self.run_client(client, due, over))
                })
                .collect();
            let mut all = Phase::default();
            for thread in threads {
                let panicked = |_| Phase { failed: 1, error: Some("a probe panicked".to_owned()), ..Phase::default() };
                all.add(thread.join().unwrap_or_else(panicked));
            }
            all
        })
    }

    fn run_client(&self, client: &Client, mut due: Instant, over: &AtomicBool) -> Phase {
        let interval = self.interval * u32::try_from(self.clients.len()).unwrap_or(u32::MAX);
        let mut phase = Phase::default();
        while !over.load(Ordering::Relaxed) {
            let wait = due.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                std::thread::sleep(wait.min(STEP));
                continue;
            }
            let answer = (self.ask)(client, self.next.fetch_add(1, Ordering::Relaxed));
            phase.latencies.push(due.elapsed());
            match answer {
                Ok(()) => phase.answered += 1,
                Err(error) => {
                    phase.failed += 1;
                    phase.error.get_or_insert(format!("{error:#}"));
                }
            }
            due += interval;
        }
        let end = Instant::now();
        while due < end {
            phase.latencies.push(end - due);
            due += interval;
        }
        phase
    }
}

#[cfg(test)]
mod tests {
    use super::{Client, Probe};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    #[test]
    fn slow_response_delays_the_requests_behind_it() {
        let over = AtomicBool::new(false);
        let (interval, client) = (Duration::from_millis(10), Client::new("http://127.0.0.1:9", ""));
        // Only the first response is slow, and the phase ends with it.
        let probe = Probe::new("slow", interval, vec![client], |_, _| {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(95) {
                std::hint::spin_loop();
            }
            over.store(true, Ordering::Relaxed);
            anyhow::bail!("refused")
        });
        let phase = probe.run(&over);
        assert!(phase.latencies.len() >= 9, "{}", phase.latencies.len());
        assert!(phase.latencies.median() >= Duration::from_millis(40), "{:?}", phase.latencies.median());
        assert_eq!((phase.answered, phase.failed, phase.error.as_deref()), (0, 1, Some("refused")));
    }

    #[test]
    fn clients_take_requests_in_turn() {
        let over = AtomicBool::new(false);
        let clients = (0..4).map(|_| Client::new("http://127.0.0.1:9", "")).collect();
        let probe = Probe::new("quick", Duration::from_millis(5), clients, |_, number| {
            over.store(number >= 12, Ordering::Relaxed);
            Ok(())
        });
        let phase = probe.run(&over);
        assert!((13..=30).contains(&phase.answered), "{}", phase.answered);
        assert_eq!(phase.failed, 0);
    }
}
