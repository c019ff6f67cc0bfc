//! Load of requests at full speed, by one client and by several concurrent ones.

use super::check_interrupt;
use super::client::Client;
use super::samples::Samples;
use indicatif::ProgressBar;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Endpoint, and the text that distinguishes a response with content from an empty one. Text search is cheap, so that
/// it does not disturb other clients.
#[derive(Clone, Copy)]
pub struct Kind {
    pub path: &'static str,
    pub mark: &'static [u8],
    /// Refusals of a busy server are counted. They fail the load otherwise.
    pub may_be_refused: bool,
}

/// Pause of a client after a refusal.
const AFTER_REFUSAL: Duration = Duration::from_millis(100);

pub const SEARCH_PATH: &str = "/v1/search";
pub const READ_PATH: &str = "/v1/document";

pub const SEARCH: Kind = Kind { path: SEARCH_PATH, mark: b"\"rank\":1", may_be_refused: false };
pub const SEARCH_AT_ANY_LOAD: Kind = Kind { may_be_refused: true, ..SEARCH };
pub const READ: Kind = Kind { path: READ_PATH, mark: b"\"content\":{", may_be_refused: false };

/// Result of a load.
#[derive(Default)]
pub struct Outcome {
    pub latencies: Samples,
    /// Time from the first request to the last response.
    pub elapsed: Duration,
    /// Number of responses with a result or content.
    pub with_results: usize,
    /// Size of all bodies in bytes.
    pub bytes: usize,
    /// Number of requests that the server refused because it was busy.
    pub refused: usize,
}

impl Outcome {
    fn send(&mut self, kind: Kind, client: &Client, body: &[u8]) -> anyhow::Result<()> {
        let begun = Instant::now();
        let answer = match kind.may_be_refused {
            true => client.post_or_refusal(kind.path, body)?,
            false => Some(client.post(kind.path, body)?),
        };
        let Some(answer) = answer else {
            self.refused += 1;
            std::thread::sleep(AFTER_REFUSAL);
            return Ok(());
        };
        self.latencies.push(begun.elapsed());
        self.bytes += answer.len();
        self.with_results += usize::from(answer.windows(kind.mark.len()).any(|part| part == kind.mark));
        Ok(())
    }

    fn add(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.with_results += other.with_results;
        self.bytes += other.bytes;
        self.refused += other.refused;
    }
}

/// Runs `work` for all clients concurrently.
///
/// # Errors
///
/// Returns the first error of a client.
pub fn run_concurrently(clients: &[Client], work: impl Fn(&Client) -> anyhow::Result<()> + Sync) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = clients.iter().map(|client| scope.spawn(|| work(client))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow::anyhow!("a client panicked"))?)
    })
}

/// Sends `count` requests, repeating `bodies`, which must not be empty.
///
/// # Errors
///
/// Returns an error if a request fails or a signal interrupts the load.
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
        check_interrupt()?;
        outcome.send(kind, client, body)?;
        bar.inc(1);
    }
    outcome.elapsed = begun.elapsed();
    Ok(outcome)
}

/// Sends requests from all `clients` concurrently at full speed for `time`.
///
/// # Errors
///
/// Returns an error if a request fails or a signal interrupts the load.
pub fn many_clients(kind: Kind, clients: Vec<Client>, bodies: &[Vec<u8>], time: Duration) -> anyhow::Result<Outcome> {
    many_balanced(kind, clients.into_iter().map(|client| vec![client]).collect(), bodies, time)
}

/// Like [`many_clients`], with several connections per client, which it uses in turn, as through a load balancer.
///
/// # Errors
///
/// Returns an error if a request fails or a signal interrupts the load.
pub fn many_balanced(
    kind: Kind,
    clients: Vec<Vec<Client>>,
    bodies: &[Vec<u8>],
    time: Duration,
) -> anyhow::Result<Outcome> {
    let (start, next) = (Barrier::new(clients.len() + 1), AtomicUsize::new(0));
    let work = |connections: Vec<Client>| -> anyhow::Result<Outcome> {
        let mut outcome = Outcome::default();
        // Opens the connections before the measurement.
        let warm = connections.iter().try_for_each(|connection| outcome.send(kind, connection, &bodies[0]));
        outcome = Outcome::default();
        start.wait();
        warm?;
        let begun = Instant::now();
        for connection in connections.iter().cycle() {
            if begun.elapsed() >= time {
                break;
            }
            check_interrupt()?;
            outcome.send(kind, connection, &bodies[next.fetch_add(1, Ordering::Relaxed) % bodies.len()])?;
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::{Client, SEARCH, many_balanced};
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// Starts a server that answers each request of one connection. Returns its base URL and its number of requests.
    fn server() -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            let mut received = Vec::new();
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut chunk) {
                received.extend_from_slice(&chunk[..length]);
                // The body ends each request.
                if received.ends_with(b"{}") {
                    received.clear();
                    counted.fetch_add(1, Ordering::Relaxed);
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
                }
            }
        });
        (base, requests)
    }

    #[test]
    fn client_uses_its_connections_in_turn() {
        let servers = [server(), server()];
        let connections = servers.iter().map(|(base, _)| Client::new(base, "key")).collect();
        many_balanced(SEARCH, vec![connections], &[b"{}".to_vec()], Duration::from_millis(50)).unwrap();
        let [first, second] = servers.map(|(_, requests)| requests.load(Ordering::Relaxed));
        assert!(first > 1 && first.abs_diff(second) <= 1, "{first} and {second}");
    }
}
