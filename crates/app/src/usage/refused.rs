//! Sums of refused requests. These cost their sender nothing, so a client beyond its limit sends any number of them. But for the
//! first ones of a minute, they take no place in the queue of single requests, which all organizations share, and no row each.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use docstore::{MINUTE, UsageEvent, UsageRollup};
use model::{ApiKeyId, OrganizationId, Timestamp};

use super::count::Count;
use super::window::round_down;

/// Maximum number of sums between two batches of the writer.
const MAX_SUMS: usize = 10_000;
/// Refused requests of an organization that are stored one by one in a minute: windows that begin or end within it then count exactly.
const MAX_SINGLE: u32 = 100;

/// Organization, minute, identity and route.
type Key = (OrganizationId, Timestamp, String, String);

/// Refused requests: how many are stored one by one, and the sums of others.
#[derive(Default)]
pub(super) struct Refused(Mutex<State>);

#[derive(Default)]
struct State {
    /// Minute of the last request, and the number of those in it that are stored one by one.
    single: HashMap<OrganizationId, (Timestamp, u32)>,
    /// Sums that are not written yet.
    sums: HashMap<Key, Counted>,
}

struct Counted {
    api_key: Option<ApiKeyId>,
    last: Timestamp,
    count: Count,
}

/// Refused requests of one identity to one route in one minute.
pub(super) struct Sum {
    /// API key of the requests, if they had one.
    pub api_key: Option<ApiKeyId>,
    /// Time of the last request.
    pub last: Timestamp,
    pub minute: UsageRollup,
}

impl Refused {
    /// Returns true for the first requests of an organization in a minute, which are stored one by one.
    pub fn is_single(&self, request: &UsageEvent) -> bool {
        let minute = round_down(request.created_at, MINUTE);
        let mut state = self.lock();
        let (last, count) = state.single.entry(request.organization_id).or_insert((minute, 0));
        if *last != minute {
            (*last, *count) = (minute, 0);
        }
        let is_single = *count < MAX_SINGLE;
        *count += u32::from(is_single);
        is_single
    }

    /// Adds a request to its sum. Returns true if no sum existed before, and `None` if there is no place for another one.
    pub fn add(&self, request: &UsageEvent, api_key: Option<ApiKeyId>) -> Option<bool> {
        let at = request.created_at;
        let key = (request.organization_id, round_down(at, MINUTE), request.identity.clone(), request.route.clone());
        let mut state = self.lock();
        let sums = &mut state.sums;
        let (is_first, is_full) = (sums.is_empty(), sums.len() >= MAX_SUMS);
        let counted = match sums.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(_) if is_full => return None,
            Entry::Vacant(entry) => entry.insert(Counted { api_key, last: at, count: Count::default() }),
        };
        counted.last = counted.last.max(at);
        counted.count.add(&Count::of(request.status, request.duration_us));
        Some(is_first)
    }

    /// Removes and returns all sums.
    pub fn take(&self) -> impl Iterator<Item = Sum> + use<> {
        let sums = mem::take(&mut self.lock().sums);
        sums.into_iter().map(|((organization_id, start, identity, route), Counted { api_key, last, count })| {
            let minute = UsageRollup {
                organization_id,
                period: MINUTE,
                start,
                identity,
                route,
                requests: count.requests,
                client_errors: count.client_errors,
                server_errors: count.server_errors,
                duration_us: count.duration_us,
                spend_cents: count.spend_cents,
                histogram: count.durations.to_bytes(),
            };
            Sum { api_key, last, minute }
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn request(route: usize, status: i32, at: i64) -> UsageEvent {
        UsageEvent {
            organization_id: OrganizationId(Uuid::from_u128(1)),
            identity: "key:1".to_owned(),
            route: format!("GET /{route}"),
            status,
            duration_us: 100,
            created_at: Timestamp::from_millis(at),
        }
    }

    #[test]
    fn requests_are_summed_by_minute() {
        let refused = Refused::default();
        let added = [(429, 1), (403, MINUTE - 1), (500, 2), (429, MINUTE)]
            .map(|(status, at)| refused.add(&request(0, status, at), None));
        assert_eq!(added, [Some(true), Some(false), Some(false), Some(false)]);
        let mut sums: Vec<Sum> = refused.take().collect();
        sums.sort_by_key(|sum| sum.last);
        let counts = sums.iter().map(|sum| {
            let UsageRollup { start, requests, client_errors, server_errors, duration_us, .. } = sum.minute;
            (sum.last.as_millis(), start.as_millis(), requests, client_errors, server_errors, duration_us)
        });
        let expected = [(MINUTE - 1, 0, 3, 2, 1, 300), (MINUTE, MINUTE, 1, 1, 0, 100)];
        assert_eq!(counts.collect::<Vec<_>>(), expected);
        assert_eq!(refused.take().count(), 0);
    }

    #[test]
    fn first_requests_of_a_minute_are_single() {
        let refused = Refused::default();
        let mut other = request(0, 429, 0);
        other.organization_id = OrganizationId(Uuid::from_u128(2));
        let single = |at: i64| (0..150).filter(|route| refused.is_single(&request(*route, 429, at))).count();
        assert_eq!([single(0), single(MINUTE - 1)], [100, 0]);
        assert!(refused.is_single(&other));
        assert_eq!([single(MINUTE), single(MINUTE)], [100, 0]);
    }

    #[test]
    fn number_of_sums_is_bounded() {
        let refused = Refused::default();
        (0..MAX_SUMS).for_each(|route| assert!(refused.add(&request(route, 429, 0), None).is_some()));
        assert_eq!(refused.add(&request(MAX_SUMS, 429, 0), None), None);
        assert_eq!(refused.add(&request(0, 429, 0), None), Some(false), "its sum exists");
        assert_eq!(refused.take().count(), MAX_SUMS);
        assert_eq!(refused.add(&request(MAX_SUMS, 429, 0), None), Some(true));
    }
}
