//! Policy for IP addresses. Pure.
//!
//! The tables follow the IANA registries of special-purpose IPv4 and IPv6 addresses (RFC 6890 and its updates). Blocks
//! that a registry calls globally reachable are refused as well if they cannot contain a web server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// Permits public addresses and the networks that the operator opened.
#[derive(Clone, Debug, Default)]
pub struct AddressGuard {
    allowed: Vec<IpNet>,
}

impl AddressGuard {
    /// Creates a guard that also permits the `allowed` networks. An IPv4 network also opens the IPv4-mapped form of its
    /// addresses, and no other form.
    pub fn new(allowed: Vec<IpNet>) -> Self {
        Self { allowed }
    }

    /// Returns true if the operator opened any network; names on it are then resolved as well.
    pub fn opens_networks(&self) -> bool {
        !self.allowed.is_empty()
    }

    /// Returns true if connections to `address` are permitted.
    pub fn allows(&self, address: IpAddr) -> bool {
        let plain = address.to_canonical();
        let opened = |address: &IpAddr| self.allowed.iter().any(|network| network.contains(address));
        opened(&plain) || opened(&address) || is_public(plain)
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(segments: [u16; 8], prefix: u8) -> Ipv6Net {
    let [a, b, c, d, e, f, g, h] = segments;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix)
}

const REFUSED_V4: &[Ipv4Net] = &[
    v4(0, 0, 0, 0, 8),        // "this network", unspecified
    v4(10, 0, 0, 0, 8),       // private
    v4(100, 64, 0, 0, 10),    // carrier-grade NAT; cloud metadata (100.100.100.200)
    v4(127, 0, 0, 0, 8),      // loopback
    v4(168, 63, 129, 16, 32), // host service seen from guests of one cloud: public by number only
    v4(169, 254, 0, 0, 16),   // link-local; metadata of most clouds (169.254.169.254)
    v4(172, 16, 0, 0, 12),    // private
    v4(192, 0, 0, 0, 24),     // protocol assignments; cloud metadata (192.0.0.192)
    v4(192, 0, 2, 0, 24),     // documentation
    v4(192, 31, 196, 0, 24),  // AS112
    v4(192, 52, 193, 0, 24),  // AMT
    v4(192, 88, 99, 0, 24),   // 6to4 relays, deprecated
    v4(192, 168, 0, 0, 16),   // private
    v4(192, 175, 48, 0, 24),  // AS112
    v4(198, 18, 0, 0, 15),    // benchmarking
    v4(198, 51, 100, 0, 24),  // documentation
    v4(203, 0, 113, 0, 24),   // documentation
    v4(224, 0, 0, 0, 4),      // multicast
    v4(240, 0, 0, 0, 4),      // reserved, broadcast
];

/// IPv6 range of the public internet. Outside it are loopback, unspecified, IPv4-compatible, discard, unique-local
/// (with the metadata address `fd00:ec2::254` of one cloud), link-local, site-local, multicast and unassigned
/// addresses.
const GLOBAL_UNICAST: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

const REFUSED_V6: &[Ipv6Net] = &[
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), // protocols: Teredo, benchmarking, AMT, AS112, ORCHID
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), // documentation
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), // 6to4, deprecated: can lead to any IPv4 address
    v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48), // AS112
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), // documentation
];

/// NAT64 well-known prefix (RFC 6052), by which IPv6-only hosts reach public IPv4. The embedded address decides. The
/// local-use prefix (`64:ff9b:1::/48`, RFC 8215) is not global unicast and stays refused.
const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);

fn is_public_v4(address: Ipv4Addr) -> bool {
    !REFUSED_V4.iter().any(|network| network.contains(&address))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if NAT64.contains(&address) {
        return is_public_v4(last_four(address));
    }
    GLOBAL_UNICAST.contains(&address)
        && !REFUSED_V6.iter().any(|network| network.contains(&address))
        && (!is_isatap(address) || is_public_v4(last_four(address)))
}

