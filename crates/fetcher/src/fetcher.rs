use std::sync::Arc;
use std::time::{Duration, SystemTime};

use file_types::ContentType;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use tokio::sync::Semaphore;

use crate::body;
use crate::client::Client;
use crate::error::{FetchError, OptionsError, TimeoutStage};
use crate::guard::AddressGuard;
use crate::host_limiter::{HostLimiter, HostPermit};
use crate::options::FetcherOptions;
use crate::page::{FetchRequest, Fetched, FetchedPage, Validators};
use crate::page_kind::{self, Declared};
use crate::redirects::{RedirectChain, is_redirect};
use crate::resolver::{Resolver, SystemResolver};
use crate::robots::RobotsCache;
use crate::targets::{Target, TargetPolicy};

/// Fetcher for public pages. Clones share connections, cached robots.txt files and limits.
#[derive(Clone)]
pub struct Fetcher {
    shared: Arc<Shared>,
}

struct Shared {
    client: Arc<Client>,
    /// `None` if robots.txt is ignored.
    robots: Option<RobotsCache>,
    host_limiter: HostLimiter,
    /// Limits concurrent requests over all hosts.
    requests: Arc<Semaphore>,
    options: FetcherOptions,
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
    pub fn with_resolver(options: FetcherOptions, resolver: Arc<dyn Resolver>) -> Result<Self, OptionsError> {
        check(&options)?;
        let guard = AddressGuard::new(options.allow_networks.clone());
        let policy = TargetPolicy { guard, ports: options.allow_ports.clone() };
        let client = Arc::new(Client::new(&options, resolver, policy)?);
        let requests = Arc::new(Semaphore::new(options.max_concurrent));
        let robots = options.respect_robots.then(|| {
            // Half of the total, so that a hanging robots.txt is cached as unreachable before the fetch itself times
            // out.
            let time_limit = options.time_limits.total / 2;
            RobotsCache::new(Arc::clone(&client), Arc::clone(&requests), options.robots_token.clone(), time_limit)
        });
        let host_limiter = HostLimiter::new(options.politeness.concurrent);
        Ok(Self { shared: Arc::new(Shared { client, robots, host_limiter, requests, options }) })
    }

    /// Fetches one page. The future can be dropped at any time.
    ///
    /// # Errors
    /// One variant per cause; see [`FetchError`].
    pub async fn fetch(&self, request: &FetchRequest) -> Result<Fetched, FetchError> {
        let limit = self.shared.options.time_limits.total;
        let timed_out = |_| Err(FetchError::Timeout { stage: TimeoutStage::Total });
        tokio::time::timeout(limit, self.shared.follow(request)).await.unwrap_or_else(timed_out)
    }
}

impl Shared {
    /// Follows redirects to the page.
    async fn follow(&self, request: &FetchRequest) -> Result<Fetched, FetchError> {
        let policy = self.client.policy();
        let mut target = Target::parse(&request.url, policy)?;
        let mut redirects = RedirectChain::new(&target, self.options.max_redirects);
        let mut permit = None;
        loop {
            permit = Some(self.acquire_host(&target, permit).await?);
            let _request = self.requests.acquire().await;
            let validators = request.validators.as_ref();
            let headers = validators.map(|validators| validators.headers(target.url())).unwrap_or_default();
            let is_conditional = !headers.is_empty();
            let response = self.client.get(&target, headers).await?;
            let status = response.status();
            if is_redirect(status) {
                let next = redirects.follow(&target, response.headers(), policy)?;
                body::drain(response).await;
                target = next;
            } else if is_conditional && status == StatusCode::NOT_MODIFIED {
                return Ok(Fetched::NotModified);
            } else if is_page(status) {
                let page = self.page(&target, response, redirects.count()).await?;
                return Ok(Fetched::Page(Box::new(page)));
            } else {
                let retry_after = retry_after(response.headers(), SystemTime::now());
                return Err(FetchError::Status { status: status.as_u16(), retry_after });
            }
        }
    }

    /// Waits until a request to the host of `target` may start.
    ///
    /// A redirect within a host belongs to the same visit and keeps the permit that is `held`. Before a redirect to
    /// another host it is released, so that two fetches cannot wait for each other.
    async fn acquire_host(&self, target: &Target, held: Option<HostPermit>) -> Result<HostPermit, FetchError> {
        let held = held.filter(|permit| permit.is_for(target.host()));
        let crawl_delay = match &self.robots {
            Some(robots) => robots.check(target).await?,
            None => None,
        };
        let politeness = &self.options.politeness;
        let delay = crawl_delay.map_or(politeness.delay, |delay| delay.min(politeness.max_crawl_delay));
        Ok(match held {
            Some(permit) => permit,
            None => self.host_limiter.acquire(target.host(), delay).await,
        })
    }

    async fn page(&self, target: &Target, response: Response, redirects: usize) -> Result<FetchedPage, FetchError> {
        let extension = page_kind::extension_of(target.url());
        let status = response.status().as_u16();
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let parsed = content_type.map(ContentType::parse);
        let declared = Declared::read(parsed.as_ref(), extension.as_deref());
        if let Declared::Unsupported(content_type) = declared {
            return Err(FetchError::ContentType { content_type });
        }
        let limit = self.options.max_bytes;
        if body::declared_length(&response).is_some_and(|length| length > limit as u64) {
            return Err(FetchError::TooLarge { limit });
        }
        let charset = parsed.and_then(|parsed| parsed.charset);
        let content_type = content_type.map(str::to_owned);
        let validators = Validators::read(target.url(), response.headers());
        let body = body::read(response, limit).await?;
        if body.is_truncated {
            return Err(FetchError::TooLarge { limit });
        }
        let kind = match declared {
            Declared::Kind(kind) => Some(kind),
            _ => page_kind::sniff(&body.bytes, extension.as_deref()),
        };
        let Some(kind) = kind else {
            return Err(FetchError::ContentType { content_type: content_type.unwrap_or_default() });
        };
        let final_url = target.url().clone();
        Ok(FetchedPage { final_url, status, kind, content_type, charset, body: body.bytes, validators, redirects })
    }
}

/// Returns true for statuses that carry a whole page: not "no content" and not an unrequested part.
fn is_page(status: StatusCode) -> bool {
    matches!(status.as_u16(), 200 | 203)
}

/// Parses `Retry-After` (RFC 9110, 10.2.3) in either form, capped at one day.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let delay = match value.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default(),
    };
    Some(delay.min(MAX_RETRY_AFTER))
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
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn retry_after_is_parsed_and_capped_at_one_day() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        for (value, expected) in [
            ("120", Some(120)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("99999999999", Some(86_400)),
            ("-1", None),
            ("soon", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, value.parse().unwrap())]);
            assert_eq!(retry_after(&headers, now), expected.map(Duration::from_secs), "{value}");
        }
    }

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
