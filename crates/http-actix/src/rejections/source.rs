//! Address of the client of a request, as far as it is known for certain.

use std::net::{IpAddr, SocketAddr};

use actix_web::http::header::{HeaderMap, X_FORWARDED_FOR};
use connections::{is_trusted, source};
use ipnet::IpNet;

/// Returns the address under which the client of a request is counted: the peer or, behind trusted proxies, the last address of
/// `X-Forwarded-For` that is none of theirs. `None` if all are trusted, or a proxy names no client.
pub(super) fn of(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> Option<IpAddr> {
    if !is_trusted(peer, trusted) {
        return Some(source(peer));
    }
    // Each proxy appends its peer, so what precedes an untrusted address is the client's word.
    let lists: Vec<_> = headers.get_all(X_FORWARDED_FOR).collect();
    let mut hops = lists.into_iter().rev().flat_map(|list| list.to_str().unwrap_or("?").rsplit(','));
    hops.find_map(|hop| match address(hop.trim()) {
        Some(address) if is_trusted(address, trusted) => None,
        other => Some(other),
    })?
    .map(source)
}

/// Parses an address, which some proxies write with a port.
fn address(text: &str) -> Option<IpAddr> {
    let unbracketed = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    unbracketed.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use actix_web::test::TestRequest;

    use super::*;

    fn found(peer: &str, lists: &[&str]) -> Option<String> {
        let mut request = TestRequest::get();
        for list in lists {
            request = request.append_header((X_FORWARDED_FOR, *list));
        }
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        of(peer.parse().unwrap(), request.to_http_request().headers(), &trusted).map(|address| address.to_string())
    }

    #[test]
    fn client_is_the_last_address_that_no_trusted_proxy_has() {
        for (peer, lists, expected) in [
            ("203.0.113.7", &[][..], Some("203.0.113.7")),
            // The word of a stranger.
            ("203.0.113.7", &["198.51.100.1"], Some("203.0.113.7")),
            ("127.0.0.1", &["198.51.100.1"], Some("198.51.100.1")),
            ("10.1.1.1", &["198.51.100.1, 203.0.113.7, 10.2.2.2"], Some("203.0.113.7")),
            ("10.1.1.1", &["198.51.100.1", "203.0.113.7"], Some("203.0.113.7")),
            ("10.1.1.1", &["203.0.113.7:4711"], Some("203.0.113.7")),
            ("10.1.1.1", &["[2001:db8:1:2:3::4]:80"], Some("2001:db8:1:2::")),
            ("10.1.1.1", &["2001:db8:1:2:3::4"], Some("2001:db8:1:2::")),
            ("10.1.1.1", &[], None),
            ("10.1.1.1", &["10.3.3.3"], None),
            ("10.1.1.1", &["203.0.113.7, unknown"], None),
        ] {
            assert_eq!(found(peer, lists).as_deref(), expected, "{peer} {lists:?}");
        }
    }
}