/// Detects ISATAP (RFC 5214): an IPv4 address as interface id below any prefix, reached through a tunnel inside the
/// site.
fn is_isatap(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [_, _, _, _, 0 | 0x200, 0x5efe, _, _])
}

fn last_four(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;
    use proptest::prelude::*;

    fn allows(guard: &AddressGuard, address: &str) -> bool {
        guard.allows(address.parse().unwrap())
    }

    #[test]
    fn special_addresses_are_refused() {
        let guard = AddressGuard::default();
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.0.1",
            "169.254.169.254",
            "169.254.170.2",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.31.196.1",
            "192.52.193.1",
            "192.88.99.1",
            "192.168.0.1",
            "192.168.255.255",
            "192.175.48.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:10.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::1",
            "64:ff9b:1::8.8.8.8",
            "100::1",
            "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:30::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "2002:808:808::1",
            "2620:4f:8000::1",
            "2a00:1450:4001:80b:0:5efe:10.0.0.1",
            "2a00:1450:4001:80b:200:5efe:127.0.0.1",
            "3fff::1",
            "3fff:fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fd12:3456:789a::1",
            "fe80::1",
            "fe80::a9fe:a9fe",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "ff0e::1",
        ] {
            assert!(!allows(&guard, address), "{address}");
        }
    }

    #[test]
    fn public_addresses_are_allowed_up_to_the_edges_of_refused_ranges() {
        let guard = AddressGuard::default();
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2003::1",
            "2606:4700:4700::1111",
            "2a00:1450:4001:80b:0:5efe:8.8.8.8",
        ] {
            assert!(allows(&guard, address), "{address}");
        }
    }

    #[test]
    fn an_opened_range_opens_only_itself_and_its_mapped_form() {
        let guard = AddressGuard::new(vec!["10.1.0.0/16".parse().unwrap(), "fd00:1::/32".parse().unwrap()]);
        for address in ["10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3", "fd00:1::5"] {
            assert!(allows(&guard, address), "{address}");
        }
        for address in [
            "10.0.255.255",
            "10.2.0.0",
            "::ffff:10.2.0.0",
            "::10.1.2.3",
            "64:ff9b::10.1.2.3",
            "2002:a01:203::1",
            "2a00::5efe:10.1.2.3",
            "fd00:2::5",
            "127.0.0.1",
        ] {
            assert!(!allows(&guard, address), "{address}");
        }
    }

    #[test]
    fn a_range_of_mapped_addresses_opens_only_the_mapped_form() {
        let guard = AddressGuard::new(vec!["::ffff:10.1.0.0/112".parse().unwrap()]);
        assert!(allows(&guard, "::ffff:10.1.2.3"));
        assert!(!allows(&guard, "10.1.2.3"));
    }

    proptest! {
        /// Compares with the standard library's classification, where it is stable.
        #[test]
        fn special_addresses_of_the_standard_library_are_refused(bits in any::<u32>()) {
            let address = Ipv4Addr::from_bits(bits);
            let special = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_multicast() || address.is_broadcast() || address.is_documentation()
                || address.is_unspecified();
            let guard = AddressGuard::default();
            prop_assert!(!(special && guard.allows(address.into())));
            prop_assert_eq!(guard.allows(address.into()), guard.allows(address.to_ipv6_mapped().into()));
            prop_assert!(!guard.allows(address.to_ipv6_compatible().into()));
        }

        #[test]
        fn ipv6_outside_global_unicast_is_allowed_only_for_embedded_ipv4(bits in any::<u128>()) {
            let address = Ipv6Addr::from_bits(bits);
            if AddressGuard::default().allows(address.into()) {
                prop_assert!(
                    address.segments()[0] >> 13 == 1 || NAT64.contains(&address) || address.to_ipv4_mapped().is_some()
                );
            }
        }
    }
}
