//! Limit of rejected credentials per source address: guesses and clients with an old key must not keep the database busy.
//!
//! Credentials that were accepted lately are checked in any case, so that the clients behind one address do not suffer from
//! each other. A check is paid for before it begins, so that concurrent ones do not exceed the limit, and accepted credentials get the
//! payment back. Memory is bounded: of many sources and credentials the oldest are forgotten.

mod checks;
mod generations;
mod source;

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use actix_web::HttpRequest;
use ipnet::IpNet;
use metrics::counter;
use time::{Duration, OffsetDateTime};
use tokio::sync::futures::OwnedNotified;

use checks::Checks;
use generations::Generations;

/// Sources and credentials remembered, in each of two generations.
const REMEMBERED: usize = 8_192;

/// Rejected credentials of all sources.
pub(crate) struct Rejections {
    per_minute: u32,
    trusted: Vec<IpNet>,
    /// Secret seed of the hashes by which credentials are remembered.
    seed: RandomState,
    tables: Mutex<Tables>,
}

struct Tables {
    sources: Generations<IpAddr, Allowance>,
    /// Hashes of accepted credentials.
    accepted: Generations<u64, ()>,
    /// Checks that have been paid for.
    checks: Checks,
}

/// Permission to check a credential. If it is dropped before the outcome is known, as the client has left, the check counts as a
/// rejection: it has kept the database busy.
#[must_use = "the outcome of the check decides what it costs"]
pub(crate) struct Permitted<'a> {
    rejections: &'a Rejections,
    /// `None` for a source without a limit.
    check: Option<Check>,
}

/// Check of a limited source.
#[derive(Clone, Copy)]
struct Check {
    source: IpAddr,
    /// Hash of the credential.
    hash: u64,
    /// False for a credential that was accepted lately.
    is_paid: bool,
}

/// Next step of a source.
enum Turn<'a> {
    Check(Permitted<'a>),
    /// Ask again when another check has ended.
    Wait(OwnedNotified),
    /// Try again after this time.
    Refused(Duration),
}

/// Rejections that a source may still cause, refilled continuously.
#[derive(Clone, Copy)]
struct Allowance {
    left: f64,
    at: OffsetDateTime,
}

/// Reason of a rejection, for its metric.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reason {
    /// No credential.
    Missing,
    /// Malformed, unknown, expired or revoked.
    Invalid,
    /// Not checked, because its source has reached the limit.
    Limited,
}

impl Reason {
    fn as_str(self) -> &'static str {
        match self {
            Reason::Missing => "missing",
            Reason::Invalid => "invalid",
            Reason::Limited => "limited",
        }
    }
}

impl Rejections {
    pub fn new(per_minute: u32, trusted: Vec<IpNet>) -> Self {
        let (sources, accepted) = (Generations::new(REMEMBERED), Generations::new(REMEMBERED));
        let tables = Tables { sources, accepted, checks: Checks::default() };
        Self { per_minute, trusted, seed: RandomState::new(), tables: Mutex::new(tables) }
    }

    /// Returns the limited source of a request; `None` for this machine and for trusted networks that name no client.
    pub fn source(&self, request: &HttpRequest) -> Option<IpAddr> {
        let peer = request.peer_addr()?.ip();
        source::of(peer, request.headers(), &self.trusted).filter(|_| self.per_minute > 0)
    }

