//! Load of thousands of concurrent clients from one thread, which costs the machine little beside the server.

mod exchange;
mod tally;

pub use tally::Tally;

use super::check_interrupt;
use exchange::{Exchange, Progress};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tally::Answer;

/// Interval of timeouts and delayed starts: their maximum error.
const TICK: Duration = Duration::from_millis(5);
/// Delay after a refusal without `Retry-After`, as of official clients.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// Delay after a failed connection.
const RECONNECT_DELAY: Duration = Duration::from_millis(100);

/// Clients that repeat requests, each on its own connection.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    pub address: SocketAddr,
    /// Requests, which the clients take in turn; at least one.
    pub requests: &'a [Vec<u8>],
    pub clients: usize,
    /// Timeout of a request, after which its client disconnects and tries again.
    pub timeout: Duration,
    /// Time in which requests start. Requests in progress are awaited.
    pub time: Duration,
    pub refusal: Refusal,
}

/// Reaction to a response other than 200.
#[derive(Clone, Copy)]
pub enum Refusal {
    /// Waits as long as `Retry-After` says, or half a second.
    Obey,
    /// Tries again when the timeout of the refused request would have expired.
    Insist,
}

struct Client {
    stream: Option<TcpStream>,
    state: State,
}

enum State {
    Resting { until: Instant },
    Asking(Box<Exchange>),
}

struct Swarm<'a> {
    load: &'a Load<'a>,
    poll: Poll,
    clients: Vec<Client>,
    begun: Instant,
    next: usize,
    buffer: Vec<u8>,
    tally: Tally,
}

/// Runs a load to its end.
///
/// # Errors
///
/// Returns an error if the system has no descriptors left or a signal interrupts the load.
pub fn run(load: &Load<'_>) -> anyhow::Result<Tally> {
    let begun = Instant::now();
    let client = || Client { stream: None, state: State::Resting { until: begun } };
    let clients = std::iter::repeat_with(client).take(load.clients).collect();
    let swarm =
        Swarm { load, poll: Poll::new()?, clients, begun, next: 0, buffer: vec![0; 64 << 10], tally: Tally::default() };
    swarm.run()
}

