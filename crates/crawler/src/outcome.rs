//! Consequences of a visit for its URL: state, next visit, removal.

use std::time::Duration;

use docstore::{CrawlUrl, NextVisit, PageChange};
use fetcher::{FetchError, Validators};
use model::{CrawlUrlKind, CrawlUrlState, DocId, Timestamp};

use crate::pace::Pace;
use crate::reason;
use crate::revisit::Bounds;

/// Attempts of a visit in one round. A host that is busy gets more.
const MAX_ATTEMPTS: i32 = 3;
const MAX_BUSY_ATTEMPTS: i32 = 8;
/// Time before the second attempt; each further one waits six times as long.
const FIRST_RETRY: Duration = Duration::from_secs(10);
const RETRY_FACTOR: u32 = 6;
/// Longest time before another attempt to read a page that no worker has read.
const LONGEST_RETRY: Duration = Duration::from_hours(1);
/// Reason of pages that no worker has read.
const NOT_READ: &str = "not_read";
/// Reason of feeds that were visited as pages.
pub const FEED: &str = "feed";
/// Responses of 404 or 410 in a row after which a page is removed. Any other response ends the row; timeouts and failed connections
/// say nothing of the page.
const MAX_MISSING: i32 = 2;
/// Longest time until a missing page is checked again.
const MISSING_CHECK: Duration = Duration::from_hours(1);

/// Reading of a page or list, before its consequences.
pub struct Reading {
    pub state: CrawlUrlState,
    pub reason: Option<&'static str>,
    pub change: PageChange,
    pub canonical: Option<DocId>,
    pub target: Option<DocId>,
    pub validators: Option<Validators>,
    pub digest: Option<String>,
    /// The host had a request.
    pub is_requested: bool,
}

impl Reading {
    pub fn skipped(reason: &'static str) -> Self {
        Self::of(CrawlUrlState::Skipped, Some(reason))
    }

    /// Returns the reading of a URL that is known not to be listed before it is requested.
    pub fn refused(reason: &'static str) -> Self {
        Self { is_requested: false, ..Self::skipped(reason) }
    }

    pub fn of(state: CrawlUrlState, reason: Option<&'static str>) -> Self {
        Self {
            state,
            reason,
            change: PageChange::Remove,
            canonical: None,
            target: None,
            validators: None,
            digest: None,
            is_requested: true,
        }
    }
}

/// Response that tells nothing of the page itself.
pub enum Trouble {
    Fetch(FetchError),
    /// No place for a request, which was not sent.
    Busy,
    /// The page was downloaded, but no worker has read it.
    Unread,
    /// The response is of no use, for this reason.
    Useless(&'static str),
    /// The site says that there is no page, with this name of the reason.
    Missing(String),
}

impl From<FetchError> for Trouble {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Status { status: 404 | 410, .. } => Trouble::Missing(reason::of_fetch(&error)),
            // Says nothing of the host.
            FetchError::Overloaded { .. } => Trouble::Busy,
            error => Trouble::Fetch(error),
        }
    }
}

/// Writes what a reading says of a URL.
pub fn settle(
    url: &mut CrawlUrl,
    before: &CrawlUrl,
    reading: Reading,
    every: Option<Duration>,
    now: Timestamp,
) -> (PageChange, Option<DocId>) {
    let Reading { state, reason, change, canonical, target, validators, digest, is_requested: _ } = reading;
    let changed = digest != before.content_digest || state != before.state;
    (url.state, url.reason, url.target_id) = (state, reason.map(str::to_owned), target);
    (url.attempts, url.missing, url.queued) = (0, 0, false);
    if changed {
        url.changed_at = Some(now);
        url.changes = url.changes.saturating_add(1);
    }
    (url.fetched_from, url.etag, url.last_modified) = match validators {
        Some(validators) => (Some(validators.url), validators.etag, validators.last_modified),
        None => (None, None, None),
    };
    url.content_digest = digest;
    schedule(url, every, changed, now);
    (change, canonical)
}

/// Returns the next visit to a URL that has changed since the last one or not.
pub fn next_visit(url: &CrawlUrl, every: Option<Duration>, changed: bool, now: Timestamp) -> NextVisit {
    let last = url.interval_seconds.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs);
    // Sitemaps and feeds announce the changes of pages.
    let is_list = url.kind == CrawlUrlKind::Sitemap || url.reason.as_deref() == Some(FEED);
    let interval = every.map(|every| if is_list { every } else { Bounds::new(every).next(last, changed) });
    NextVisit {
        at: interval.map(|interval| now + interval),
        interval_seconds: interval.and_then(|interval| i64::try_from(interval.as_secs()).ok()),
    }
}

