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
use crate::options::FetcherOptions;
use crate::page::{FetchRequest, Fetched, FetchedPage, Validators};
use crate::page_kind::{self, Declared};
use crate::resolver::{Resolver, SystemResolver};
use crate::robots::Robots;
use crate::targets::{Target, TargetPolicy};
use crate::trail::{Trail, is_redirect};
use crate::turns::{Turn, Turns};

/// Fetches public pages. A clone shares connections, the robots.txt files and the limits of the original.
#[derive(Clone)]
pub struct Fetcher {
    shared: Arc<Shared>,
}

struct Shared {
    client: Arc<Client>,
    /// `None` where robots.txt is not asked.
    robots: Option<Robots>,
    turns: Turns,
    /// Requests under way at a time.
    requests: Arc<Semaphore>,
    options: FetcherOptions,
}

impl Fetcher {
    /// # Errors
    /// Options that cannot be kept; see [`OptionsError`].
    pub fn new(options: FetcherOptions) -> Result<Self, OptionsError> {
        Self::with_resolver(options, Arc::new(SystemResolver::default()))
    }

    /// As [`Fetcher::new`], with another source of addresses. What it says is checked just the same.
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
            // Half of the whole: a host whose robots.txt hangs is known for it, not only a failed fetch more.
            let time_limit = options.time_limits.whole / 2;
            Robots::new(Arc::clone(&client), Arc::clone(&requests), options.robots_token.clone(), time_limit)
        });
        let turns = Turns::new(options.politeness.concurrent);
        Ok(Self { shared: Arc::new(Shared { client, robots, turns, requests, options }) })
    }

    /// Fetches one page. It can be dropped at any time.
    ///
    /// # Errors
    /// Each reason has its variant; see [`FetchError`].
    pub async fn fetch(&self, request: &FetchRequest) -> Result<Fetched, FetchError> {
        let whole = self.shared.options.time_limits.whole;
        let late = |_| Err(FetchError::Timeout { stage: TimeoutStage::Whole });
        tokio::time::timeout(whole, self.shared.follow(request)).await.unwrap_or_else(late)
    }
}

impl Shared {
    /// Goes from redirect to redirect to the page.
    async fn follow(&self, request: &FetchRequest) -> Result<Fetched, FetchError> {
        let policy = self.client.policy();
        let mut target = Target::parse(&request.url, policy)?;
        let mut trail = Trail::new(&target, self.options.max_redirects);
        let mut turn = None;
        loop {
            turn = Some(self.turn(&target, turn).await?);
            let _request = self.requests.acquire().await;
            let validators = request.validators.as_ref();
            let headers = validators.map(|validators| validators.headers(target.url())).unwrap_or_default();
            let is_conditional = !headers.is_empty();
            let response = self.client.get(&target, headers).await?;
            let status = response.status();
            if is_redirect(status) {
                let next = trail.follow(&target, response.headers(), policy)?;
                body::drain(response).await;
                target = next;
            } else if is_conditional && status == StatusCode::NOT_MODIFIED {
                return Ok(Fetched::NotModified);
            } else if is_page(status) {
                let page = self.page(&target, response, trail.redirects()).await?;
                return Ok(Fetched::Page(Box::new(page)));
            } else {
                let retry_after = retry_after(response.headers(), SystemTime::now());
                return Err(FetchError::Status { status: status.as_u16(), retry_after });
            }
        }
    }

    /// Waits until `target` may be asked for. A redirect within a host belongs to the same visit, and goes on with the
    /// turn that is `held`; one elsewhere gives that back first, or two of them could wait for each other.
    async fn turn(&self, target: &Target, held: Option<Turn>) -> Result<Turn, FetchError> {
        let held = held.filter(|turn| turn.is_at(target.host()));
        let wanted = match &self.robots {
            Some(robots) => robots.check(target).await?,
            None => None,
        };
        let politeness = &self.options.politeness;
        let delay = wanted.map_or(politeness.delay, |delay| delay.min(politeness.max_crawl_delay));
        Ok(match held {
            Some(turn) => turn,
            None => self.turns.take(target.host(), delay).await,
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
        if body::announced_length(&response).is_some_and(|length| length > limit as u64) {
            return Err(FetchError::TooLarge { limit });
        }
        let charset = parsed.and_then(|parsed| parsed.charset);
        let content_type = content_type.map(str::to_owned);
        let validators = Validators::read(target.url(), response.headers());
        let body = body::read(response, limit).await?;
        if body.is_cut {
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

/// Successes that carry the page: not "no content", nor a part of it that nobody asked for.
fn is_page(status: StatusCode) -> bool {
    matches!(status.as_u16(), 200 | 203)
}

/// `Retry-After` (RFC 9110, 10.2.3) in either form, at most a day.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    const LONGEST: Duration = Duration::from_hours(24);
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wanted = match value.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default(),
    };
    Some(wanted.min(LONGEST))
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
    fn hosts_are_left_alone_as_long_as_they_ask_for_up_to_a_day() {
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
    fn options_that_cannot_be_kept_are_refused() {
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