    /// Permits the check of a credential. A source that has spent its limit on checks in progress waits for their ends: most keys are
    /// accepted, and cost nothing. `now` reads the clock.
    ///
    /// # Errors
    /// Returns the time until the source may try again.
    pub async fn permit(
        &self,
        source: Option<IpAddr>,
        credential: &str,
        now: impl Fn() -> OffsetDateTime,
    ) -> Result<Permitted<'_>, Duration> {
        let Some(source) = source else { return Ok(Permitted { rejections: self, check: None }) };
        let hash = self.seed.hash_one(credential);
        loop {
            match self.turn(source, hash, now()) {
                Turn::Check(permitted) => return Ok(permitted),
                Turn::Wait(ended) => ended.await,
                Turn::Refused(wait) => {
                    count(Reason::Limited, 1);
                    return Err(wait);
                }
            }
        }
    }

    fn turn(&self, source: IpAddr, hash: u64, now: OffsetDateTime) -> Turn<'_> {
        let permitted =
            |is_paid| Turn::Check(Permitted { rejections: self, check: Some(Check { source, hash, is_paid }) });
        let mut tables = self.lock();
        if tables.accepted.get(&hash).is_some() {
            return permitted(false);
        }
        let left = self.allowance(&mut tables, source, now).left;
        if left >= 1.0 {
            self.change(&mut tables, source, -1.0, now);
            tables.checks.begin(source);
            return permitted(true);
        }
        match tables.checks.ended(source) {
            Some(ended) => Turn::Wait(ended),
            None => Turn::Refused(Duration::seconds_f64((1.0 - left) / self.per_second())),
        }
    }

    /// Counts a request without a credential, which costs nothing to refuse.
    pub fn reject_missing(&self) {
        count(Reason::Missing, 1);
    }

    /// Counts a credential that cannot be one, which costs nothing to refuse either.
    pub fn reject_malformed(&self) {
        count(Reason::Invalid, 1);
    }

    /// Ends a check that cost nothing.
    fn give_back(&self, tables: &mut Tables, check: Check, now: OffsetDateTime) {
        if check.is_paid {
            self.change(tables, check.source, 1.0, now);
            tables.checks.end(check.source, true);
        }
    }

    /// Changes what a source has left.
    fn change(&self, tables: &mut Tables, source: IpAddr, by: f64, now: OffsetDateTime) {
        let Allowance { left, at } = self.allowance(tables, source, now);
        let most = f64::from(self.per_minute);
        let left = (left + by).clamp(0.0, most);
        if left < most {
            tables.sources.insert(source, Allowance { left, at });
        } else {
            // Sources that send accepted keys must not make it forget others.
            tables.sources.remove(&source);
        }
    }

    /// Returns what a source has left.
    fn allowance(&self, tables: &mut Tables, source: IpAddr, now: OffsetDateTime) -> Allowance {
        let most = f64::from(self.per_minute);
        let Some(Allowance { left, at }) = tables.sources.get(&source).copied() else {
            return Allowance { left: most, at: now };
        };
        // A clock that went back refills nothing.
        let refilled = (now - at).as_seconds_f64().max(0.0) * self.per_second();
        Allowance { left: (left + refilled).min(most), at: now }
    }

    fn per_second(&self) -> f64 {
        f64::from(self.per_minute) / 60.0
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permitted<'_> {
    /// Remembers the credential as an accepted one. The check costs nothing.
    pub fn accept(mut self, now: OffsetDateTime) {
        let Some(check) = self.check.take() else { return };
        let mut tables = self.rejections.lock();
        tables.accepted.insert(check.hash, ());
        self.rejections.give_back(&mut tables, check, now);
    }

    /// Counts a rejected credential.
    pub fn reject(mut self, now: OffsetDateTime) {
        count(Reason::Invalid, 1);
        let Some(Check { source, hash, is_paid }) = self.check.take() else { return };
        let mut tables = self.rejections.lock();
        tables.accepted.remove(&hash);
        if is_paid {
            tables.checks.end(source, false);
        } else {
            self.rejections.change(&mut tables, source, -1.0, now);
        }
    }

    /// Ends a check that failed, which is no fault of the source and costs nothing.
    pub fn fail(mut self, now: OffsetDateTime) {
        let Some(check) = self.check.take() else { return };
        self.rejections.give_back(&mut self.rejections.lock(), check, now);
    }
}

impl Drop for Permitted<'_> {
    fn drop(&mut self) {
        if let Some(Check { source, is_paid: true, .. }) = self.check.take() {
            self.rejections.lock().checks.end(source, false);
        }
    }
}

/// Makes the counters known to the first scrape.
pub(crate) fn register() {
    [Reason::Missing, Reason::Invalid, Reason::Limited].into_iter().for_each(|reason| count(reason, 0));
}