fn schedule(url: &mut CrawlUrl, every: Option<Duration>, changed: bool, now: Timestamp) {
    let next = next_visit(url, every, changed, now);
    (url.next_fetch_at, url.interval_seconds) = (next.at, next.interval_seconds);
}

/// Writes the consequences of a visit that told nothing of the content. `is_listed` tells if the page is in the index, whoever
/// listed it.
pub fn trouble_with(
    url: &mut CrawlUrl,
    before: &CrawlUrl,
    is_listed: bool,
    trouble: &Trouble,
    every: Option<Duration>,
    pace: &mut Pace,
    now: Timestamp,
) -> (PageChange, Option<DocId>, Duration, bool) {
    let was_listed = before.state == CrawlUrlState::Listed;
    match trouble {
        Trouble::Missing(name) => {
            pace.failures = 0;
            url.missing = url.missing.saturating_add(1);
            (url.attempts, url.queued) = (0, false);
            let is_checked_again = (was_listed || is_listed) && url.missing < MAX_MISSING;
            // A page that something else listed stays until then, but is none of this crawl's.
            if !was_listed || !is_checked_again {
                let is_guess = before.kind == CrawlUrlKind::Sitemap && url.url.ends_with("/sitemap.xml") && !was_listed;
                (url.state, url.reason) = match is_guess {
                    true => (CrawlUrlState::Skipped, Some("no_sitemap".to_owned())),
                    false => (CrawlUrlState::Gone, Some(name.clone())),
                };
                (url.etag, url.last_modified, url.content_digest) = (None, None, None);
            }
            if is_checked_again {
                let check = every.map_or(MISSING_CHECK, |every| every.min(MISSING_CHECK));
                url.next_fetch_at = Some(now + check);
                return (PageChange::Keep, None, pace.delay(), false);
            }
            schedule(url, every, false, now);
            (PageChange::Remove, None, pace.delay(), false)
        }
        Trouble::Busy => {
            url.next_fetch_at = Some(now + Duration::from_secs(1));
            (PageChange::Keep, None, pace.delay(), false)
        }
        Trouble::Unread => {
            url.missing = 0;
            // The site has answered in vain, so it is asked less and less often.
            url.attempts = url.attempts.saturating_add(1);
            if url.attempts < MAX_BUSY_ATTEMPTS {
                url.next_fetch_at = Some(now + retry_after(url.attempts).min(LONGEST_RETRY));
            } else {
                give_up(url, was_listed, NOT_READ, every, now);
            }
            (PageChange::Keep, None, pace.delay(), false)
        }
        Trouble::Useless(name) => {
            url.missing = 0;
            give_up(url, was_listed, name, every, now);
            (PageChange::Keep, None, pace.delay(), false)
        }
        Trouble::Fetch(error) => {
            let is_busy =
                matches!(error, FetchError::Status { status: 429 | 503, .. } | FetchError::RobotsUnreachable { .. });
            let calls_for_back_off = error.is_temporary();
            if is_answer(error) {
                url.missing = 0;
                if !calls_for_back_off {
                    pace.failures = 0;
                }
            }
            let pause = if calls_for_back_off { pace.failed(error.retry_after()) } else { pace.delay() };
            let limit = if is_busy { MAX_BUSY_ATTEMPTS } else { MAX_ATTEMPTS };
            url.attempts = url.attempts.saturating_add(1);
            if calls_for_back_off && url.attempts < limit {
                let retry = if is_busy { pause } else { pause.max(retry_after(url.attempts)) };
                url.next_fetch_at = Some(now + retry);
            } else {
                give_up(url, was_listed, &reason::of_fetch(error), every, now);
            }
            (PageChange::Keep, None, pause, reason::is_unreachable(error))
        }
    }
}

/// Returns true if the host has answered, whatever is wrong with the page.
fn is_answer(error: &FetchError) -> bool {
    matches!(
        error,
        FetchError::Status { .. }
            | FetchError::ContentType { .. }
            | FetchError::TooLarge { .. }
            | FetchError::TooManyRedirects { .. }
            | FetchError::RedirectLoop
            | FetchError::Interrupted
            | FetchError::Protocol { .. }
    )
}

/// Returns the time to wait after this many attempts.
fn retry_after(attempts: i32) -> Duration {
    let exponent = u32::try_from(attempts.saturating_sub(1)).unwrap_or(0);
    FIRST_RETRY.saturating_mul(RETRY_FACTOR.saturating_pow(exponent))
}

/// Ends the attempts of this round. A listed page stays as it is.
fn give_up(url: &mut CrawlUrl, was_listed: bool, name: &str, every: Option<Duration>, now: Timestamp) {
    (url.attempts, url.queued) = (0, false);
    if !was_listed {
        (url.state, url.reason) = (CrawlUrlState::Failed, Some(name.to_owned()));
    }
    schedule(url, every, false, now);
}

