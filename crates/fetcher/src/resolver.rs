//! Names to addresses: looked up once for a connection, filtered, and the connection made to what is left. So a name
//! cannot be one address when it is checked and another when it is connected to (rebinding).

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolving};
use tokio::sync::Semaphore;

use crate::guard::AddressGuard;

/// Looks up the addresses of hosts.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// The addresses of `host`, in the order they should be tried in; refused ones may be among them.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's resolver: what `/etc/hosts`, the search list and the name servers of this machine say.
pub struct SystemResolver {
    /// A lookup that nobody waits for any more goes on in its thread; this bounds how many threads hang in one.
    lookups: Arc<Semaphore>,
}

/// Lookups at a time: more than fetches usually wait for one, far fewer than the runtime has threads for blocking.
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

/// Why the HTTP client gets no address. Found again in its error by [`crate::failure`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveError {
    #[error("no address")]
    Unknown(#[source] io::Error),
    #[error("no address that may be connected to")]
    Refused,
}

/// More addresses than a name has sensibly; the time to connect is shared among them.
const MAX_ADDRESSES: usize = 16;

/// Lets only those addresses through to the HTTP client that may be connected to.
pub(crate) struct GuardedResolver {
    pub resolver: Arc<dyn Resolver>,
    pub guard: AddressGuard,
}

impl reqwest::dns::Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = Arc::clone(&self.resolver);
        let guard = self.guard.clone();
        Box::pin(async move {
            let found = resolver.resolve(name.as_str()).await.map_err(ResolveError::Unknown)?;
            if found.is_empty() {
                return Err(ResolveError::Unknown(io::ErrorKind::NotFound.into()).into());
            }
            let allowed: Vec<SocketAddr> = found
                .into_iter()
                .filter(|address| guard.allows(*address))
                .take(MAX_ADDRESSES)
                // The client puts the URL's port in place of 0.
                .map(|address| SocketAddr::new(address, 0))
                .collect();
            if allowed.is_empty() {
                return Err(ResolveError::Refused.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}