fn count(reason: Reason, credentials: u64) {
    counter!("retrieval_rejected_credentials_total", "reason" => reason.as_str()).increment(credentials);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::cell::Cell;
    use std::pin::pin;

    use futures_util::FutureExt;
    use futures_util::future::join_all;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-06-15 12:00 UTC);

    fn ip(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([203, 0, 113, last]))
    }

    /// Permits a check that has no other to wait for.
    fn permit<'a>(
        rejections: &'a Rejections,
        source: Option<IpAddr>,
        credential: &str,
        now: OffsetDateTime,
    ) -> Result<Permitted<'a>, Duration> {
        rejections.permit(source, credential, || now).now_or_never().unwrap()
    }

    /// Checks a credential and rejects it.
    fn reject(
        rejections: &Rejections,
        source: Option<IpAddr>,
        credential: &str,
        now: OffsetDateTime,
    ) -> Result<(), Duration> {
        permit(rejections, source, credential, now).map(|permitted| permitted.reject(now))
    }

    #[test]
    fn source_waits_after_its_limit_and_others_do_not() {
        let rejections = Rejections::new(3, vec![]);
        for _ in 0..3 {
            assert_eq!(reject(&rejections, ip(1), "wrong", NOW), Ok(()));
        }
        assert_eq!(reject(&rejections, ip(1), "another", NOW), Err(Duration::seconds(20)));
        assert_eq!(reject(&rejections, ip(2), "wrong", NOW), Ok(()));
        let later = NOW + Duration::seconds(20);
        assert_eq!(reject(&rejections, ip(1), "another", later), Ok(()));
        assert!(reject(&rejections, ip(1), "another", later).is_err());
        assert!(reject(&rejections, ip(1), "another", NOW).is_err(), "a clock that goes back refills nothing");
    }

    #[test]
    fn accepted_credentials_pass_until_they_are_rejected() {
        let rejections = Rejections::new(1, vec![]);
        permit(&rejections, ip(1), "right", NOW).unwrap().accept(NOW);
        assert_eq!(reject(&rejections, ip(1), "wrong", NOW), Ok(()), "an accepted one costs nothing");
        assert!(reject(&rejections, ip(1), "wrong", NOW).is_err());
        assert_eq!(reject(&rejections, ip(1), "right", NOW), Ok(()));
        assert!(reject(&rejections, ip(1), "right", NOW).is_err(), "revoked");
    }

    #[test]
    fn rejection_of_a_credential_that_was_accepted_lately_counts() {
        let rejections = Rejections::new(2, vec![]);
        permit(&rejections, ip(1), "right", NOW).unwrap().accept(NOW);
        for _ in 0..2 {
            assert_eq!(reject(&rejections, ip(1), "right", NOW), Ok(()));
        }
        assert!(reject(&rejections, ip(1), "wrong", NOW).is_err());
    }

    #[test]
    fn trusted_peers_without_a_client_are_not_limited() {
        let rejections = Rejections::new(1, vec![]);
        (0..9).for_each(|_| assert_eq!(reject(&rejections, None, "wrong", NOW), Ok(())));
    }

    /// Checks a credential while others are checked.
    async fn check(
        rejections: &Rejections,
        checks: &Cell<usize>,
        credential: String,
        is_right: bool,
    ) -> Result<(), Duration> {
        let permitted = rejections.permit(ip(1), &credential, || NOW).await?;
        checks.set(checks.get() + 1);
        tokio::task::yield_now().await;
        if is_right {
            permitted.accept(NOW);
        } else {
            permitted.reject(NOW);
        }
        Ok(())
    }

    #[tokio::test]
    async fn concurrent_guesses_do_not_exceed_the_limit() {
        let (rejections, checks) = (Rejections::new(60, vec![]), Cell::new(0));
        let guesses = (0..256).map(|number| check(&rejections, &checks, format!("guess {number}"), false));
        let outcomes = join_all(guesses).await;
        assert_eq!((checks.get(), outcomes.iter().filter(|outcome| outcome.is_ok()).count()), (60, 60));
        assert!(reject(&rejections, ip(1), "wrong", NOW).is_err());
    }

    #[tokio::test]
    async fn concurrent_right_credentials_wait_for_each_other_and_pass() {
        let names: [fn(usize) -> String; 2] = [|_| "the same".to_owned(), |number| format!("another {number}")];
        for name in names {
            let (rejections, checks) = (Rejections::new(60, vec![]), Cell::new(0));
            let outcomes = join_all((0..200).map(|number| check(&rejections, &checks, name(number), true))).await;
            assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
            assert_eq!(checks.get(), 200);
            assert!(rejections.lock().sources.get(&ip(1).unwrap()).is_none(), "they cost nothing");
            let left = (0..99).take_while(|_| reject(&rejections, ip(1), "wrong", NOW).is_ok()).count();
            assert_eq!(left, 60);
        }
    }

    #[tokio::test]
    async fn right_credentials_among_guesses_pass_while_something_is_left() {
        let (rejections, checks) = (Rejections::new(60, vec![]), Cell::new(0));
        let wrong = (0..59).map(|number| check(&rejections, &checks, format!("guess {number}"), false));
        let right = (0..200).map(|number| check(&rejections, &checks, format!("right {number}"), true));
        let (wrong, right) = tokio::join!(join_all(wrong), join_all(right));
        assert!(wrong.iter().chain(&right).all(Result::is_ok));
    }

    #[test]
    fn failed_checks_cost_nothing() {
        let rejections = Rejections::new(1, vec![]);
        for _ in 0..3 {
            permit(&rejections, ip(1), "unknown", NOW).unwrap().fail(NOW);
        }
        assert_eq!(reject(&rejections, ip(1), "wrong", NOW), Ok(()));
    }

    #[test]
    fn checks_whose_clients_leave_count() {
        let rejections = Rejections::new(1, vec![]);
        let checking = permit(&rejections, ip(1), "unknown", NOW).unwrap();
        let mut waiting = pin!(rejections.permit(ip(1), "another", || NOW));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(checking);
        assert!(waiting.now_or_never().unwrap().is_err());
        assert!(reject(&rejections, ip(1), "another", NOW).is_err());
        let later = NOW + Duration::minutes(1);
        assert_eq!(reject(&rejections, ip(1), "another", later), Ok(()));
    }
}
