use std::time::Duration;

use ipnet::IpNet;

/// Options of a fetcher. [`FetcherOptions::new`] sets limits that suit pages written for people.
#[derive(Clone, Debug)]
pub struct FetcherOptions {
    /// `User-Agent` header. Should name the program and a contact.
    pub user_agent: String,
    /// Product token that selects groups in robots.txt (RFC 9309, 2.2.1): letters, `-` and `_`.
    pub robots_token: String,
    /// Honour robots.txt.
    pub respect_robots: bool,
    /// Permitted networks besides the public ones, for an intranet. An IPv4 network also opens the IPv4-mapped form of
    /// its addresses. If empty, host names without a dot are refused without a lookup.
    pub allow_networks: Vec<IpNet>,
    /// Permitted ports below 1024 besides 80 and 443.
    pub allow_ports: Vec<u16>,
    /// Trusted certificate authorities besides the public and the system's ones: PEM bundles.
    pub root_certificates: Vec<Vec<u8>>,
    pub time_limits: TimeLimits,
    /// Maximum size of a decompressed body, in bytes.
    pub max_bytes: usize,
    /// Maximum number of redirects per page.
    pub max_redirects: usize,
    /// Maximum number of concurrent fetches over all hosts. One organization has at most a third of them.
    pub max_concurrent: usize,
    /// Maximum number of fetches of one organization that wait for a host, and that wait for one of the concurrent fetches.
    pub max_waiting: usize,
    pub politeness: Politeness,
}

/// Timeouts of a fetch.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimits {
    /// Name lookup, connect and TLS handshake. With robots.txt, two fifths of `total` at most.
    pub connect: Duration,
    /// From the connection to the response headers.
    pub first_byte: Duration,
    /// The whole fetch: robots.txt, the host's delay, all redirects and the body. Waiting for permits does not count.
    pub total: Duration,
    /// Waiting for the permits of the host and of the fetcher, after which a fetch is refused. One whose start is further away,
    /// because of the host's delay, is refused at once.
    pub wait: Duration,
}

/// Limits per host.
#[derive(Clone, Copy, Debug)]
pub struct Politeness {
    /// Maximum number of concurrent requests. Of four and more, one organization has at most three quarters.
    pub concurrent: usize,
    /// Delay between the starts of two requests, unless robots.txt sets one.
    pub delay: Duration,
    /// Upper bound for `Crawl-delay`; longer delays are shortened to it.
    pub max_crawl_delay: Duration,
}

impl FetcherOptions {
    /// Creates default options for the program `product`, which is also its robots.txt token. `contact` is a URL or
    /// mail address for complaints of site operators.
    pub fn new(product: &str, version: &str, contact: Option<&str>) -> Self {
        let contact = contact.map(|contact| format!(" (+{contact})")).unwrap_or_default();
        Self {
            user_agent: format!("{product}/{version}{contact}"),
            robots_token: product.to_owned(),
            respect_robots: true,
            allow_networks: Vec::new(),
            allow_ports: Vec::new(),
            root_certificates: Vec::new(),
            time_limits: TimeLimits::default(),
            max_bytes: 16 * 1024 * 1024,
            max_redirects: 5,
            max_concurrent: 64,
            max_waiting: 64,
            politeness: Politeness::default(),
        }
    }
}

impl Default for TimeLimits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(5), first_byte: seconds(10), total: seconds(20), wait: seconds(8) }
    }
}

impl Default for Politeness {
    fn default() -> Self {
        Self { concurrent: 2, delay: Duration::from_millis(100), max_crawl_delay: Duration::from_secs(2) }
    }
}
