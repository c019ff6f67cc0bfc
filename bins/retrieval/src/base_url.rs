//! Base URLs without a scheme.

use std::net::IpAddr;

/// Adds the scheme to an address such as `localhost:8080` or `search.example.com`: `http` for this machine and private
/// networks, otherwise `https`. Other text is returned as it is: it may be a key in the wrong place, which must not become a
/// host name that is looked up and shown.
pub fn with_scheme(text: &str) -> String {
    let text = text.trim();
    match scheme(text) {
        Some(scheme) => format!("{scheme}://{text}"),
        None => text.to_owned(),
    }
}

/// Returns true if both addresses name one service.
pub fn is_same_service(a: &str, b: &str) -> bool {
    let [a, b] = [a, b].map(with_scheme);
    a.trim_end_matches('/') == b.trim_end_matches('/')
}

fn scheme(text: &str) -> Option<&'static str> {
    if text.contains("://") || text.contains(['@', '\\']) || text.contains(char::is_whitespace) {
        return None;
    }
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    if let Ok(address) = authority.parse::<IpAddr>() {
        // An IPv6 address needs brackets in a URL.
        return address.is_ipv4().then(|| of_address(address));
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let has_port = match port.strip_prefix(':') {
        Some(port) => port.parse::<u16>().ok().map(|_| true)?,
        None if port.is_empty() => false,
        None => return None,
    };
    if let Ok(address) = host.parse::<IpAddr>() {
        return Some(of_address(address));
    }
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_name = !host.is_empty() && host.split('.').all(|label| !label.is_empty());
    let is_single = !host.contains('.');
    let is_local = host == "localhost" || PRIVATE_ZONES.iter().any(|zone| host.ends_with(zone));
    match (is_name, is_local, is_single) {
        (false, ..) => None,
        (true, true, _) => Some("http"),
        (true, false, true) => has_port.then_some("http"),
        (true, false, false) => Some("https"),
    }
}

/// Names that the public DNS never resolves (RFC 6761, RFC 6762, RFC 8375, and `internal` by ICANN).
const PRIVATE_ZONES: [&str; 4] = [".localhost", ".local", ".home.arpa", ".internal"];

fn of_address(address: IpAddr) -> &'static str {
    let is_private = match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local(),
    };
    if is_private { "http" } else { "https" }
}

#[cfg(test)]
mod tests {
    use super::{is_same_service, with_scheme};

    #[test]
    fn scheme_depends_on_the_host() {
        for plain in [
            "localhost:8080",
            "LOCALHOST",
            "127.0.0.1:8080",
            "192.168.1.5/api",
            "10.0.0.1",
            "[::1]:8080",
            "[fd00::1]",
            "169.254.1.1",
            "retrieval:8080",
            "nas.local",
            "search.internal:81",
            "app.localhost",
        ] {
            assert_eq!(with_scheme(plain), format!("http://{plain}"));
        }
        for public in ["search.example.com", "search.example.com:8443/api", "8.8.8.8:80", "[2001:db8::1]", "münchen.de"]
        {
            assert_eq!(with_scheme(public), format!("https://{public}"));
        }
    }

    #[test]
    fn other_text_is_unchanged() {
        for text in [
            "",
            "rk_secret",
            "http://a",
            "HTTPS://a.b",
            "ftp://a.b",
            "a@b.c",
            "a.b:x",
            "a..b",
            ":80",
            "::1",
            "x y.z",
            "http:",
        ] {
            assert_eq!(with_scheme(text), text);
        }
        assert_eq!(with_scheme(" localhost:1 "), "http://localhost:1");
    }

    #[test]
    fn services_are_compared_with_their_scheme() {
        assert!(is_same_service("localhost:8080", "http://localhost:8080/"));
        assert!(!is_same_service("example.com", "http://example.com"));
    }
}
