//! Base URL of the service in texts for its readers.

use std::net::{Ipv4Addr, Ipv6Addr};

use actix_web::HttpRequest;
use actix_web::http::header::{HOST, HeaderMap};
use openapi::BaseUrl;

/// Longest `Host` that is repeated: a host name (RFC 1035, 2.3.4) and a port.
const MAX_HOST: usize = 253 + 6;

/// The configured base URL, and whether it is that of an unconfigured service.
pub(crate) struct Published {
    url: BaseUrl,
    /// Readers reach this address on the service's own machine only.
    is_local: bool,
}

impl Published {
    pub fn new(public_url: &str) -> Self {
        let url = BaseUrl::new(public_url).unwrap_or_else(BaseUrl::example);
        let is_local = is_local(&url);
        Published { url, is_local }
    }

    /// Returns the address for the reader of a text. Without a configured one that other machines can use, it is the address
    /// of the request, if it is one. Headers of proxies are ignored: anybody can send them.
    pub fn for_request(&self, request: &HttpRequest) -> BaseUrl {
        let requested = if self.is_local { requested(request.headers()) } else { None };
        requested.unwrap_or_else(|| self.url.clone())
    }

    /// True for the configured URL.
    pub fn is_configured(&self, url: &BaseUrl) -> bool {
        self.url == *url
    }
}

/// Returns the address in `Host`, of a plain connection: a proxy with TLS needs the configured URL.
fn requested(headers: &HeaderMap) -> Option<BaseUrl> {
    let mut hosts = headers.get_all(HOST);
    let (host, None) = (hosts.next()?.to_str().ok()?, hosts.next()) else { return None };
    is_host(host).then(|| BaseUrl::new(&format!("http://{host}"))).flatten()
}

/// True for a host name or address with an optional port.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, port)) if address.parse::<Ipv6Addr>().is_ok() => ("ipv6", port),
            _ => return false,
        },
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let is_port = |port: &str| port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    text.len() <= MAX_HOST && host.split('.').all(is_label) && (port.is_empty() || is_port(port))
}

fn is_local(url: &BaseUrl) -> bool {
    let authority = url.as_str().split("://").nth(1).unwrap_or_default();
    let authority = authority.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => {
            return rest
                .split(']')
                .next()
                .and_then(|host| host.parse().ok())
                .is_some_and(|host: Ipv6Addr| host.is_loopback());
        }
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse().is_ok_and(|host: Ipv4Addr| host.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::{Published, is_host};
    use actix_web::test::TestRequest;

    fn shown(public_url: &str, host: &str) -> String {
        let request = TestRequest::get().insert_header(("Host", host)).to_http_request();
        Published::new(public_url).for_request(&request).as_str().to_owned()
    }

    #[test]
    fn configured_address_wins_over_the_request() {
        for host in ["evil.example", "127.0.0.1:8080"] {
            assert_eq!(shown("https://search.example.com", host), "https://search.example.com");
            assert_eq!(shown("http://192.168.1.5:8080", host), "http://192.168.1.5:8080");
        }
    }

    #[test]
    fn unconfigured_service_shows_the_address_of_the_request() {
        for public_url in ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"] {
            assert_eq!(shown(public_url, "nas.local:8080"), "http://nas.local:8080");
            assert_eq!(shown(public_url, "[fd00::1]:8080"), "http://[fd00::1]:8080");
            assert_eq!(shown(public_url, "\"><script>"), public_url);
        }
    }

    #[test]
    fn host_is_a_name_or_address() {
        for host in ["localhost", "a-b.example:80", "10.0.0.1:65535", "[::1]", "my_service:1"] {
            assert!(is_host(host), "{host}");
        }
        let long = "a.".repeat(200);
        for host in [
            "", ":80", "a..b", "a:b", "a:", "a:99999", "a b", "a/b", "a@b", "a\"", "a'", "$(id)", "`id`", "[x]",
            "[::1", "[::1]x", "%41", "ü", &long,
        ] {
            assert!(!is_host(host), "{host}");
        }
    }
}
