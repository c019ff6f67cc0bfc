//! Name resolution.
//!
//! A name is resolved once per connection; its addresses are filtered and the connection uses one of the rest. This
//! prevents DNS rebinding, where a name resolves to one address for the check and to another for the connection.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use model::OrganizationId;
use reqwest::dns::{Addrs, Name, Resolving};

use crate::error::FetchError;
use crate::guard::AddressGuard;
use crate::lookups::Lookups;
use crate::on_behalf;

/// Resolver of host names.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// Returns the addresses of `host` in order of preference. Refused addresses are filtered by the caller. Organizations take
    /// turns; work for none of them, such as a crawl, has the id of zeros.
    ///
    /// # Errors
    /// Failures of the lookup. `ResourceBusy` says that there are too many lookups, and nothing about the name.
    async fn resolve(&self, host: &str, organization: OrganizationId) -> io::Result<Vec<IpAddr>>;
}

/// The system's resolver: `/etc/hosts`, the search list and the configured name servers.
pub struct SystemResolver {
    lookups: Lookups,
}

/// Concurrent lookups: more than fetches usually need, far fewer than the runtime's blocking threads.
const MAX_LOOKUPS: u32 = 64;

impl Default for SystemResolver {
    fn default() -> Self {
        // Names whose servers never answer keep their places long after their fetches.
        Self { lookups: Lookups::new(MAX_LOOKUPS, MAX_LOOKUPS / 4) }
    }
}

impl SystemResolver {
    /// Creates a resolver for a client that does not know for whom it connects: it may take every place.
    pub(crate) fn undivided() -> Self {
        Self { lookups: Lookups::new(MAX_LOOKUPS, MAX_LOOKUPS) }
    }
}

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str, organization: OrganizationId) -> io::Result<Vec<IpAddr>> {
        self.lookups.find(host, organization, look_up).await
    }
}

/// Looks a name up, and blocks meanwhile.
fn look_up(host: &str) -> io::Result<Vec<IpAddr>> {
    let found = (host, 0).to_socket_addrs()?;
    Ok(found.map(|address| address.ip()).collect())
}

/// Resolution failure. `http_errors` recovers it from the HTTP client's error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveError {
    #[error("cannot resolve the name")]
    Unknown(#[source] io::Error),
    #[error("no permitted address")]
    Refused,
    #[error("too many names are being looked up")]
    Busy,
}

/// Time after which a name may be looked up again that there was no place for.
const RETRY_AFTER: Duration = Duration::from_secs(1);

impl From<&ResolveError> for FetchError {
    fn from(error: &ResolveError) -> Self {
        match error {
            ResolveError::Unknown(_) => FetchError::Dns,
            ResolveError::Refused => FetchError::RefusedAddress,
            ResolveError::Busy => FetchError::Overloaded { retry_after: RETRY_AFTER },
        }
    }
}

/// Maximum number of addresses tried per name; they share the connect timeout.
const MAX_ADDRESSES: usize = 16;

/// Resolver that returns permitted addresses only.
#[derive(Clone)]
pub(crate) struct GuardedResolver {
    pub resolver: Arc<dyn Resolver>,
    pub guard: AddressGuard,
    /// Timeout of a lookup, below that of connecting: a name that is not resolved in time has no permitted address, and
    /// must not look like a host that does not answer.
    pub time_limit: Duration,
}

impl GuardedResolver {
    /// Returns the permitted addresses of a name.
    pub async fn permitted(&self, host: &str, organization: OrganizationId) -> Result<Vec<IpAddr>, ResolveError> {
        let finding = self.resolver.resolve(host, organization);
        let found = match tokio::time::timeout(self.time_limit, finding).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) if error.kind() == io::ErrorKind::ResourceBusy => return Err(ResolveError::Busy),
            Ok(Err(error)) => return Err(ResolveError::Unknown(error)),
            Err(_) => return Err(ResolveError::Unknown(io::ErrorKind::TimedOut.into())),
        };
        if found.is_empty() {
            return Err(ResolveError::Unknown(io::ErrorKind::NotFound.into()));
        }
        let allowed = found.into_iter().filter(|address| self.guard.allows(*address)).take(MAX_ADDRESSES);
        let allowed: Vec<IpAddr> = allowed.collect();
        if allowed.is_empty() { Err(ResolveError::Refused) } else { Ok(allowed) }
    }
}

impl reqwest::dns::Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        // Read here, in the task of the request: the HTTP client may end a connection that it began in another one.
        let organization = on_behalf::organization();
        Box::pin(async move {
            let allowed = resolver.permitted(name.as_str(), organization).await?;
            // The HTTP client replaces port 0 with the port of the URL.
            Ok(Box::new(allowed.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}
