//! robots.txt of the hosts we fetch from: read once, kept for a while (RFC 9309, 2.3 and 2.4).

mod rules;

use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::Expiry;
use moka::future::Cache;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use tokio::sync::Semaphore;

use crate::body;
use crate::client::Client;
use crate::error::{FetchError, TimeoutStage};
use crate::targets::Target;
use crate::trail::{Trail, is_redirect};
use rules::Rules;

/// What is read of a file (RFC 9309, 2.5).
const MAX_BYTES: usize = 500 * 1024;

/// Redirects followed to a file (2.3.1.2); behind more of them there is none.
const MAX_REDIRECTS: usize = 5;

/// How long an answer holds (2.4).
const KEPT: Duration = Duration::from_hours(24);

/// How long a host whose file cannot be read is left alone: it may be well again soon.
const KEPT_UNREACHABLE: Duration = Duration::from_mins(5);

/// Memory of all that is kept, with what an entry takes besides its rules: about 30,000 hosts.
const MAX_CACHE_WEIGHT: u64 = 16 * 1024 * 1024;
const ENTRY_WEIGHT: usize = 512;

/// What a host lets us do.
#[derive(Debug)]
enum Verdict {
    Rules(Rules),
    /// No answer that would tell: nothing may be fetched (2.3.1.4).
    Unreachable,
}

impl Verdict {
    fn weight(&self) -> usize {
        ENTRY_WEIGHT
            + match self {
                Verdict::Rules(rules) => rules.weight(),
                Verdict::Unreachable => 0,
            }
    }
}

/// Reads, keeps and asks the robots.txt of hosts. Who asks for one that is on its way waits for it.
pub(crate) struct Robots {
    client: Arc<Client>,
    /// Bounds the requests of the whole fetcher.
    requests: Arc<Semaphore>,
    token: String,
    /// For reading one file, redirects included.
    time_limit: Duration,
    verdicts: Cache<String, Arc<Verdict>>,
}

impl Robots {
    pub fn new(client: Arc<Client>, requests: Arc<Semaphore>, token: String, time_limit: Duration) -> Self {
        let verdicts = Cache::builder()
            .max_capacity(MAX_CACHE_WEIGHT)
            .weigher(|origin: &String, verdict: &Arc<Verdict>| {
                u32::try_from(origin.len() + verdict.weight()).unwrap_or(u32::MAX)
            })
            .expire_after(Keeping)
            .build();
        Self { client, requests, token, time_limit, verdicts }
    }

    /// Asks whether `target` may be fetched; returns the delay between two requests that its host wants.
    ///
    /// # Errors
    /// `Robots`, `RobotsUnreachable`; and where its host cannot be connected to, what the page would fail with.
    pub async fn check(&self, target: &Target) -> Result<Option<Duration>, FetchError> {
        let verdict = self
            .verdicts
            .try_get_with(target.origin(), self.read(target.robots_txt()))
            .await
            .map_err(|error: Arc<FetchError>| FetchError::clone(&error))?;
        match &*verdict {
            Verdict::Rules(rules) if rules.allows(target.path_and_query()) => Ok(rules.crawl_delay),
            Verdict::Rules(_) => Err(FetchError::Robots),
            Verdict::Unreachable => Err(FetchError::RobotsUnreachable),
        }
    }

    /// # Errors
    /// Where the host itself cannot be reached, which is not kept: the next who asks tries again.
    async fn read(&self, file: Target) -> Result<Arc<Verdict>, FetchError> {
        let origin = file.origin();
        let verdict = match tokio::time::timeout(self.time_limit, self.request(file)).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(
                error @ (FetchError::RefusedAddress
                | FetchError::Dns
                | FetchError::Connect
                | FetchError::Tls
                | FetchError::Timeout { stage: TimeoutStage::Connect }),
            )) => return Err(error),
            // Led too far, or nowhere: there is no such file.
            Ok(Err(
                FetchError::TooManyRedirects { .. }
                | FetchError::RedirectLoop
                | FetchError::InvalidUrl { .. }
                | FetchError::RefusedPort { .. },
            )) => Verdict::Rules(Rules::default()),
            Ok(Err(_)) | Err(_) => Verdict::Unreachable,
        };
        tracing::debug!(%origin, is_reachable = matches!(verdict, Verdict::Rules(_)), "robots.txt was read");
        Ok(Arc::new(verdict))
    }

    async fn request(&self, file: Target) -> Result<Verdict, FetchError> {
        let mut trail = Trail::new(&file, MAX_REDIRECTS);
        let mut target = file;
        loop {
            let _turn = self.requests.acquire().await;
            let response = self.client.get(&target, HeaderMap::new()).await?;
            let status = response.status();
            if is_redirect(status) {
                target = trail.follow(&target, response.headers(), self.client.policy())?;
                body::drain(response).await;
                continue;
            }
            return Ok(if status.is_success() {
                let body = body::read(response, MAX_BYTES).await?;
                Verdict::Rules(Rules::parse(&body.bytes, &self.token))
            } else if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS {
                body::drain(response).await;
                Verdict::Rules(Rules::default())
            } else {
                // "Too many requests" is of the 400s only by number: the host is busy, and says nothing of its pages.
                Verdict::Unreachable
            });
        }
    }
}

/// How long each verdict holds.
struct Keeping;

impl Expiry<String, Arc<Verdict>> for Keeping {
    fn expire_after_create(&self, _: &String, verdict: &Arc<Verdict>, _: Instant) -> Option<Duration> {
        Some(match **verdict {
            Verdict::Rules(_) => KEPT,
            Verdict::Unreachable => KEPT_UNREACHABLE,
        })
    }
}
