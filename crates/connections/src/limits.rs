use std::net::{IpAddr, Ipv6Addr};

use ipnet::IpNet;

/// Limits of one listener.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum of open connections.
    pub connections: usize,
    /// Maximum of open connections per source address; 0 for no limit.
    pub per_address: usize,
    /// Networks of proxies, without a limit per address.
    pub trusted: Vec<IpNet>,
}

impl Limits {
    /// Returns the number of connections that only trusted sources may use.
    pub(crate) fn reserved(&self) -> usize {
        self.connections / 8
    }
}

/// Returns true for this machine and for the networks of `trusted`.
pub fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || trusted.iter().any(|network| network.contains(&address))
}

/// Returns the address under which connections are counted. An IPv6 client owns at least a /64 network.
pub fn source(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn sources_are_addresses_or_networks_of_64_bits() {
        assert_eq!(source(ip("203.0.113.7")), ip("203.0.113.7"));
        assert_eq!(source(ip("::ffff:203.0.113.7")), ip("203.0.113.7"));
        assert_eq!(source(ip("2001:db8:1:2:3:4:5:6")), source(ip("2001:db8:1:2:ffff::")));
        assert_ne!(source(ip("2001:db8:1:2::1")), source(ip("2001:db8:1:3::1")));
    }

    #[test]
    fn loopback_and_the_named_networks_are_trusted() {
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        for (address, expected) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("10.1.2.3", true),
            ("::ffff:10.1.2.3", true),
            ("11.1.2.3", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(is_trusted(ip(address), &trusted), expected, "{address}");
        }
    }
}
