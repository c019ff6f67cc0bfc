//! Overview of an organization's requests in a time window.

use std::collections::{BTreeMap, HashMap, HashSet};

use docstore::ApiKey;
use ingest::clock::to_date_time;
use model::{ApiKeyId, KeyState, Timestamp};
use time::OffsetDateTime;

pub use super::count::Totals;
use super::count::{Count, SEARCH};
use super::read::Counter;
use super::window::Window;
use crate::error::Result;
use crate::{App, Identity, Viewer};

/// A validated usage request.
#[derive(Clone, Debug)]
pub struct UsageRequest {
    pub window: Window,
    /// Keys to include; empty for all credentials, access tokens included.
    pub api_key_ids: Vec<ApiKeyId>,
    pub group_by: GroupBy,
}

/// Dimension whose values each get a series.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum GroupBy {
    #[default]
    None,
    ApiKey,
    Endpoint,
    StatusClass,
}

/// Totals, breakdowns and series of one window.
#[derive(Clone, Debug)]
pub struct UsageOverview {
    pub window: Window,
    pub headline: Totals,
    /// Sorted by requests, descending.
    pub endpoints: Vec<EndpointUsage>,
    /// Every requested key, with or without requests; sorted by requests, descending.
    pub keys: Vec<KeyUsage>,
    /// Totals per bucket.
    pub latency: Vec<(OffsetDateTime, Totals)>,
    pub search: Totals,
    /// One point per group and bucket.
    pub series: Vec<SeriesPoint>,
}

#[derive(Clone, Debug)]
pub struct EndpointUsage {
    pub route: String,
    pub totals: Totals,
}

#[derive(Clone, Debug)]
pub struct KeyUsage {
    pub api_key_id: ApiKeyId,
    pub key_prefix: String,
    pub name: String,
    pub status: KeyState,
    pub totals: Totals,
    pub last_used_at: Option<OffsetDateTime>,
}

/// Returns the state of the key at `now`.
pub fn key_state(key: &ApiKey, now: Timestamp) -> KeyState {
    if key.revoked_at.is_some() {
        KeyState::Revoked
    } else if key.expires_at.is_some_and(|at| at <= now) {
        KeyState::Expired
    } else {
        KeyState::Active
    }
}

/// Requests of one group in one bucket.
#[derive(Clone, Debug)]
pub struct SeriesPoint {
    pub bucket: OffsetDateTime,
    pub group_id: String,
    pub group_label: String,
    pub requests: i64,
    pub errors: i64,
}

impl App {
    /// Returns the usage of the viewer's organization.
    pub async fn usage_overview(&self, viewer: &Viewer, request: UsageRequest) -> Result<UsageOverview> {
        let organization_id = viewer.organization_id;
        let exact_since = request.window.now - self.options.usage_retention;
        let counter = Counter { store: &self.store, organization_id, exact_since };
        let named = if request.group_by == GroupBy::ApiKey && request.api_key_ids.is_empty() {
            counter.named_identities(&request.window).await?
        } else {
            None
        };
        let keys = self.store.list_api_keys(organization_id).await?;
        let mut counts = Counts::new(&request, &keys, named);
        counter.read(&request.window, |at, identity, route, one| counts.add(at, identity, route, one)).await?;
        Ok(counts.overview(&request, keys, self.clock.now()))
    }
}

/// Group of the credentials that a breakdown does not name.
const OTHERS: &str = "other";

/// Requests and errors of one bucket of one group.
#[derive(Clone, Copy, Default)]
struct Point {
    requests: i64,
    errors: i64,
}

/// Accumulator of an overview.
struct Counts {
    window: Window,
    group_by: GroupBy,
    /// Identities to count; all if `None`.
    wanted: Option<HashSet<String>>,
    /// Identities with a group of their own; all if `None`.
    named: Option<HashSet<String>>,
    all: Count,
    by_route: BTreeMap<String, Count>,
    /// The keys that are shown. Other identities, of which there may be any number, are not.
    by_key: HashMap<String, Count>,
    by_bucket: HashMap<Timestamp, Count>,
    by_group: BTreeMap<String, HashMap<Timestamp, Point>>,
}

impl Counts {
    fn new(request: &UsageRequest, shown: &[ApiKey], named: Option<HashSet<String>>) -> Self {
        let keys = &request.api_key_ids;
        let wanted = (!keys.is_empty()).then(|| keys.iter().map(|id| Identity::ApiKey(*id).rate_key()).collect());
        Self {
            window: request.window,
            group_by: request.group_by,
            wanted,
            named,
            all: Count::default(),
            by_route: BTreeMap::new(),
            by_key: shown.iter().map(|key| (Identity::ApiKey(key.id).rate_key(), Count::default())).collect(),
            by_bucket: HashMap::new(),
            by_group: BTreeMap::new(),
        }
    }

