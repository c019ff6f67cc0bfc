//! Networks in settings: `10.0.0.0/8`, `fd00::/8`. A bare address is a network of one address.

use std::net::IpAddr;

use ipnet::IpNet;

/// Cause of an invalid network.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum NetworkError {
    #[error("is not a network such as `10.0.0.0/8`")]
    Syntax,
    /// Usually a typing error that would open a different network than intended.
    #[error("has bits set after the prefix: did you mean `{0}`?")]
    HostBits(IpNet),
}

pub(crate) fn parse(text: &str) -> Result<IpNet, NetworkError> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(address.into());
    }
    let network: IpNet = text.parse().map_err(|_| NetworkError::Syntax)?;
    if network.addr() == network.network() { Ok(network) } else { Err(NetworkError::HostBits(network.trunc())) }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn networks_and_single_addresses_are_parsed() {
        for (text, network) in [
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("127.0.0.1", "127.0.0.1/32"),
            ("fd00::/8", "fd00::/8"),
            ("::1", "::1/128"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), network);
        }
    }

    #[test]
    fn invalid_networks_are_rejected_with_a_reason() {
        for text in ["", "x", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/+8", "10.0.0/8", "10.0.0.0/33", "10.0.0.0/999"] {
            assert_eq!(parse(text), Err(NetworkError::Syntax), "{text}");
        }
        let error = parse("10.1.2.3/8").unwrap_err();
        assert_eq!(error.to_string(), "has bits set after the prefix: did you mean `10.0.0.0/8`?");
    }
}
