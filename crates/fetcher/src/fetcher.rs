use std::sync::Arc;

use crate::admitted::AdmittedFetch;
use crate::client::Client;
use crate::error::{FetchError, OptionsError};
use crate::guard::AddressGuard;
use crate::options::FetcherOptions;
use crate::page::{FetchRequest, Fetched};
use crate::permits::Permits;
use crate::resolver::{Resolver, SystemResolver};
use crate::robots::{HostRules, RobotsCache};
use crate::shared::Shared;
use crate::targets::{Target, TargetPolicy};
use crate::visit::{self, Visit, VisitRequest};

/// Fetcher for public pages. Clones share connections, cached robots.txt files and limits.
#[derive(Clone)]
pub struct Fetcher {
    shared: Arc<Shared>,
}

impl Fetcher {
    /// Creates a fetcher that uses the system's resolver.
    ///
    /// # Errors
    /// Invalid options; see [`OptionsError`].
    pub fn new(options: FetcherOptions) -> Result<Self, OptionsError> {
        Self::with_resolver(options, Arc::new(SystemResolver::default()))
    }

    /// Creates a fetcher that uses `resolver`. Its addresses are checked like those of the system's resolver.
    ///
    /// # Errors
    /// As [`Fetcher::new`].
    pub fn with_resolver(mut options: FetcherOptions, resolver: Arc<dyn Resolver>) -> Result<Self, OptionsError> {
        check(&options)?;
        // Half of the total, so that a hanging robots.txt is cached as unreachable before the fetch itself times out.
        let robots_limit = options.time_limits.total / 2;
        if options.respect_robots {
            // Less than that: a host that does not answer is no robots.txt that hangs, and may be tried again at once.
            let limits = &mut options.time_limits;
            limits.connect = limits.connect.min(limits.total * 2 / 5);
        }
        let guard = AddressGuard::new(options.allow_networks.clone());
        let policy = TargetPolicy { guard, ports: options.allow_ports.clone() };
        let client = Arc::new(Client::new(&options, resolver, policy)?);
        let robots = options
            .respect_robots
            .then(|| RobotsCache::new(Arc::clone(&client), options.robots_token.clone(), robots_limit));
        let permits = Permits::new(&options);
        Ok(Self { shared: Arc::new(Shared { client, robots, permits, options }) })
    }

    /// Fetches one page. The future can be dropped at any time.
    ///
    /// # Errors
    /// One variant per cause; see [`FetchError`].
    pub async fn fetch(&self, request: &FetchRequest) -> Result<Fetched, FetchError> {
        self.admit(request.clone()).await?.run().await
    }

    /// Waits until a fetch may start.
    ///
    /// # Errors
    /// `Overloaded` if it would wait too long; failures of the URL and of the host's robots.txt.
    pub async fn admit(&self, request: FetchRequest) -> Result<AdmittedFetch, FetchError> {
        AdmittedFetch::admit(Arc::clone(&self.shared), request).await
    }

    /// Makes one request for a crawler, which has a turn of its own for the host: permits and delays do not apply, and redirects
    /// are not followed. robots.txt does apply. The future can be dropped at any time.
    ///
    /// # Errors
    /// One variant per cause; see [`FetchError`].
    pub async fn visit(&self, request: &VisitRequest) -> Result<Visit, FetchError> {
        visit::visit(&self.shared, request).await
    }

    /// Returns the rules of the host's robots.txt for a URL, from the cache if it is there.
    ///
    /// # Errors
    /// `RobotsUnreachable`; failures of the URL and of the connection.
    pub async fn robots(&self, url: &str) -> Result<HostRules, FetchError> {
        let target = Target::parse(url, self.shared.client.policy())?;
        match &self.shared.robots {
            Some(robots) => robots.rules(&target).await,
            None => Ok(HostRules { allows: true, ..HostRules::default() }),
        }
    }
}

fn check(options: &FetcherOptions) -> Result<(), OptionsError> {
    let token = &options.robots_token;
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_alphabetic() || b"-_".contains(&byte)) {
        return Err(OptionsError::RobotsToken(token.clone()));
    }
    for (name, value) in [
        ("max_bytes", options.max_bytes),
        ("max_concurrent", options.max_concurrent),
        ("politeness.concurrent", options.politeness.concurrent),
    ] {
        if value == 0 {
            return Err(OptionsError::Zero(name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_options_are_rejected() {
        let refused = |change: fn(&mut FetcherOptions)| {
            let mut options = FetcherOptions::new("example-bot", "1.0", Some("https://example.com/bot"));
            change(&mut options);
            Fetcher::new(options).err().map(|error| error.to_string())
        };
        assert_eq!(refused(|_| {}), None);
        assert!(refused(|options| options.user_agent = "a\nb".to_owned()).is_some());
        assert!(refused(|options| options.robots_token = "a b".to_owned()).is_some());
        assert!(refused(|options| options.robots_token = String::new()).is_some());
        assert!(refused(|options| options.max_concurrent = 0).is_some());
        assert!(
            refused(|options| options.root_certificates =
                vec![b"-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n".to_vec()])
            .is_some()
        );
    }
}
