//! Requests at full speed: by one client, one after the other, and by several at the same time.

use super::client::Client;
use super::go_on;
use super::samples::Samples;
use indicatif::ProgressBar;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What came of a load of searches.
#[derive(Default)]
pub struct Outcome {
    pub latencies: Samples,
    /// From the first request to the last answer.
    pub elapsed: Duration,
    /// Answers that hold a result at all.
    pub with_results: usize,
    /// Bytes of all bodies.
    pub bytes: usize,
}

impl Outcome {
    fn search(&mut self, client: &Client, body: &[u8]) -> anyhow::Result<()> {
        let begun = Instant::now();
        let answer = client.post("/v1/search", body)?;
        self.latencies.push(begun.elapsed());
        self.bytes += answer.len();
        // The first of the results: a search of the text is cheap, beside other clients that are being measured.
        self.with_results += usize::from(answer.windows(8).any(|part| part == b"\"rank\":1"));
        Ok(())
    }

    fn add(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.with_results += other.with_results;
        self.bytes += other.bytes;
    }
}

/// Sends `count` searches, round and round through `bodies`, which must not be empty.
///
/// # Errors
///
/// When one of them fails, or somebody stops us.
pub fn one_client(client: &Client, bodies: &[Vec<u8>], count: usize, bar: &ProgressBar) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::default();
    let begun = Instant::now();
    for body in bodies.iter().cycle().take(count) {
        go_on()?;
        outcome.search(client, body)?;
        bar.inc(1);
    }
    outcome.elapsed = begun.elapsed();
    Ok(outcome)
}

/// Searches with all `clients` at the same time, each as fast as it is answered, for `time`.
///
/// # Errors
///
/// When one of the searches fails, or somebody stops us.
pub fn many_clients(clients: Vec<Client>, bodies: &[Vec<u8>], time: Duration) -> anyhow::Result<Outcome> {
    let (start, next) = (Barrier::new(clients.len() + 1), AtomicUsize::new(0));
    let work = |client: Client| -> anyhow::Result<Outcome> {
        let mut outcome = Outcome::default();
        // The connection is opened before the clock runs.
        let warm = outcome.search(&client, &bodies[0]);
        outcome = Outcome::default();
        start.wait();
        warm?;
        let begun = Instant::now();
        while begun.elapsed() < time {
            go_on()?;
            outcome.search(&client, &bodies[next.fetch_add(1, Ordering::Relaxed) % bodies.len()])?;
        }
        Ok(outcome)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = clients.into_iter().map(|client| scope.spawn(|| work(client))).collect();
        start.wait();
        let begun = Instant::now();
        let mut all = Outcome::default();
        for thread in threads {
            all.add(thread.join().map_err(|_| anyhow::anyhow!("a client panicked"))??);
        }
        all.elapsed = begun.elapsed();
        Ok(all)
    })
}
