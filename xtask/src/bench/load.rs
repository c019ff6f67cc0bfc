//! Requests at full speed: by one client, one after the other, and by several at the same time.

use super::client::Client;
use super::go_on;
use super::samples::Samples;
use indicatif::ProgressBar;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Request of a load, with the text by which a response with content differs from an empty one. Searching for a text is
/// cheap beside the clients that are measured.
#[derive(Clone, Copy)]
pub struct Kind {
    path: &'static str,
    mark: &'static [u8],
}

pub const SEARCH: Kind = Kind { path: "/v1/search", mark: b"\"rank\":1" };
pub const READ: Kind = Kind { path: "/v1/document", mark: b"\"content\":{" };

/// Result of a load of requests.
#[derive(Default)]
pub struct Outcome {
    pub latencies: Samples,
    /// From the first request to the last answer.
    pub elapsed: Duration,
    /// Answers that hold a result or the content.
    pub with_results: usize,
    /// Bytes of all bodies.
    pub bytes: usize,
}

impl Outcome {
    fn ask(&mut self, kind: Kind, client: &Client, body: &[u8]) -> anyhow::Result<()> {
        let begun = Instant::now();
        let answer = client.post(kind.path, body)?;
        self.latencies.push(begun.elapsed());
        self.bytes += answer.len();
        self.with_results += usize::from(answer.windows(kind.mark.len()).any(|part| part == kind.mark));
        Ok(())
    }

    fn add(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.with_results += other.with_results;
        self.bytes += other.bytes;
    }
}

/// Has every client do `work`, all at the same time.
///
/// # Errors
///
/// The first of theirs.
pub fn together(clients: &[Client], work: impl Fn(&Client) -> anyhow::Result<()> + Sync) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = clients.iter().map(|client| scope.spawn(|| work(client))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow::anyhow!("a client panicked"))?)
    })
}

/// Sends `count` requests, round and round through `bodies`, which must not be empty.
///
/// # Errors
///
/// When one of them fails, or somebody stops us.
pub fn one_client(
    kind: Kind,
    client: &Client,
    bodies: &[Vec<u8>],
    count: usize,
    bar: &ProgressBar,
) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::default();
    let begun = Instant::now();
    for body in bodies.iter().cycle().take(count) {
        go_on()?;
        outcome.ask(kind, client, body)?;
        bar.inc(1);
    }
    outcome.elapsed = begun.elapsed();
    Ok(outcome)
}

/// Asks with all `clients` at the same time, each as fast as it is answered, for `time`.
///
/// # Errors
///
/// When one of the requests fails, or somebody stops us.
pub fn many_clients(kind: Kind, clients: Vec<Client>, bodies: &[Vec<u8>], time: Duration) -> anyhow::Result<Outcome> {
    let (start, next) = (Barrier::new(clients.len() + 1), AtomicUsize::new(0));
    let work = |client: Client| -> anyhow::Result<Outcome> {
        let mut outcome = Outcome::default();
        // The connection is opened before the clock runs.
        let warm = outcome.ask(kind, &client, &bodies[0]);
        outcome = Outcome::default();
        start.wait();
        warm?;
        let begun = Instant::now();
        while begun.elapsed() < time {
            go_on()?;
            outcome.ask(kind, &client, &bodies[next.fetch_add(1, Ordering::Relaxed) % bodies.len()])?;
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
