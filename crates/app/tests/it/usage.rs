use std::time::Duration;

use app::Identity;
use app::accounts::NewKey;
use app::usage::{GroupBy, Interval, UsageEvent, UsageOverview, UsageRequest, Window};
use model::{Clock, KeyState};
use test_support::{Setup, Tenant, TestApp, page, search};
use time::OffsetDateTime;
use time::macros::datetime;

const SEARCH: &str = "POST /v1/search";
const NOW: OffsetDateTime = datetime!(2026-06-15 12:30 UTC);

fn event(tenant: &Tenant, route: &'static str, status: u16, at: OffsetDateTime) -> UsageEvent {
    UsageEvent {
        organization_id: tenant.organization_id,
        identity: tenant.viewer.identity.clone(),
        route,
        status,
        duration: Duration::from_millis(4),
        at,
        is_refused: false,
    }
}

async fn record(world: &TestApp, events: impl IntoIterator<Item = UsageEvent>) {
    events.into_iter().for_each(|event| world.app.record_usage(event));
    world.app.close().await;
}

fn request(from: OffsetDateTime, interval: Interval, group_by: GroupBy) -> UsageRequest {
    let window = Window::resolve(Some(from), None, interval, NOW).unwrap();
    UsageRequest { window, api_key_ids: Vec::new(), group_by }
}

async fn overview(world: &TestApp, tenant: &Tenant, request: UsageRequest) -> UsageOverview {
    world.app.usage_overview(&tenant.viewer, request).await.unwrap()
}

/// Requests of each group with any, summed over the window.
fn groups(overview: &UsageOverview) -> Vec<(String, i64, i64)> {
    let mut groups: Vec<(String, i64, i64)> = Vec::new();
    for point in overview.series.iter().filter(|point| point.requests > 0) {
        match groups.iter_mut().find(|(label, ..)| *label == point.group_label) {
            Some((_, requests, errors)) => {
                *requests += point.requests;
                *errors += point.errors;
            }
            None => groups.push((point.group_label.clone(), point.requests, point.errors)),
        }
    }
    groups
}

#[tokio::test]
async fn a_window_counts_exactly_what_is_in_it() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    // At the ends of a window of some days: before and after its start, in whole hours and days, at its very end.
    let times = [
        datetime!(2026-06-12 10:14:59.999 UTC),
        datetime!(2026-06-12 10:15 UTC),
        datetime!(2026-06-12 23:59:59 UTC),
        datetime!(2026-06-13 07:00 UTC),
        datetime!(2026-06-14 23:00 UTC),
        datetime!(2026-06-15 12:29:59.999 UTC),
        datetime!(2026-06-15 12:30 UTC),
    ];
    record(&world, times.map(|at| event(&tenant, SEARCH, 200, at))).await;
    for interval in [Interval::Day, Interval::Hour] {
        let request = request(datetime!(2026-06-12 10:15 UTC), interval, GroupBy::None);
        let overview = overview(&world, &tenant, request).await;
        assert_eq!(overview.headline.requests, 5, "{interval:?}");
        let points: i64 = overview.series.iter().map(|point| point.requests).sum();
        assert_eq!(points, 5, "{interval:?}");
        assert_eq!(overview.headline.avg_duration_ms, 4.0);
    }
    let by_day =
        overview(&world, &tenant, request(datetime!(2026-06-12 10:15 UTC), Interval::Day, GroupBy::None)).await;
    let days: Vec<_> = by_day.series.iter().map(|point| (point.bucket.day(), point.requests)).collect();
    assert_eq!(days, [(12, 2), (13, 1), (14, 1), (15, 1)]);
}

#[tokio::test]
async fn requests_are_grouped() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let by_token = |status| UsageEvent {
        identity: Identity::subject("https://issuer.example", "user-1"),
        ..event(&tenant, "POST /v1/document", status, datetime!(2026-06-15 10:00 UTC))
    };
    let by_key = |status| event(&tenant, SEARCH, status, datetime!(2026-06-14 10:00 UTC));
    record(&world, [by_key(200), by_key(200), by_key(404), by_token(200), by_token(503)]).await;
    let grouped = async |group_by| {
        groups(&overview(&world, &tenant, request(datetime!(2026-06-10 0:00 UTC), Interval::Day, group_by)).await)
    };
    let group = |label: &str, requests, errors| (label.to_owned(), requests, errors);
    assert_eq!(grouped(GroupBy::None).await, [group("", 5, 2)]);
    let by_endpoint = [group("POST /v1/document", 2, 1), group(SEARCH, 3, 1)];
    assert_eq!(grouped(GroupBy::Endpoint).await, by_endpoint);
    let by_class = [group("Success", 3, 0), group("Client error", 1, 1), group("Server error", 1, 1)];
    assert_eq!(grouped(GroupBy::StatusClass).await, by_class);
    let by_credential = grouped(GroupBy::ApiKey).await;
    assert_eq!(by_credential[0], group("", 3, 1), "the key has an empty name");
    // printf 'https://issuer.example\nuser-1' | sha256sum | cut -c1-8
    assert_eq!(by_credential[1], group("Access token 5d3cf9c7", 2, 1));
}

#[tokio::test]
async fn counts_can_be_limited_to_keys() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let other = world.create_key(tenant.organization_id, NewKey::default()).await.row.id;
    let at = datetime!(2026-06-14 10:00 UTC);
    let by_other = UsageEvent { identity: Identity::ApiKey(other), ..event(&tenant, SEARCH, 200, at) };
    record(&world, [event(&tenant, SEARCH, 200, at), by_other.clone(), by_other]).await;
    let whole = request(datetime!(2026-06-10 0:00 UTC), Interval::Day, GroupBy::None);
    let all = overview(&world, &tenant, whole.clone()).await;
    let used: Vec<_> = all.keys.iter().map(|key| (key.api_key_id, key.totals.requests)).collect();
    assert_eq!(used, [(other, 2), (tenant.key_id, 1)], "most requests first");
    let limited = overview(&world, &tenant, UsageRequest { api_key_ids: vec![other], ..whole }).await;
    assert_eq!((limited.headline.requests, limited.keys.len()), (2, 1));
}

