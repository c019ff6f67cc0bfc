use std::sync::Arc;
use std::time::{Duration, SystemTime};

use admission::Permit;
use file_types::ContentType;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use tokio::time::Instant;

use crate::body;
use crate::error::{FetchError, TimeoutStage};
use crate::host_limiter::{HostPermit, SHORTEST_RETRY, Start};
use crate::on_behalf;
use crate::outcomes::{self, Success};
use crate::page::{FetchRequest, Fetched, FetchedPage, Validators};
use crate::page_kind::{self, Declared};
use crate::redirects::{RedirectChain, is_redirect};
use crate::shared::Shared;
use crate::targets::Target;

/// Starts that a fetch takes at most. It is refused if its permits came too late for all of them.
const MAX_STARTS: usize = 8;

/// Fetch that has its permits. Dropping it returns them: keep it while the page is in memory.
pub struct AdmittedFetch {
    shared: Arc<Shared>,
    request: FetchRequest,
    target: Target,
    redirects: RedirectChain,
    time: TimeLeft,
    /// Start of the next request, until it is sent. Before the permit, so that it is given back first.
    start: Option<Start>,
    host: Option<HostPermit>,
    permit: Option<Permit>,
}

impl AdmittedFetch {
    /// Waits until the first request may start.
    pub(crate) async fn admit(shared: Arc<Shared>, request: FetchRequest) -> Result<Self, FetchError> {
        let organization = request.organization_id;
        let admitted = on_behalf::of(organization, Self::enter(shared, request)).await;
        admitted.inspect_err(|error| outcomes::record(Err(error)))
    }

    async fn enter(shared: Arc<Shared>, request: FetchRequest) -> Result<Self, FetchError> {
        let target = Target::parse(&request.url, shared.client.policy())?;
        let redirects = RedirectChain::new(&target, shared.options.max_redirects);
        let time = TimeLeft(shared.options.time_limits.total);
        let mut fetch = Self { shared, request, target, redirects, time, start: None, host: None, permit: None };
        fetch.enter_host().await?;
        Ok(fetch)
    }

    /// Fetches the page. The future can be dropped at any time.
    ///
    /// # Errors
    /// One variant per cause; see [`FetchError`].
    pub async fn run(&mut self) -> Result<Fetched, FetchError> {
        let fetched = on_behalf::of(self.request.organization_id, self.follow()).await;
        self.host = None;
        outcomes::record(fetched.as_ref().map(|fetched| match fetched {
            Fetched::Page(_) => Success::Fetched,
            Fetched::NotModified => Success::NotModified,
        }));
        fetched
    }

    /// Follows redirects to the page.
    async fn follow(&mut self) -> Result<Fetched, FetchError> {
        loop {
            if let Some(start) = self.start.take() {
                start.sent();
            }
            let hop = hop(&self.shared, &self.target, &self.request, &mut self.redirects);
            match self.time.spend(hop).await? {
                Hop::Fetched(fetched) => return Ok(fetched),
                Hop::Redirect(next) => self.target = next,
            }
            self.enter_host().await?;
        }
    }

    /// Waits for the permits of the target's host, checks its robots.txt and waits for the start of the request.
    ///
    /// A redirect within a host belongs to the same visit and keeps its permits. Before a redirect to another host they are
    /// released, so that two fetches cannot wait for each other.
    async fn enter_host(&mut self) -> Result<(), FetchError> {
        let organization = self.request.organization_id;
        let is_new = !self.host.as_ref().is_some_and(|permit| permit.is_for(self.target.host()));
        if is_new {
            (self.permit, self.host) = (None, None);
            self.host = Some(self.shared.permits.host(self.target.host(), organization).await?);
            self.permit = Some(self.shared.permits.fetch(organization).await?);
        }
        let crawl_delay = match &self.shared.robots {
            Some(robots) => self.time.spend(robots.check(&self.target)).await?,
            None => None,
        };
        let politeness = &self.shared.options.politeness;
        let delay = crawl_delay.map_or(politeness.delay, |delay| delay.min(politeness.max_crawl_delay));
        if is_new {
            self.wait_for_start(delay).await?;
        }
        Ok(())
    }