#[cfg(test)]
mod tests {
    use fetcher::TimeoutStage;
    use model::CrawlId;
    use uuid::Uuid;

    use super::*;
    use crate::address::Address;
    use crate::outlinks;
    use crate::pace::PaceLimits;

    fn page() -> CrawlUrl {
        let address = Address::parse("https://h.test/a").expect("a URL");
        outlinks::seed(&address).into_row(CrawlId(Uuid::from_u128(1)))
    }

    #[test]
    fn feed_that_was_given_as_a_page_is_read_at_the_interval_of_the_crawl() {
        let every = Duration::from_hours(1);
        let intervals = |reason: &'static str| {
            let mut url = page();
            [(); 3].map(|()| {
                let before = url.clone();
                settle(&mut url, &before, Reading::skipped(reason), Some(every), Timestamp::from_millis(0));
                url.interval_seconds.unwrap_or(0) / 3_600
            })
        };
        assert_eq!(intervals(FEED), [1, 1, 1]);
        assert_eq!(intervals("noindex"), [1, 2, 4]);
    }

    fn pace() -> Pace {
        let limits = PaceLimits {
            min_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            max_crawl_delay: Duration::from_secs(60),
            max_back_off: Duration::from_secs(300),
        };
        Pace { limits, response: Duration::ZERO, crawl_delay: None, failures: 0, is_public: true }
    }

    fn status(status: u16) -> FetchError {
        FetchError::Status { status, retry_after: None }
    }

    #[test]
    fn page_is_removed_after_two_missing_responses_in_a_row() {
        let (now, every) = (Timestamp::from_millis(0), Some(Duration::from_hours(24)));
        for (case, between, is_removed) in [
            ("nothing", None, true),
            ("no text", Some(Trouble::Useless("no_text")), false),
            ("not read", Some(Trouble::Unread), false),
            ("503", Some(Trouble::from(status(503))), false),
            ("403", Some(Trouble::from(status(403))), false),
            ("interrupted", Some(Trouble::from(FetchError::Interrupted)), false),
            ("malformed", Some(Trouble::from(FetchError::Protocol { reason: "no location" })), false),
            ("too large", Some(Trouble::from(FetchError::TooLarge { limit: 1 })), false),
            ("timeout", Some(Trouble::from(FetchError::Timeout { stage: TimeoutStage::Total })), true),
            ("no connection", Some(Trouble::from(FetchError::Connect)), true),
            ("no request", Some(Trouble::Busy), true),
        ] {
            let mut url = CrawlUrl { state: CrawlUrlState::Listed, ..page() };
            let mut last = None;
            let troubles = [Some(Trouble::from(status(404))), between, Some(Trouble::from(status(410)))];
            for trouble in troubles.into_iter().flatten() {
                let before = url.clone();
                last = Some(trouble_with(&mut url, &before, true, &trouble, every, &mut pace(), now).0);
            }
            let expected = if is_removed { CrawlUrlState::Gone } else { CrawlUrlState::Listed };
            assert_eq!(url.state, expected, "{case}");
            assert_eq!(matches!(last, Some(PageChange::Remove)), is_removed, "{case}: {last:?}");
            assert!(is_removed || url.next_fetch_at == Some(now + MISSING_CHECK), "{case}: {:?}", url.next_fetch_at);
        }
    }

    /// Returns the failures in a row after visits with these outcomes.
    fn failures_after(errors: Vec<FetchError>) -> i32 {
        let mut pace = pace();
        for error in errors {
            let mut url = page();
            trouble_with(&mut url, &page(), false, &Trouble::from(error), None, &mut pace, Timestamp::from_millis(0));
        }
        pace.failures
    }

    #[test]
    fn answer_ends_a_row_of_failures() {
        let timeout = || FetchError::Timeout { stage: TimeoutStage::Total };
        for (between, expected) in [
            (status(403), 1),
            (status(404), 1),
            (FetchError::ContentType { content_type: "image/png".to_owned() }, 1),
            (FetchError::TooLarge { limit: 1 }, 1),
            (FetchError::TooManyRedirects { limit: 1 }, 1),
            (FetchError::RedirectLoop, 1),
            // Not sent.
            (FetchError::RefusedAddress, 3),
            // Calls for back-off itself.
            (status(503), 4),
            (FetchError::Interrupted, 4),
        ] {
            let failures = failures_after(vec![timeout(), timeout(), between.clone(), timeout()]);
            assert_eq!(failures, expected, "{between}");
        }
    }
}
