use std::net::{Ipv4Addr, Ipv6Addr};

use actix_web::http::Uri;
use actix_web::http::header::{HeaderMap, ORIGIN};

/// The pages that may speak to us from a browser. A page of another site that has its name resolve to our address
/// ("DNS rebinding") sends its own origin along.
pub(crate) struct Origins {
    own_host: Option<String>,
    allowed: Vec<String>,
}

impl Origins {
    /// `allowed`: further origins, as browsers write them: `https://app.example`.
    pub fn new(public_url: &str, allowed: &[String]) -> Self {
        let allowed = allowed.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect();
        Self { own_host: host(public_url), allowed }
    }

    /// Whether a request with these headers may be answered. Programs send no origin.
    pub fn allow(&self, headers: &HeaderMap) -> bool {
        headers.get_all(ORIGIN).all(|origin| origin.to_str().is_ok_and(|origin| self.is_known(origin)))
    }

    fn is_known(&self, origin: &str) -> bool {
        let Some(host) = host(origin) else { return false };
        is_loopback(&host)
            || self.own_host.as_ref() == Some(&host)
            || self.allowed.contains(&origin.to_ascii_lowercase())
    }
}

/// The host of an `http` or `https` address.
fn host(address: &str) -> Option<String> {
    let uri: Uri = address.parse().ok()?;
    matches!(uri.scheme_str(), Some("http" | "https")).then_some(())?;
    Some(uri.host()?.to_ascii_lowercase())
}

/// The names of this machine itself, which no resolver can be made to lie about (RFC 6761).
fn is_loopback(host: &str) -> bool {
    let v6 = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    host == "localhost"
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || v6.and_then(|v6| v6.parse::<Ipv6Addr>().ok()).is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::Origins;

    #[test]
    fn only_known_hosts_are_let_in() {
        let origins = Origins::new("https://api.example.com", &["https://App.example:8443/".to_owned()]);
        for known in [
            "https://api.example.com",
            "https://API.example.com:8443",
            "http://localhost:5173",
            "http://127.0.0.1",
            "http://127.9.9.9:1",
            "http://[::1]:3000",
            "https://app.example:8443",
        ] {
            assert!(origins.is_known(known), "{known}");
        }
        for foreign in [
            "https://evil.example",
            "https://app.example",
            "http://app.example:8443",
            "https://api.example.com.evil.example",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://192.168.1.1",
            "http://0.0.0.0",
            "file://localhost",
            "null",
            "localhost",
            "",
        ] {
            assert!(!origins.is_known(foreign), "{foreign}");
        }
    }
}
