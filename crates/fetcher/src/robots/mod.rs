//! Cache of robots.txt files (RFC 9309, 2.3 and 2.4).

mod rules;

use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::Expiry;
use moka::future::Cache;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::body;
use crate::client::Client;
use crate::error::{FetchError, RobotsFailure, TimeoutStage};
use crate::redirects::{RedirectChain, is_redirect};
use crate::targets::Target;
use rules::Rules;

/// Number of bytes parsed per file (RFC 9309, 2.5).
const MAX_BYTES: usize = 500 * 1024;

/// Redirects followed to a file; with more the file counts as missing (2.3.1.2).
const MAX_REDIRECTS: usize = 5;

/// Lifetime of cached rules (2.4).
const RULES_TTL: Duration = Duration::from_hours(24);

/// Lifetime of an "unreachable" entry. Short, because the host may recover soon.
const UNREACHABLE_TTL: Duration = Duration::from_mins(5);

/// Refused requests of others that a caller joins before it makes one of its own. A host has few fetches at a time, so there are
/// hardly more; without a bound, others could keep it waiting.
const MAX_REFUSED: usize = 4;

/// Memory limit of the cache, about 30,000 hosts, and the fixed cost of an entry besides its rules.
const MAX_CACHE_WEIGHT: u64 = 16 * 1024 * 1024;
const ENTRY_WEIGHT: usize = 512;

/// Cached result for one host.
#[derive(Debug)]
enum Verdict {
    Rules(Rules),
    /// No usable response: nothing may be fetched (2.3.1.4) until the file is requested again.
    Unreachable {
        cause: RobotsFailure,
        until: Instant,
    },
}

impl Verdict {
    fn unreachable(cause: RobotsFailure) -> Self {
        Verdict::Unreachable { cause, until: Instant::now() + UNREACHABLE_TTL }
    }

    fn weight(&self) -> usize {
        ENTRY_WEIGHT
            + match self {
                Verdict::Rules(rules) => rules.weight(),
                Verdict::Unreachable { .. } => 0,
            }
    }
}

/// Rules of a host as a crawler needs them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HostRules {
    pub crawl_delay: Option<Duration>,
    /// URLs of sitemaps as the file names them, at most 100.
    pub sitemaps: Vec<String>,
    /// True if rules are missing: only the beginning of the file was read, or it has too many patterns with `*`.
    pub is_truncated: bool,
    /// True if the file was requested just now.
    pub is_fresh: bool,
    /// True if the URL may be fetched.
    pub allows: bool,
}

/// Cache of robots.txt rules per origin. Concurrent requests for the same file are merged.
pub(crate) struct RobotsCache {
    client: Arc<Client>,
    token: String,
    /// Timeout for one file, redirects included.
    time_limit: Duration,
    verdicts: Cache<String, Arc<Verdict>>,
}

impl RobotsCache {
    pub fn new(client: Arc<Client>, token: String, time_limit: Duration) -> Self {
        Self { client, token, time_limit, verdicts: cache() }
    }

    /// Checks that `target` may be fetched. Returns the crawl delay of its host, if any. The caller holds the permits of a fetch,
    /// which include that of the file.
    ///
    /// # Errors
    /// `Robots`, `RobotsUnreachable`, or the connection error that the page itself would cause.
    pub async fn check(&self, target: &Target) -> Result<Option<Duration>, FetchError> {
        match &*self.verdict(target).await?.0 {
            Verdict::Rules(rules) if rules.allows(target.path_and_query()) => Ok(rules.crawl_delay),
            Verdict::Rules(_) => Err(FetchError::Robots),
            Verdict::Unreachable { cause, until } => Err(unreachable(*cause, *until)),
        }
    }

    /// Returns the rules of the target's host, for a crawler.
    ///
    /// # Errors
    /// `RobotsUnreachable`, or the connection error that a page would cause.
    pub async fn rules(&self, target: &Target) -> Result<HostRules, FetchError> {
        let (verdict, is_fresh) = self.verdict(target).await?;
        match &*verdict {
            Verdict::Rules(rules) => Ok(HostRules {
                crawl_delay: rules.crawl_delay,
                sitemaps: rules.sitemaps.clone(),
                is_truncated: rules.is_truncated,
                is_fresh,
                allows: rules.allows(target.path_and_query()),
            }),
            Verdict::Unreachable { cause, until } => Err(unreachable(*cause, *until)),
        }
    }

    /// Returns the verdict for the target's host, and true if it was requested just now.
    async fn verdict(&self, target: &Target) -> Result<(Arc<Verdict>, bool), FetchError> {
        for _ in 0..MAX_REFUSED {
            let mut is_own = false;
            let reading = async {
                is_own = true;
                self.read(target.robots_txt()).await
            };
            let entry: Result<_, Arc<FetchError>> =
                self.verdicts.entry(target.origin()).or_try_insert_with(reading).await;
            match entry {
                Ok(entry) => return Ok((Arc::clone(entry.value()), entry.is_fresh())),
                // The share of another organization was taken, which says nothing about that of this one.
                Err(error) if !is_own && matches!(*error, FetchError::Overloaded { .. }) => {}
                Err(error) => return Err(FetchError::clone(&error)),
            }
        }
        let verdict = self.read(target.robots_txt()).await?;
        // Others may have read the file meanwhile: a failure must not replace their rules.
        if matches!(*verdict, Verdict::Rules(_)) {
            self.verdicts.insert(target.origin(), Arc::clone(&verdict)).await;
        }
        Ok((verdict, true))
    }

