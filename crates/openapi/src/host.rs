//! Host and port of an address.

use std::net::IpAddr;

/// Names that the public DNS never resolves (RFC 6761, RFC 6762, RFC 8375, and `internal` by ICANN).
const PRIVATE_ZONES: [&str; 4] = [".localhost", ".local", ".home.arpa", ".internal"];

/// Longest host name (RFC 1035, 2.3.4).
const MAX_NAME: usize = 253;

/// The networks from which a host can be reached.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// This machine.
    Loopback,
    /// A private network: a private or link-local address, a name of a private zone, or a name without a dot.
    Private,
    Public,
}

/// A host name or address with an optional port, such as `localhost:8080` or `[::1]`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Host {
    pub reach: Reach,
    pub has_port: bool,
    /// True for a name without a dot other than `localhost`.
    pub is_single_word: bool,
}

impl Host {
    /// Returns `None` for text that is no host. IPv6 addresses need brackets.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => rest.split_once(']')?,
            None => text.split_at(text.find(':').unwrap_or(text.len())),
        };
        let has_port = match port.strip_prefix(':') {
            Some(port) => port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok(),
            None => false,
        };
        if !has_port && !port.is_empty() {
            return None;
        }
        let address = name.parse::<IpAddr>().ok();
        if text.starts_with('[') != address.is_some_and(|address| address.is_ipv6()) {
            return None;
        }
        if let Some(address) = address {
            return Some(Host { reach: of_address(address), has_port, is_single_word: false });
        }
        let name = name.strip_suffix('.').unwrap_or(name).to_lowercase();
        let is_label =
            |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        if name.len() > MAX_NAME || !name.split('.').all(is_label) {
            return None;
        }
        let is_local = name == "localhost";
        let is_single_word = !is_local && !name.contains('.');
        let reach = match is_single_word || PRIVATE_ZONES.iter().any(|zone| name.ends_with(zone)) {
            _ if is_local || name.ends_with(".localhost") => Reach::Loopback,
            true => Reach::Private,
            false => Reach::Public,
        };
        Some(Host { reach, has_port, is_single_word })
    }
}

fn of_address(address: IpAddr) -> Reach {
    let is_private = match address {
        IpAddr::V4(address) => address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
    };
    match (address.is_loopback(), is_private) {
        (true, _) => Reach::Loopback,
        (false, true) => Reach::Private,
        (false, false) => Reach::Public,
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, Reach};

    #[test]
    fn reach_follows_the_kind_of_host() {
        let reach = |text: &str| Host::parse(text).map(|host| host.reach);
        for text in
            ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.9.9.9", "[::1]", "[::1]:65535", "app.localhost"]
        {
            assert_eq!(reach(text), Some(Reach::Loopback), "{text}");
        }
        for text in [
            "10.0.0.1",
            "192.168.1.5:80",
            "169.254.1.1",
            "[fd00::1]",
            "[fe80::1]:1",
            "nas.local",
            "a.internal:81",
            "nas",
        ] {
            assert_eq!(reach(text), Some(Reach::Private), "{text}");
        }
        for text in ["search.example.com", "8.8.8.8:80", "[2001:db8::1]", "münchen.de", "a.b.", "notlocal.localx"] {
            assert_eq!(reach(text), Some(Reach::Public), "{text}");
        }
    }

    #[test]
    fn other_text_is_no_host() {
        let long = "a.".repeat(200);
        for text in [
            "",
            ":80",
            "a..b",
            "a:b",
            "a:",
            "a:+1",
            "a:99999",
            "a b",
            "a/b",
            "a@b",
            "a\"",
            "a'",
            "a<b",
            "$(id)",
            "`id`",
            "[x]",
            "[::1",
            "[::1]x",
            "::1",
            "[127.0.0.1]",
            "%41",
            "..",
            &long,
        ] {
            assert_eq!(Host::parse(text), None, "{text}");
        }
    }
}
