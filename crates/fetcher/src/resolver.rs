//! Name resolution.
//!
//! A name is resolved once per connection; its addresses are filtered and the connection uses one of the rest. This
//! prevents DNS rebinding, where a name resolves to one address for the check and to another for the connection.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolving};
use tokio::sync::Semaphore;

use crate::guard::AddressGuard;

/// Resolver of host names.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// Returns the addresses of `host` in order of preference. Refused addresses are filtered by the caller.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's resolver: `/etc/hosts`, the search list and the configured name servers.
pub struct SystemResolver {
    /// Limits the blocked threads: an abandoned lookup continues in its thread.
    lookups: Arc<Semaphore>,
}

/// Concurrent lookups: more than fetches usually need, far fewer than the runtime's blocking threads.
const MAX_LOOKUPS: usize = 64;

impl Default for SystemResolver {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let permit = Arc::clone(&self.lookups).acquire_owned().await.map_err(io::Error::other)?;
        let host = host.to_owned();
        let lookup = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            (host.as_str(), 0).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect())
        });
        lookup.await.map_err(io::Error::other)?
    }
}

/// Resolution failure. `http_errors` recovers it from the HTTP client's error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveError {
    #[error("cannot resolve the name")]
    Unknown(#[source] io::Error),
    #[error("no permitted address")]
    Refused,
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
    pub async fn permitted(&self, host: &str) -> Result<Vec<IpAddr>, ResolveError> {
        let found = match tokio::time::timeout(self.time_limit, self.resolver.resolve(host)).await {
            Ok(found) => found.map_err(ResolveError::Unknown)?,
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
        Box::pin(async move {
            let allowed = resolver.permitted(name.as_str()).await?;
            // The HTTP client replaces port 0 with the port of the URL.
            Ok(Box::new(allowed.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}
