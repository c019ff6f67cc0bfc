//! Redis servers for tests, and limiters on them.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rate_limit::{RateLimiter, SharedCounter};
use rate_limit_redis::{OnFailure, RedisLimiter, RedisLimiterOptions};
use tempfile::TempDir;

const VARIABLE: &str = "RATE_LIMIT_REDIS_URL";

/// `redis-server` of one test. Its port stays the same across restarts.
pub struct RedisServer {
    pub port: u16,
    arguments: Vec<String>,
    folder: TempDir,
    process: Option<Child>,
}

impl RedisServer {
    /// Starts a server. Returns `None` and prints a note if there is no `redis-server`.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        if Command::new("redis-server").arg("--version").stdout(Stdio::null()).status().is_err() {
            assert!(std::env::var_os("CI").is_none(), "CI is set, but there is no redis-server on the PATH");
            println!("NOT RUN: no redis-server on the PATH");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let mut server = Self { port, arguments, folder: tempfile::tempdir().unwrap(), process: None };
        server.resume();
        Some(server)
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Kills the server like a crash: nothing is saved.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    pub fn resume(&mut self) {
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--save", "", "--port", &self.port.to_string()]).args(&self.arguments);
        command.current_dir(self.folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
        self.process = Some(command.spawn().unwrap());
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(started.elapsed() < Duration::from_secs(20), "redis-server does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Redis that no test stops.
pub struct Shared {
    pub url: String,
    _server: Option<RedisServer>,
}

pub fn shared() -> Option<Shared> {
    if let Some(url) = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty()) {
        return Some(Shared { url, _server: None });
    }
    RedisServer::start(&[]).map(|server| Shared { url: server.url(), _server: Some(server) })
}

/// Returns a prefix unique to the test.
pub fn prefix() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let since = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    format!("test:{}:{since}:{}:", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

pub fn limiter(url: &str, prefix: &str, on_failure: OnFailure) -> Arc<RedisLimiter> {
    let options = RedisLimiterOptions { url: url.to_owned(), prefix: prefix.to_owned(), on_failure };
    Arc::new(RedisLimiter::new(options).unwrap())
}

/// Creates a limiter and waits until it is connected.
pub async fn connected(url: &str, prefix: &str, on_failure: OnFailure) -> Arc<RedisLimiter> {
    let limiter = limiter(url, prefix, on_failure);
    until("the limiter is connected", || limiter.shared_counter() == Some(SharedCounter::Up)).await;
    limiter
}

pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(20), "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
