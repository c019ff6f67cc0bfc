//! Base URLs without a scheme.

use openapi::{Host, Reach};

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
    if text.contains("://") {
        return None;
    }
    let host = Host::parse(text.split(['/', '?', '#']).next()?)?;
    match host.reach {
        _ if host.is_single_word && !host.has_port => None,
        Reach::Loopback | Reach::Private => Some("http"),
        Reach::Public => Some("https"),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_same_service, with_scheme};

    #[test]
    fn scheme_depends_on_the_host() {
        for plain in ["localhost:8080", "LOCALHOST", "192.168.1.5/api", "[::1]:8080", "retrieval:8080", "nas.local"] {
            assert_eq!(with_scheme(plain), format!("http://{plain}"));
        }
        for public in ["search.example.com", "search.example.com:8443/api", "8.8.8.8:80", "[2001:db8::1]", "münchen.de"]
        {
            assert_eq!(with_scheme(public), format!("https://{public}"));
        }
    }

    #[test]
    fn other_text_is_unchanged() {
        let others =
            ["", "rk_secret", "http://a", "HTTPS://a.b", "ftp://a.b", "a@b.c", "a.b:x", "a..b", ":80", "::1", "http:"];
        for text in others {
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
