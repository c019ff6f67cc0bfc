use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A range of addresses in CIDR form: `10.0.0.0/8`, `fd00::/8`. A bare address is the range of that address alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// Why a text is not a network.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NetworkError {
    #[error("is not a network such as `10.0.0.0/8`")]
    Syntax,
    #[error("has a prefix longer than the address")]
    Prefix,
    /// Most often a typing error that would open another network than was meant.
    #[error("has bits set after the prefix: did you mean `{0}`?")]
    HostBits(Network),
}

impl Network {
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)) => {
                masked(address, self.prefix) == self.address
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

fn width(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// The address with the bits after the prefix cleared.
fn masked(address: IpAddr, prefix: u8) -> IpAddr {
    let rest = u32::from(width(address).saturating_sub(prefix));
    match address {
        // A shift by the whole width is no shift at all in hardware: checked_shl gives the empty mask instead.
        IpAddr::V4(v4) => IpAddr::V4((v4.to_bits() & u32::MAX.checked_shl(rest).unwrap_or(0)).into()),
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & u128::MAX.checked_shl(rest).unwrap_or(0)).into()),
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| NetworkError::Syntax)?;
        let prefix = match prefix {
            None => width(address),
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().map_err(|_| NetworkError::Syntax)?
            }
            Some(_) => return Err(NetworkError::Syntax),
        };
        if prefix > width(address) {
            return Err(NetworkError::Prefix);
        }
        let network = Network { address: masked(address, prefix), prefix };
        if network.address == address { Ok(network) } else { Err(NetworkError::HostBits(network)) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn check(network: &str, inside: &[&str], outside: &[&str]) {
        let network: Network = network.parse().unwrap();
        for address in inside {
            assert!(network.contains(address.parse().unwrap()), "{address} is in {network}");
        }
        for address in outside {
            assert!(!network.contains(address.parse().unwrap()), "{address} is not in {network}");
        }
    }

    #[test]
    fn networks_hold_their_addresses() {
        check("10.0.0.0/8", &["10.0.0.0", "10.255.255.255"], &["11.0.0.0", "9.255.255.255", "::ffff:10.0.0.1"]);
        check("192.168.4.0/22", &["192.168.7.255"], &["192.168.8.0"]);
        check("0.0.0.0/0", &["1.2.3.4", "255.255.255.255"], &["::1"]);
        check("127.0.0.1", &["127.0.0.1"], &["127.0.0.2"]);
        check("fd00::/8", &["fd12::1"], &["fe80::1", "10.0.0.1"]);
        check("::/0", &["::", "2001:db8::1"], &["0.0.0.0"]);
    }

    #[test]
    fn other_text_is_refused_with_the_reason() {
        for text in ["", "x", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/+8", "10.0.0/8", "10.0.0.0/999"] {
            assert_eq!(text.parse::<Network>(), Err(NetworkError::Syntax), "{text}");
        }
        assert_eq!("10.0.0.0/33".parse::<Network>(), Err(NetworkError::Prefix));
        let error = "10.1.2.3/8".parse::<Network>().unwrap_err();
        assert_eq!(error.to_string(), "has bits set after the prefix: did you mean `10.0.0.0/8`?");
    }
}
