//! Fetchers and a resolver for tests.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use fetcher::{FetchError, FetchRequest, Fetched, FetchedPage, Fetcher, FetcherOptions, Resolver};
use model::OrganizationId;
use uuid::Uuid;

/// Resolver with fixed names that records its lookups. Other names do not exist.
#[derive(Default)]
pub struct FakeResolver {
    known: HashMap<String, Vec<IpAddr>>,
    lookups: Mutex<Vec<String>>,
}

impl FakeResolver {
    pub fn new(names: &[(&str, &[&str])]) -> Arc<Self> {
        let addresses = |list: &[&str]| list.iter().map(|address| address.parse().unwrap()).collect();
        let known = names.iter().map(|(name, list)| ((*name).to_owned(), addresses(list))).collect();
        Arc::new(Self { known, lookups: Mutex::default() })
    }

    pub fn lookups(&self) -> Vec<String> {
        self.lookups.lock().unwrap().clone()
    }
}

#[async_trait]
impl Resolver for FakeResolver {
    async fn resolve(&self, host: &str, _: OrganizationId) -> io::Result<Vec<IpAddr>> {
        self.lookups.lock().unwrap().push(host.to_owned());
        self.known.get(host).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Resolver that records for whom names are looked up, and finds all of them on loopback.
#[derive(Default)]
pub struct Recorder(Mutex<Vec<OrganizationId>>);

impl Recorder {
    pub fn organizations(&self) -> Vec<OrganizationId> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl Resolver for Recorder {
    async fn resolve(&self, _: &str, organization: OrganizationId) -> io::Result<Vec<IpAddr>> {
        self.0.lock().unwrap().push(organization);
        Ok(vec![Ipv4Addr::LOCALHOST.into()])
    }
}

/// Options with short timeouts, without robots.txt, and with IPv4 loopback opened.
pub fn options() -> FetcherOptions {
    let mut options = FetcherOptions::new("example-bot", "1.0", Some("https://example.com/bot"));
    options.respect_robots = false;
    options.allow_networks = vec!["127.0.0.0/8".parse().unwrap()];
    options.max_bytes = 1024 * 1024;
    options.politeness.concurrent = 8;
    options.politeness.delay = Duration::ZERO;
    options.time_limits.connect = Duration::from_secs(2);
    options.time_limits.first_byte = Duration::from_secs(2);
    options.time_limits.total = Duration::from_secs(10);
    options
}

/// Fetcher that resolves `a.test`, `b.test` and `site.test` to loopback.
pub fn fetcher(options: FetcherOptions) -> Fetcher {
    let loopback: &[&str] = &["127.0.0.1"];
    let names = FakeResolver::new(&[("a.test", loopback), ("b.test", loopback), ("site.test", loopback)]);
    Fetcher::with_resolver(options, names).unwrap()
}

pub const ORGANIZATION: OrganizationId = OrganizationId(Uuid::from_u128(1));
pub const OTHER: OrganizationId = OrganizationId(Uuid::from_u128(2));

pub async fn fetch(fetcher: &Fetcher, url: impl Into<String>) -> Result<FetchedPage, FetchError> {
    fetch_for(ORGANIZATION, fetcher, url).await
}

pub async fn fetch_for(
    organization: OrganizationId,
    fetcher: &Fetcher,
    url: impl Into<String>,
) -> Result<FetchedPage, FetchError> {
    match fetcher.fetch(&FetchRequest::new(organization, url)).await? {
        Fetched::Page(page) => Ok(*page),
        Fetched::NotModified => panic!("nothing was known to be modified"),
    }
}

/// Fetches with the default test options.
pub async fn fetch_once(url: impl Into<String>) -> Result<FetchedPage, FetchError> {
    fetch(&fetcher(options()), url).await
}

/// Address that answers no connection: its backlog is full of connections that nobody accepts.
pub struct Unresponsive {
    pub address: SocketAddr,
    listener: TcpListener,
    _waiting: Vec<TcpStream>,
}

impl Unresponsive {
    /// Listens on an address, with port 0 on a free port of it.
    pub fn start(address: (&str, u16)) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting = Vec::new();
        while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
            waiting.push(stream);
            assert!(waiting.len() < 10_000, "the backlog is unlimited on this system");
        }
        Self { address, listener, _waiting: waiting }
    }

    /// Returns the listener, which answers from now on.
    pub fn into_listener(self) -> tokio::net::TcpListener {
        self.listener.set_nonblocking(true).unwrap();
        while self.listener.accept().is_ok() {}
        tokio::net::TcpListener::from_std(self.listener).unwrap()
    }
}
