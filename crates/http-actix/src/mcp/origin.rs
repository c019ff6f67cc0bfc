use std::net::{Ipv4Addr, Ipv6Addr};

use actix_web::http::Uri;
use actix_web::http::header::{HeaderMap, ORIGIN};

/// Origins of web pages that may use `/mcp`. They protect against DNS rebinding: a page of another site whose name resolves
/// to this server sends its own origin.
pub(crate) struct Origins {
    own_host: Option<String>,
    allowed: Vec<String>,
}

impl Origins {
    /// Allows the host of `public_url`, loopback hosts, and `allowed` origins such as `https://app.example`.
    pub fn new(public_url: &str, allowed: &[String]) -> Self {
        let allowed = allowed.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect();
        Self { own_host: host(public_url), allowed }
    }

    /// True if the headers have no origin, as from programs, or a known one.
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

/// Returns the host of an `http` or `https` URL.
fn host(address: &str) -> Option<String> {
    let uri: Uri = address.parse().ok()?;
    matches!(uri.scheme_str(), Some("http" | "https")).then_some(())?;
    Some(uri.host()?.to_ascii_lowercase())
}

/// True for names of the local machine, which no resolver can redirect (RFC 6761).
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
    fn only_known_hosts_are_allowed() {
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