impl Swarm<'_> {
    fn run(mut self) -> anyhow::Result<Tally> {
        let mut events = Events::with_capacity(1_024);
        let mut ticked = None::<Instant>;
        loop {
            let now = Instant::now();
            if ticked.is_none_or(|ticked| now - ticked >= TICK) {
                check_interrupt()?;
                ticked = Some(now);
                if !self.tick(now)? {
                    return Ok(self.tally);
                }
            }
            match self.poll.poll(&mut events, Some(TICK)) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
                _ => (),
            }
            for event in &events {
                let at = event.token().0;
                match self.clients[at].state {
                    State::Asking(_) => self.advance(at)?,
                    // The server closed an idle connection.
                    State::Resting { .. } => self.clients[at].stream = None,
                }
            }
        }
    }

    /// Starts due requests and ends late ones. Returns false after the end of the last request.
    fn tick(&mut self, now: Instant) -> anyhow::Result<bool> {
        let mut active = now - self.begun < self.load.time;
        for at in 0..self.clients.len() {
            match &self.clients[at].state {
                State::Resting { until } if *until <= now => {
                    if self.start(at, now)? {
                        self.advance(at)?;
                    }
                }
                State::Resting { .. } => (),
                State::Asking(exchange) if now - exchange.begun < self.load.timeout => active = true,
                State::Asking(_) => self.give_up(at, now)?,
            }
        }
        Ok(active)
    }

    /// Gives a client its next request, unless the load is over. Returns true if its connection can take it at once.
    fn start(&mut self, at: usize, now: Instant) -> anyhow::Result<bool> {
        let client = &mut self.clients[at];
        if now - self.begun >= self.load.time {
            client.state = State::Resting { until: now };
            return Ok(false);
        }
        let reused = client.stream.is_some();
        if client.stream.is_none() {
            let mut stream = TcpStream::connect(self.load.address)?;
            let _ = stream.set_nodelay(true);
            self.poll.registry().register(&mut stream, Token(at), Interest::READABLE | Interest::WRITABLE)?;
            client.stream = Some(stream);
        }
        let request = self.next % self.load.requests.len();
        self.next += 1;
        client.state = State::Asking(Box::new(Exchange::new(request, reused, now)));
        // A new connection reports that it can be written.
        Ok(reused)
    }

    /// Sends and receives until the client has to wait. A fast server answers many requests before that.
    fn advance(&mut self, at: usize) -> anyhow::Result<()> {
        loop {
            let goes_on = match self.attempt(at) {
                Progress::Pending => false,
                Progress::Complete => self.complete(at)?,
                Progress::Lost => self.lose(at)?,
            };
            if !goes_on {
                return Ok(());
            }
        }
    }

    fn attempt(&mut self, at: usize) -> Progress {
        let client = &mut self.clients[at];
        match (&mut client.state, &mut client.stream) {
            (State::Asking(exchange), Some(stream)) => {
                let request = &self.load.requests[exchange.request];
                exchange.advance(stream, request, &mut self.buffer)
            }
            _ => Progress::Pending,
        }
    }

    /// Records an answer. Returns true if the next request can be sent at once.
    fn complete(&mut self, at: usize) -> anyhow::Result<bool> {
        let now = Instant::now();
        let client = &mut self.clients[at];
        let State::Asking(exchange) = &client.state else { return Ok(false) };
        let (status, begun) = (exchange.response.status, exchange.begun);
        let retry_after = exchange.response.retry_after;
        if exchange.response.closes {
            client.stream = None;
        }
        self.tally.answers.push(Answer { status, took: now - begun, at: now - self.begun });
        if status == 200 {
            client.state = State::Resting { until: now };
            return self.start(at, now);
        }
        let until = match self.load.refusal {
            Refusal::Obey => now + retry_after.unwrap_or(RETRY_DELAY),
            Refusal::Insist => begun + self.load.timeout,
        };
        client.state = State::Resting { until };
        Ok(false)
    }

    /// Records a lost connection. Returns true if a request can be sent at once.
    fn lose(&mut self, at: usize) -> anyhow::Result<bool> {
        let now = Instant::now();
        let client = &mut self.clients[at];
        client.stream = None;
        let unseen = matches!(&client.state, State::Asking(exchange) if exchange.is_unseen());
        client.state = State::Resting { until: now + RECONNECT_DELAY };
        if unseen {
            return self.start(at, now);
        }
        self.tally.lost += 1;
        Ok(false)
    }

    /// Disconnects a client whose time is up, unless its response has just arrived.
    fn give_up(&mut self, at: usize, now: Instant) -> anyhow::Result<()> {
        let goes_on = if matches!(self.attempt(at), Progress::Complete) {
            self.complete(at)?
        } else {
            self.tally.timed_out += 1;
            self.clients[at].stream = None;
            self.start(at, now)?
        };
        if goes_on { self.advance(at) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::{Load, Refusal, run};
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener};
    use std::time::Duration;

    /// Answers every request of every connection with `response`; an empty one is silence.
    fn serve(response: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                std::thread::spawn(move || {
                    let mut buffer = [0; 1_024];
                    while stream.read(&mut buffer).is_ok_and(|count| count > 0) {
                        stream.write_all(response.as_bytes()).unwrap();
                    }
                });
            }
        });
        address
    }

    fn load(address: SocketAddr, requests: &[Vec<u8>]) -> Load<'_> {
        let (timeout, time) = (Duration::from_millis(40), Duration::from_millis(100));
        Load { address, requests, clients: 20, timeout, time, refusal: Refusal::Insist }
    }

    #[test]
    fn answers_are_counted_by_status() {
        let requests = [crate::bench::wire::request("h", "/", "k", b"")];
        let all = run(&load(serve("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"), &requests)).unwrap();
        assert!(all.answered() >= 20 && all.refusals().is_empty(), "{}", all.answered());
        let none = run(&load(serve("HTTP/1.1 503 X\r\ncontent-length: 0\r\n\r\n"), &requests)).unwrap();
        assert_eq!(none.answered(), 0);
        // A refused client tries again at its timeout only.
        assert!((20..=80).contains(&none.refusals()[&503]), "{:?}", none.refusals());
    }

    #[test]
    fn clients_of_a_silent_server_time_out() {
        let requests = [crate::bench::wire::request("h", "/", "k", b"")];
        let silent = run(&load(serve(""), &requests)).unwrap();
        assert!(silent.answers.is_empty() && silent.timed_out >= 20, "{}", silent.timed_out);
    }
}
