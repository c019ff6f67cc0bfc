//! Checks of URLs before any name lookup.

use url::{Host, Url};

use crate::error::FetchError;
use crate::guard::AddressGuard;

/// Maximum URL length: more than published links need, and a bound for the cost of matching.
const MAX_LENGTH: usize = 8 * 1024;

/// Maximum length of a host name (RFC 1035, 2.3.4).
const MAX_HOST: usize = 253;

/// Policy for fetch targets.
#[derive(Clone, Debug)]
pub(crate) struct TargetPolicy {
    pub guard: AddressGuard,
    /// Permitted ports besides 80, 443, and 1024 and above.
    pub ports: Vec<u16>,
}

/// http or https URL that passed the policy, without credentials and fragment. Its host is a permitted address, or a
/// name whose addresses are checked later.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Target {
    url: Url,
}

impl Target {
    /// Parses and checks a URL.
    ///
    /// # Errors
    /// `InvalidUrl`, `RefusedAddress`, `RefusedPort`.
    pub fn parse(text: &str, policy: &TargetPolicy) -> Result<Self, FetchError> {
        if text.len() > MAX_LENGTH {
            return Err(invalid("is too long"));
        }
        let url = Url::parse(text).map_err(|_| invalid("is malformed"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("contains credentials"));
        }
        Self::check(url, policy)
    }

    /// Resolves the `Location` header of a response from this target, and checks the result.
    ///
    /// # Errors
    /// As for [`Target::parse`], except that credentials are dropped: they would make the page look like another
    /// user's.
    pub fn redirected(&self, location: &[u8], policy: &TargetPolicy) -> Result<Self, FetchError> {
        if location.len() > MAX_LENGTH {
            return Err(invalid("is too long"));
        }
        // Headers are mostly UTF-8; browsers treat other bytes as Latin-1.
        let location = match std::str::from_utf8(location) {
            Ok(text) => text.to_owned(),
            Err(_) => location.iter().map(|&byte| char::from(byte)).collect(),
        };
        let mut url = self.url.join(location.trim()).map_err(|_| invalid("is malformed"))?;
        if url.has_host() && !(url.set_username("").is_ok() && url.set_password(None).is_ok()) {
            return Err(invalid("is malformed"));
        }
        Self::check(url, policy)
    }

    /// Returns robots.txt of the same origin.
    pub fn robots_txt(&self) -> Self {
        let mut url = self.url.clone();
        url.set_path("/robots.txt");
        url.set_query(None);
        Self { url }
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// `scheme://host:port`.
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// Returns path and query, as used in a request line and in robots.txt.
    pub fn path_and_query(&self) -> &str {
        &self.url[url::Position::BeforePath..url::Position::AfterQuery]
    }

    fn check(mut url: Url, policy: &TargetPolicy) -> Result<Self, FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid("is neither http nor https"));
        }
        url.set_fragment(None);
        if url.as_str().len() > MAX_LENGTH {
            return Err(invalid("is too long"));
        }
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            Some(Host::Domain(name)) => {
                let plain = name.strip_suffix('.').unwrap_or(name).to_owned();
                check_name(&plain, policy)?;
                if plain.len() < name.len() {
                    url.set_host(Some(&plain)).map_err(|_| invalid("is malformed"))?;
                }
                None
            }
            None => return Err(invalid("has no host")),
        };
        if address.is_some_and(|address| !policy.guard.allows(address)) {
            return Err(FetchError::RefusedAddress);
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if !matches!(port, 80 | 443 | 1024..) && !policy.ports.contains(&port) {
            return Err(FetchError::RefusedPort { port });
        }
        Ok(Self { url })
    }
}

/// Checks a host name. A name without a dot belongs to the operator's network whatever it resolves to, so it is not
/// even looked up unless a network was opened.
fn check_name(name: &str, policy: &TargetPolicy) -> Result<(), FetchError> {
    if name.len() > MAX_HOST || name.split('.').any(|label| label.is_empty() || label.len() > 63) {
        return Err(invalid("has a malformed host"));
    }
    if !name.contains('.') && !policy.guard.opens_networks() {
        return Err(FetchError::RefusedAddress);
    }
    Ok(())
}

fn invalid(reason: &'static str) -> FetchError {
    FetchError::InvalidUrl { reason }
}

#[cfg(test)]
mod tests;
