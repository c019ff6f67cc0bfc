//! Addresses of storage that clients of the public URL cannot reach.

use std::net::{IpAddr, Ipv4Addr};

use url::{Host, Url};

use crate::secret::without_credentials;
use crate::{Settings, SettingsError, StorageBackend};

/// Clients that reach an address, from few to many.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Reach {
    Machine,
    PrivateNetwork,
    Internet,
}

/// Top-level names that exist in private networks only.
const PRIVATE_DOMAINS: [&str; 9] =
    ["local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa"];

/// Fails if clients of `server.public_url` cannot reach the address that upload URLs contain.
pub(crate) fn check_storage(settings: &Settings) -> Result<(), SettingsError> {
    let Some(address) = upload_address(settings) else { return Ok(()) };
    let (Some(public), Some(storage)) = (reach(&settings.server.public_url), reach(&address)) else { return Ok(()) };
    if storage >= public {
        return Ok(());
    }
    let reason = format!(
        "clients of `server.public_url` = `{}` cannot upload to `{}`: set the public URL of storage",
        without_credentials(&settings.server.public_url),
        without_credentials(&address)
    );
    Err(SettingsError::invalid("storage.public_endpoint", &settings.storage.public_endpoint, reason))
}

/// Returns the base of presigned URLs; `None` for the public endpoint of AWS.
fn upload_address(settings: &Settings) -> Option<String> {
    let storage = &settings.storage;
    match storage.backend {
        _ if !storage.public_endpoint.is_empty() => Some(storage.public_endpoint.clone()),
        StorageBackend::S3 if storage.endpoint.is_empty() => None,
        StorageBackend::S3 => Some(storage.endpoint.clone()),
        StorageBackend::Embedded => Some(format!("{}://{}", settings.scheme(), storage.bind)),
    }
}

/// Returns `None` for an invalid URL, which has its own error.
fn reach(url: &str) -> Option<Reach> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Some(match url.host()? {
        Host::Ipv4(address) => reach_of_address(address.into()),
        Host::Ipv6(address) => reach_of_address(address.into()),
        Host::Domain(name) => reach_of_name(&name.trim_end_matches('.').to_ascii_lowercase()),
    })
}

fn reach_of_name(name: &str) -> Reach {
    let below = |domain: &str| name.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
    if name == "localhost" || below("localhost") {
        Reach::Machine
    } else if !name.contains('.') || PRIVATE_DOMAINS.iter().any(|domain| below(domain)) {
        Reach::PrivateNetwork
    } else {
        Reach::Internet
    }
}

fn reach_of_address(address: IpAddr) -> Reach {
    let address = address.to_canonical();
    if address.is_loopback() || address.is_unspecified() {
        return Reach::Machine;
    }
    let is_private = match address {
        IpAddr::V4(v4) => v4.is_private() || v4.is_link_local() || is_carrier_grade_nat(v4),
        IpAddr::V6(v6) => v6.is_unique_local() || v6.is_unicast_link_local(),
    };
    if is_private { Reach::PrivateNetwork } else { Reach::Internet }
}

/// Returns true for 100.64.0.0/10.
fn is_carrier_grade_nat(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    first == 100 && (64..128).contains(&second)
}