    /// Reads and parses one file.
    ///
    /// # Errors
    /// Connection errors of the host. They are not cached, so the next request tries again.
    async fn read(&self, file: Target) -> Result<Arc<Verdict>, FetchError> {
        let origin = file.origin();
        let verdict = match tokio::time::timeout(self.time_limit, self.request(file)).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(
                error @ (FetchError::RefusedAddress
                | FetchError::Dns
                | FetchError::Overloaded { .. }
                | FetchError::Connect
                | FetchError::Tls
                | FetchError::Timeout { stage: TimeoutStage::Connect }),
            )) => return Err(error),
            // The redirects lead nowhere: the file counts as missing.
            Ok(Err(
                FetchError::TooManyRedirects { .. }
                | FetchError::RedirectLoop
                | FetchError::InvalidUrl { .. }
                | FetchError::RefusedPort { .. },
            )) => Verdict::Rules(Rules::default()),
            Ok(Err(FetchError::Timeout { .. })) | Err(_) => Verdict::unreachable(RobotsFailure::Timeout),
            Ok(Err(_)) => Verdict::unreachable(RobotsFailure::Response),
        };
        tracing::debug!(%origin, is_reachable = matches!(verdict, Verdict::Rules(_)), "read robots.txt");
        Ok(Arc::new(verdict))
    }

    async fn request(&self, file: Target) -> Result<Verdict, FetchError> {
        let mut redirects = RedirectChain::new(&file, MAX_REDIRECTS);
        let mut target = file;
        loop {
            let response = self.client.get(&target, HeaderMap::new()).await?;
            let status = response.status();
            if is_redirect(status) {
                target = redirects.follow(&target, response.headers(), self.client.policy())?;
                body::drain(response).await;
                continue;
            }
            return Ok(if status.is_success() {
                let body = body::read(response, MAX_BYTES).await?;
                let text: &[u8] = if body.is_truncated { whole_lines(&body.bytes) } else { &body.bytes };
                let mut rules = Rules::parse(text, &self.token);
                rules.is_truncated |= body.is_truncated;
                Verdict::Rules(rules)
            } else if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS {
                body::drain(response).await;
                Verdict::Rules(Rules::default())
            } else {
                // 429 differs from other 4xx statuses: the host is busy and says nothing about its rules.
                Verdict::unreachable(RobotsFailure::Status)
            });
        }
    }
}

/// Returns the text up to its last line end. The beginning of a rule is another rule: `Disallow: /` of `Disallow: /private`.
fn whole_lines(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
    &text[..end]
}

fn unreachable(cause: RobotsFailure, until: Instant) -> FetchError {
    FetchError::RobotsUnreachable { cause, retry_after: until.saturating_duration_since(Instant::now()) }
}

fn cache() -> Cache<String, Arc<Verdict>> {
    Cache::builder()
        .max_capacity(MAX_CACHE_WEIGHT)
        .weigher(|origin: &String, verdict: &Arc<Verdict>| {
            u32::try_from(origin.len() + verdict.weight()).unwrap_or(u32::MAX)
        })
        .expire_after(VerdictExpiry)
        .build()
}

/// Lifetime per kind of verdict.
struct VerdictExpiry;

impl Expiry<String, Arc<Verdict>> for VerdictExpiry {
    fn expire_after_create(&self, _: &String, verdict: &Arc<Verdict>, now: Instant) -> Option<Duration> {
        Some(match **verdict {
            Verdict::Rules(_) => RULES_TTL,
            Verdict::Unreachable { until, .. } => until.saturating_duration_since(now),
        })
    }

    /// Gives a verdict that replaces another its own lifetime. By default it would keep the rest of the other's.
    fn expire_after_update(
        &self,
        origin: &String,
        verdict: &Arc<Verdict>,
        now: Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        self.expire_after_create(origin, verdict, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn verdict_that_replaces_another_has_its_own_lifetime() {
        let (verdicts, origin) = (cache(), "https://h.test".to_owned());
        let unreachable = |until| Arc::new(Verdict::Unreachable { cause: RobotsFailure::Timeout, until });
        let rules = || Arc::new(Verdict::Rules(Rules::default()));
        let later = Instant::now() + UNREACHABLE_TTL;
        for (first, second, is_kept) in [
            (rules(), unreachable(later), true),
            (rules(), unreachable(Instant::now()), false),
            (unreachable(later), unreachable(Instant::now()), false),
        ] {
            verdicts.insert(origin.clone(), Arc::clone(&first)).await;
            verdicts.insert(origin.clone(), Arc::clone(&second)).await;
            assert_eq!(verdicts.get(&origin).await.is_some(), is_kept, "{second:?} after {first:?}");
        }
    }
}
