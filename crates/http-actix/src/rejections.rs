//! Limit of rejected credentials per source address: guesses and clients with an old key must not keep the database busy.
//!
//! Credentials that were accepted lately are checked in any case, so that the clients behind one address do not suffer from
//! each other. Memory is bounded: of many sources and credentials the oldest are forgotten.

mod generations;
mod source;

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use actix_web::HttpRequest;
use ipnet::IpNet;
use metrics::counter;
use time::{Duration, OffsetDateTime};

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
        let tables = Tables { sources: Generations::new(REMEMBERED), accepted: Generations::new(REMEMBERED) };
        Self { per_minute, trusted, seed: RandomState::new(), tables: Mutex::new(tables) }
    }

    /// Returns the limited source of a request; `None` for this machine and for trusted networks that name no client.
    pub fn source(&self, request: &HttpRequest) -> Option<IpAddr> {
        let peer = request.peer_addr()?.ip();
        source::of(peer, request.headers(), &self.trusted).filter(|_| self.per_minute > 0)
    }

    /// Permits the check of a credential.
    ///
    /// # Errors
    /// Returns the time until the source may try again.
    pub fn permit(&self, source: Option<IpAddr>, credential: &str, now: OffsetDateTime) -> Result<(), Duration> {
        let Some(source) = source else { return Ok(()) };
        let hash = self.seed.hash_one(credential);
        let mut tables = self.lock();
        if tables.accepted.get(&hash).is_some() {
            return Ok(());
        }
        let left = self.allowance(&mut tables, source, now).left;
        if left >= 1.0 {
            return Ok(());
        }
        drop(tables);
        count(Reason::Limited, 1);
        Err(Duration::seconds_f64((1.0 - left) / self.per_second()))
    }

    /// Remembers an accepted credential.
    pub fn accept(&self, source: Option<IpAddr>, credential: &str) {
        if source.is_some() {
            let hash = self.seed.hash_one(credential);
            self.lock().accepted.insert(hash, ());
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

    /// Counts a rejected credential.
    pub fn reject(&self, source: Option<IpAddr>, credential: &str, now: OffsetDateTime) {
        count(Reason::Invalid, 1);
        let Some(source) = source else { return };
        let mut tables = self.lock();
        tables.accepted.remove(&self.seed.hash_one(credential));
        let Allowance { left, at } = self.allowance(&mut tables, source, now);
        tables.sources.insert(source, Allowance { left: (left - 1.0).max(0.0), at });
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

/// Makes the counters known to the first scrape.
pub(crate) fn register() {
    [Reason::Missing, Reason::Invalid, Reason::Limited].into_iter().for_each(|reason| count(reason, 0));
}

fn count(reason: Reason, credentials: u64) {
    counter!("retrieval_rejected_credentials_total", "reason" => reason.as_str()).increment(credentials);
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-06-15 12:00 UTC);

    fn ip(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([203, 0, 113, last]))
    }

    #[test]
    fn source_waits_after_its_limit_and_others_do_not() {
        let rejections = Rejections::new(3, vec![]);
        for _ in 0..3 {
            assert_eq!(rejections.permit(ip(1), "wrong", NOW), Ok(()));
            rejections.reject(ip(1), "wrong", NOW);
        }
        assert_eq!(rejections.permit(ip(1), "another", NOW), Err(Duration::seconds(20)));
        assert_eq!(rejections.permit(ip(2), "wrong", NOW), Ok(()));
        let later = NOW + Duration::seconds(20);
        assert_eq!(rejections.permit(ip(1), "another", later), Ok(()));
        rejections.reject(ip(1), "another", later);
        assert!(rejections.permit(ip(1), "another", later).is_err());
        assert!(rejections.permit(ip(1), "another", NOW).is_err(), "a clock that goes back refills nothing");
    }

    #[test]
    fn accepted_credentials_pass_until_they_are_rejected() {
        let rejections = Rejections::new(1, vec![]);
        rejections.accept(ip(1), "right");
        rejections.reject(ip(1), "wrong", NOW);
        assert!(rejections.permit(ip(1), "wrong", NOW).is_err());
        assert_eq!(rejections.permit(ip(1), "right", NOW), Ok(()));
        rejections.reject(ip(1), "right", NOW);
        assert!(rejections.permit(ip(1), "right", NOW).is_err(), "revoked");
    }

    #[test]
    fn trusted_peers_without_a_client_are_not_limited() {
        let rejections = Rejections::new(1, vec![]);
        (0..9).for_each(|_| rejections.reject(None, "wrong", NOW));
        assert_eq!(rejections.permit(None, "wrong", NOW), Ok(()));
    }
}