    fn add(&mut self, at: Timestamp, identity: String, route: String, one: &Count) {
        if self.wanted.as_ref().is_some_and(|wanted| !wanted.contains(&identity)) {
            return;
        }
        let bucket = self.window.bucket_of(at);
        self.all.add(one);
        self.by_bucket.entry(bucket).or_default().add(one);
        let errors = one.client_errors + one.server_errors;
        let mut point = |group: &str, requests: i64, errors: i64| {
            if requests > 0 {
                let points = self.by_group.entry(group.to_owned()).or_default();
                let point = points.entry(bucket).or_default();
                point.requests += requests;
                point.errors += errors;
            }
        };
        match self.group_by {
            GroupBy::None => point("", one.requests, errors),
            GroupBy::ApiKey => {
                let is_named = self.named.as_ref().is_none_or(|named| named.contains(&identity));
                point(if is_named { identity.as_str() } else { OTHERS }, one.requests, errors);
            }
            GroupBy::Endpoint => point(&route, one.requests, errors),
            GroupBy::StatusClass => {
                point("2xx", one.requests - errors, 0);
                point("4xx", one.client_errors, one.client_errors);
                point("5xx", one.server_errors, one.server_errors);
            }
        }
        self.by_route.entry(route).or_default().add(one);
        if let Some(count) = self.by_key.get_mut(&identity) {
            count.add(one);
        }
    }

    fn overview(mut self, request: &UsageRequest, keys: Vec<ApiKey>, now: Timestamp) -> UsageOverview {
        let buckets: Vec<Timestamp> = self.window.buckets().collect();
        let none = Count::default();
        let latency = buckets
            .iter()
            .map(|bucket| (to_date_time(*bucket), self.by_bucket.get(bucket).unwrap_or(&none).totals()))
            .collect();
        let labels: HashMap<String, &ApiKey> =
            keys.iter().map(|key| (Identity::ApiKey(key.id).rate_key(), key)).collect();
        if self.group_by == GroupBy::None {
            // Without any request the series is all zeros, not empty.
            self.by_group.entry(String::new()).or_default();
        }
        let mut series = Vec::with_capacity(self.by_group.len() * buckets.len());
        for (group, points) in &self.by_group {
            let (group_id, group_label) = match labels.get(group).filter(|_| self.group_by == GroupBy::ApiKey) {
                Some(key) => (key.id.to_string(), key.name.clone()),
                None => (group.clone(), label(group)),
            };
            series.extend(buckets.iter().map(|bucket| {
                let point = points.get(bucket).copied().unwrap_or_default();
                SeriesPoint {
                    bucket: to_date_time(*bucket),
                    group_id: group_id.clone(),
                    group_label: group_label.clone(),
                    requests: point.requests,
                    errors: point.errors,
                }
            }));
        }
        let mut endpoints: Vec<EndpointUsage> = self
            .by_route
            .iter()
            .filter(|(_, count)| count.requests > 0)
            .map(|(route, count)| EndpointUsage { route: route.clone(), totals: count.totals() })
            .collect();
        endpoints.sort_by_key(|endpoint| std::cmp::Reverse(endpoint.totals.requests));
        let requested = |key: &&ApiKey| request.api_key_ids.is_empty() || request.api_key_ids.contains(&key.id);
        let mut key_usage: Vec<KeyUsage> = keys
            .iter()
            .filter(requested)
            .map(|key| KeyUsage {
                api_key_id: key.id,
                key_prefix: key.prefix.clone(),
                name: key.name.clone(),
                status: key_state(key, now),
                totals: self.by_key.get(&Identity::ApiKey(key.id).rate_key()).unwrap_or(&none).totals(),
                last_used_at: key.last_used_at.map(to_date_time),
            })
            .collect();
        key_usage.sort_by_key(|key| std::cmp::Reverse(key.totals.requests));
        UsageOverview {
            window: self.window,
            headline: self.all.totals(),
            endpoints,
            keys: key_usage,
            latency,
            search: self.by_route.get(SEARCH).unwrap_or(&none).totals(),
            series,
        }
    }
}

/// Returns the display name of a status class, an access token, the unnamed credentials or the MCP route; other groups keep
/// their name. Display names of operations are in the table of operations.
pub fn label(group: &str) -> String {
    let known = match group {
        "POST /mcp" => "MCP",
        "2xx" => "Success",
        "4xx" => "Client error",
        "5xx" => "Server error",
        OTHERS => "Other credentials",
        // A prefix is enough to distinguish subjects.
        other => match other.strip_prefix("sub:") {
            Some(id) => return format!("Access token {}", id.get(..8).unwrap_or(id)),
            None => other,
        },
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use time::macros::datetime;

    use super::super::window::Interval;
    use super::*;

    #[test]
    fn unnamed_credentials_are_one_group() {
        let window = Window::resolve(None, None, Interval::Day, datetime!(2026-06-15 12:30 UTC)).unwrap();
        let request = UsageRequest { window, api_key_ids: Vec::new(), group_by: GroupBy::ApiKey };
        let mut counts = Counts::new(&request, &[], Some(HashSet::from(["sub:1".to_owned()])));
        let one = Count { requests: 1, ..Count::default() };
        for identity in ["sub:1", "sub:2", "key:3"] {
            counts.add(window.from, identity.to_owned(), SEARCH.to_owned(), &one);
        }
        let overview = counts.overview(&request, Vec::new(), window.now);
        let groups: Vec<_> = overview
            .series
            .iter()
            .filter(|point| point.requests > 0)
            .map(|point| (point.group_label.as_str(), point.requests))
            .collect();
        assert_eq!(groups, [("Other credentials", 2), ("Access token 1", 1)]);
        assert_eq!(overview.headline.requests, 3);
    }
}
