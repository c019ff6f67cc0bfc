use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use model::OrganizationId;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use url::Host;

use crate::error::{FetchError, OptionsError, TimeoutStage};
use crate::guard::AddressGuard;
use crate::options::FetcherOptions;
use crate::resolver::{GuardedResolver, Resolver, SystemResolver};
use crate::targets::{Target, TargetPolicy};

const TIMED_OUT: FetchError = FetchError::Timeout { stage: TimeoutStage::Connect };

/// Connections to untrusted addresses for other HTTP clients, such as a browser, with the fetcher's connection policy.
pub struct Connector {
    policy: TargetPolicy,
    resolver: GuardedResolver,
    timeout: Duration,
}

impl Connector {
    /// Creates a connector that uses the system's resolver.
    ///
    /// # Errors
    /// Invalid options; see [`OptionsError`].
    pub fn new(options: &FetcherOptions) -> Result<Self, OptionsError> {
        Self::with_resolver(options, Arc::new(SystemResolver::default()))
    }

    /// Creates a connector that uses `resolver`. Its addresses are checked like those of the system's resolver.
    ///
    /// # Errors
    /// As [`Connector::new`].
    pub fn with_resolver(options: &FetcherOptions, resolver: Arc<dyn Resolver>) -> Result<Self, OptionsError> {
        let timeout = options.time_limits.connect;
        if timeout.is_zero() {
            return Err(OptionsError::Zero("time_limits.connect"));
        }
        let guard = AddressGuard::new(options.allow_networks.clone());
        let resolver = GuardedResolver { resolver, guard: guard.clone(), time_limit: timeout * 3 / 4 };
        Ok(Self { policy: TargetPolicy { guard, ports: options.allow_ports.clone() }, resolver, timeout })
    }

    /// Connects to the host and port of an http or https URL. A TLS handshake is up to the caller. Name lookups are those of the
    /// organization, which has a share of them.
    ///
    /// # Errors
    /// `InvalidUrl`, `RefusedAddress`, `RefusedPort`, `Dns`, `Overloaded`, `Connect`, `Timeout`.
    pub async fn connect(&self, url: &str, organization: OrganizationId) -> Result<TcpStream, FetchError> {
        let target = Target::parse(url, &self.policy)?;
        let deadline = Instant::now() + self.timeout;
        timeout_at(deadline, self.open(&target, organization, deadline)).await.unwrap_or(Err(TIMED_OUT))
    }

    async fn open(
        &self,
        target: &Target,
        organization: OrganizationId,
        deadline: Instant,
    ) -> Result<TcpStream, FetchError> {
        let addresses = match target.url().host() {
            Some(Host::Ipv4(address)) => vec![address.into()],
            Some(Host::Ipv6(address)) => vec![address.into()],
            Some(Host::Domain(name)) => {
                let found = self.resolver.permitted(name, organization).await;
                found.map_err(|error| FetchError::from(&error))?
            }
            None => return Err(FetchError::InvalidUrl { reason: "has no host" }),
        };
        let port = target.url().port_or_known_default().unwrap_or_default();
        let mut left = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
        let mut failure = FetchError::Connect;
        for address in addresses {
            // An address that does not answer leaves time for the others.
            let share = deadline.saturating_duration_since(Instant::now()) / left.max(1);
            left = left.saturating_sub(1);
            match timeout(share, TcpStream::connect(SocketAddr::new(address, port))).await {
                Ok(Ok(stream)) => {
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(_)) => {}
                Err(_) => failure = TIMED_OUT,
            }
        }
        Err(failure)
    }
}
