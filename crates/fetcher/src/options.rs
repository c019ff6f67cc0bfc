use std::time::Duration;

use ipnet::IpNet;

/// What a fetcher may do, and as whom. [`FetcherOptions::new`] makes one with limits fit for pages read by people.
#[derive(Clone, Debug)]
pub struct FetcherOptions {
    /// Sent as `User-Agent`. Honest: names the program, and whom to write to.
    pub user_agent: String,
    /// The product token that groups of robots.txt are looked up by (RFC 9309, 2.2.1): letters, `-` and `_`.
    pub robots_token: String,
    /// Whether robots.txt decides what is fetched.
    pub respect_robots: bool,
    /// Networks opened although they are not public, for an intranet. A range of IPv4 opens the IPv4-mapped form of its
    /// addresses, too. While there are none, names without a dot are refused unseen.
    pub allow_networks: Vec<IpNet>,
    /// Ports below 1024 opened besides 80 and 443.
    pub allow_ports: Vec<u16>,
    /// Certificate authorities trusted besides the public and the system's ones: PEM, one or several each.
    pub root_certificates: Vec<Vec<u8>>,
    pub time_limits: TimeLimits,
    /// The longest body, decompressed.
    pub max_bytes: usize,
    /// Redirects followed for one page.
    pub max_redirects: usize,
    /// Requests under way at a time, over all hosts.
    pub max_concurrent: usize,
    pub politeness: Politeness,
}

/// After which time a fetch is given up.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimits {
    /// For looking up the name, connecting and TLS.
    pub connect: Duration,
    /// From there to the head of the answer.
    pub first_byte: Duration,
    /// For everything: waiting for the host's turn, robots.txt, all redirects and the body.
    pub whole: Duration,
}

/// What one host is asked to bear.
#[derive(Clone, Copy, Debug)]
pub struct Politeness {
    /// Requests under way at a time.
    pub concurrent: usize,
    /// Between the starts of two requests, where robots.txt asks for nothing.
    pub delay: Duration,
    /// The longest `Crawl-delay` that is kept; a longer one is shortened to it.
    pub max_crawl_delay: Duration,
}

impl FetcherOptions {
    /// For a program called `product` (also its token in robots.txt) of some `version`. `contact` is a URL or a mail
    /// address at which the operator of a site can complain.
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
            politeness: Politeness::default(),
        }
    }
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), first_byte: Duration::from_secs(10), whole: Duration::from_secs(20) }
    }
}

impl Default for Politeness {
    fn default() -> Self {
        Self { concurrent: 2, delay: Duration::from_millis(100), max_crawl_delay: Duration::from_secs(2) }
    }
}