    /// Takes the next start of a request to the host, and waits for it. Takes another if a permit came so late that the delay to
    /// requests of others would not be kept.
    async fn wait_for_start(&mut self, delay: Duration) -> Result<(), FetchError> {
        let Some(host) = &self.host else { return Ok(()) };
        for _ in 0..MAX_STARTS {
            // A fetch that would end before its start leaves it to others.
            let max_wait = self.shared.options.time_limits.wait.min(self.time.0);
            let mut start = host.take_start(delay, max_wait)?;
            if start.at() > Instant::now() {
                // Other hosts need not wait for this one.
                self.permit = None;
                let waiting = async {
                    tokio::time::sleep_until(start.at()).await;
                    Ok(())
                };
                self.time.spend(waiting).await?;
                self.permit = Some(self.shared.permits.fetch(self.request.organization_id).await?);
            }
            if start.confirm() {
                self.start = Some(start);
                return Ok(());
            }
        }
        Err(FetchError::Overloaded { retry_after: delay.max(SHORTEST_RETRY) })
    }
}

/// Time of a fetch that is left. Waiting for permits does not count.
struct TimeLeft(Duration);

impl TimeLeft {
    async fn spend<T>(&mut self, work: impl Future<Output = Result<T, FetchError>>) -> Result<T, FetchError> {
        let start = Instant::now();
        let timed_out = |_| Err(FetchError::Timeout { stage: TimeoutStage::Total });
        let outcome = tokio::time::timeout(self.0, work).await.unwrap_or_else(timed_out);
        self.0 = self.0.saturating_sub(start.elapsed());
        outcome
    }
}

enum Hop {
    Fetched(Fetched),
    Redirect(Target),
}

/// Makes one request.
async fn hop(
    shared: &Shared,
    target: &Target,
    request: &FetchRequest,
    redirects: &mut RedirectChain,
) -> Result<Hop, FetchError> {
    let validators = request.validators.as_ref();
    let headers = validators.map(|validators| validators.headers(target.url())).unwrap_or_default();
    let is_conditional = !headers.is_empty();
    let response = shared.client.get(target, headers).await?;
    let status = response.status();
    if is_redirect(status) {
        let next = redirects.follow(target, response.headers(), shared.client.policy())?;
        body::drain(response).await;
        Ok(Hop::Redirect(next))
    } else if is_conditional && status == StatusCode::NOT_MODIFIED {
        Ok(Hop::Fetched(Fetched::NotModified))
    } else if is_page(status) {
        let page = page(target, response, redirects.count(), shared.options.max_bytes).await?;
        Ok(Hop::Fetched(Fetched::Page(Box::new(page))))
    } else {
        let retry_after = requested_delay(response.headers());
        Err(FetchError::Status { status: status.as_u16(), retry_after })
    }
}

/// Reads a page from a response with a status of success.
pub(crate) async fn page(
    target: &Target,
    response: Response,
    redirects: usize,
    limit: usize,
) -> Result<FetchedPage, FetchError> {
    let extension = page_kind::extension_of(target.url());
    let status = response.status().as_u16();
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let parsed = content_type.map(ContentType::parse);
    let declared = Declared::read(parsed.as_ref(), extension.as_deref());
    if let Declared::Unsupported(content_type) = declared {
        return Err(FetchError::ContentType { content_type });
    }
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

/// Returns true for statuses that carry a whole page: not "no content" and not an unrequested part.
pub(crate) fn is_page(status: StatusCode) -> bool {
    matches!(status.as_u16(), 200 | 203)
}

/// Returns the delay that the host asks for.
pub(crate) fn requested_delay(headers: &HeaderMap) -> Option<Duration> {
    retry_after(headers, SystemTime::now())
}

/// Parses `Retry-After` (RFC 9110, 10.2.3) in either form, capped at one day. A date is relative to the host's own clock; to `now`
/// if the host states no valid time.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let value = text(RETRY_AFTER)?;
    let delay = match value.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let now = text(DATE).and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
            httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default()
        }
    };
    Some(delay.min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn retry_after_is_parsed_and_capped_at_one_day() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (value, expected) in [
            ("120", Some(120)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("99999999999", Some(86_400)),
            ("-1", None),
            ("soon", None),
        ] {
            let headers = [(DATE, date.parse().unwrap()), (RETRY_AFTER, value.parse().unwrap())];
            assert_eq!(requested_delay(&HeaderMap::from_iter(headers)), expected.map(Duration::from_secs), "{value}");
        }
    }

    #[test]
    fn retry_after_is_relative_to_this_clock_without_the_time_of_the_host() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let until = || (RETRY_AFTER, "Sun, 06 Nov 1994 08:50:37 GMT".parse().unwrap());
        for headers in [vec![until()], vec![(DATE, "today".parse().unwrap()), until()]] {
            assert_eq!(retry_after(&HeaderMap::from_iter(headers), now), Some(Duration::from_secs(60)));
        }
    }
}