#[tokio::test]
async fn keys_are_shown_with_their_state_and_last_use() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let second = Duration::from_secs(1);
    let expired = NewKey { expires_at: Some(world.clock.now() + second), ..NewKey::default() };
    let expired = world.create_key(tenant.organization_id, expired).await.row.id;
    world.clock.advance(second);
    let revoked = world.create_key(tenant.organization_id, NewKey::default()).await.row.id;
    world.revoke_key(revoked).await;
    let at = datetime!(2026-06-14 10:00 UTC);
    record(&world, [event(&tenant, SEARCH, 200, at)]).await;
    let overview =
        overview(&world, &tenant, request(datetime!(2026-06-10 0:00 UTC), Interval::Day, GroupBy::None)).await;
    let state = |id| {
        let key = overview.keys.iter().find(|key| key.api_key_id == id).unwrap();
        (key.status, key.last_used_at)
    };
    assert_eq!(state(tenant.key_id), (KeyState::Active, Some(at)));
    assert_eq!(state(expired), (KeyState::Expired, None));
    assert_eq!(state(revoked), (KeyState::Revoked, None));
}

#[tokio::test]
async fn spending_is_counted_with_the_search_that_caused_it() {
    let mut setup = Setup::default();
    setup.options.search_cents = 3;
    let world = TestApp::with(setup).await;
    let tenant = world.billed_tenant(10).await;
    world.import_one(page("https://example.com/", "The tides.")).await;
    for _ in 0..2 {
        world.app.search(&tenant.viewer, search("tides")).await.unwrap().charge.unwrap().keep();
    }
    let now = OffsetDateTime::now_utc();
    let window = Window::resolve(None, None, Interval::Day, now + time::Duration::SECOND).unwrap();
    let request = UsageRequest { window, api_key_ids: vec![tenant.key_id], group_by: GroupBy::None };
    let overview = overview(&world, &tenant, request).await;
    assert_eq!((overview.headline.spend_cents, overview.search.spend_cents), (6, 6));
    assert_eq!(overview.keys[0].totals.spend_cents, 6);
}

#[tokio::test]
async fn counts_outlive_single_requests() {
    let mut setup = Setup::default();
    setup.options.usage_retention = Duration::ZERO;
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    record(&world, [event(&tenant, SEARCH, 200, datetime!(2026-06-14 10:00 UTC))]).await;
    assert_eq!(world.recorded_requests(&tenant).await, [], "single requests are not kept");
    let counted =
        overview(&world, &tenant, request(datetime!(2026-06-10 0:00 UTC), Interval::Day, GroupBy::None)).await;
    assert_eq!(counted.headline.requests, 1);
}

/// The counts of a window come from rollups: the ends of a busy minute are not read request by request.
#[tokio::test]
async fn partial_minutes_are_exact_unless_they_are_busy() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let quiet = [datetime!(2026-06-15 10:00:10 UTC), datetime!(2026-06-15 10:00:40 UTC)];
    record(&world, quiet.map(|at| event(&tenant, SEARCH, 200, at))).await;
    let busy = (0..2_400).map(|n| datetime!(2026-06-15 11:00 UTC) + time::Duration::milliseconds(25 * n));
    record(&world, busy.map(|at| event(&tenant, SEARCH, 200, at))).await;
    let count = async |from, to| {
        let window = Window::resolve(Some(from), Some(to), Interval::Hour, NOW).unwrap();
        let request = UsageRequest { window, api_key_ids: Vec::new(), group_by: GroupBy::None };
        overview(&world, &tenant, request).await.headline.requests
    };
    assert_eq!(count(datetime!(2026-06-15 10:00:30 UTC), datetime!(2026-06-15 10:30 UTC)).await, 1);
    assert_eq!(count(datetime!(2026-06-15 10:30 UTC), datetime!(2026-06-15 11:00:30 UTC)).await, 2_400);
    assert_eq!(count(datetime!(2026-06-15 11:00:59.5 UTC), datetime!(2026-06-15 11:30 UTC)).await, 20);
}

/// A client beyond its limit sends any number of requests. They take no places in the queue that all organizations share.
#[tokio::test]
async fn refused_requests_crowd_out_no_others() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let at = datetime!(2026-06-15 10:00:10 UTC);
    let refused = UsageEvent { is_refused: true, ..event(&tenant, SEARCH, 429, at) };
    let admitted = [event(&tenant, SEARCH, 200, at), event(&other, SEARCH, 200, at)];
    record(&world, vec![refused; 30_000].into_iter().chain(admitted)).await;
    for (tenant, requests, errors, stored) in [(&tenant, 30_001, 30_000, 101), (&other, 1, 0, 1)] {
        assert_eq!(world.recorded_requests(tenant).await.len(), stored);
        // The refused ones of a partial minute are counted with the whole minute.
        for from in [datetime!(2026-06-15 0:00 UTC), datetime!(2026-06-15 10:00:05 UTC)] {
            let counted = overview(&world, tenant, request(from, Interval::Day, GroupBy::None)).await.headline;
            assert_eq!((counted.requests, counted.errors), (requests, errors), "{from}");
        }
        let key = overview(&world, tenant, request(at, Interval::Day, GroupBy::None)).await.keys.remove(0);
        assert_eq!(key.last_used_at, Some(at));
    }
}
