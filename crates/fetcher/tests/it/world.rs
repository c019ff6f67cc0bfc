//! Fetchers for tests, and the names they know.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use fetcher::{FetchError, FetchRequest, Fetched, FetchedPage, Fetcher, FetcherOptions, Resolver};

/// Names and their addresses, and how often each was looked up. Any other name does not exist.
#[derive(Default)]
pub struct Names {
    known: HashMap<String, Vec<IpAddr>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub fn new(names: &[(&str, &[&str])]) -> Arc<Self> {
        let addresses = |list: &[&str]| list.iter().map(|address| address.parse().unwrap()).collect();
        let known = names.iter().map(|(name, list)| ((*name).to_owned(), addresses(list))).collect();
        Arc::new(Self { known, asked: Mutex::default() })
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(host.to_owned());
        self.known.get(host).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Short limits, no robots.txt, and the loopback of IPv4 opened.
pub fn options() -> FetcherOptions {
    let mut options = FetcherOptions::new("example-bot", "1.0", Some("https://example.com/bot"));
    options.respect_robots = false;
    options.allow_networks = vec!["127.0.0.0/8".parse().unwrap()];
    options.max_bytes = 1024 * 1024;
    options.politeness.concurrent = 8;
    options.politeness.delay = Duration::ZERO;
    options.time_limits.connect = Duration::from_secs(2);
    options.time_limits.first_byte = Duration::from_secs(2);
    options.time_limits.whole = Duration::from_secs(10);
    options
}

/// With the names `a.test`, `b.test` and `site.test` for the loopback.
pub fn fetcher(options: FetcherOptions) -> Fetcher {
    let loopback: &[&str] = &["127.0.0.1"];
    let names = Names::new(&[("a.test", loopback), ("b.test", loopback), ("site.test", loopback)]);
    Fetcher::with_resolver(options, names).unwrap()
}

pub async fn fetch(fetcher: &Fetcher, url: impl Into<String>) -> Result<FetchedPage, FetchError> {
    match fetcher.fetch(&FetchRequest::new(url)).await? {
        Fetched::Page(page) => Ok(*page),
        Fetched::NotModified => panic!("nothing was known to be modified"),
    }
}

/// With the usual options.
pub async fn fetch_once(url: impl Into<String>) -> Result<FetchedPage, FetchError> {
    fetch(&fetcher(options()), url).await
}
