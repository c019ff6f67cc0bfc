//! Usage: requests and spending by minute, hour and day.

use docstore::{BalanceEntry, DAY, Docstore, DurationHistogram, HOUR, MINUTE, RollupPosition, UsageEvent, UsageRollup};
use model::{BalanceReason, OrganizationId, Timestamp};
use uuid::Uuid;

use crate::support::{Database, NOW, new_organization};

on_both_backends!(
    requests_are_rolled_up_by_minute_hour_and_day,
    a_million_requests_are_few_rows,
    rollups_are_listed_in_pages,
    busiest_identities_come_first,
    large_batch_of_requests_is_recorded,
    events_are_optional,
    counted_minutes_add_up_without_events,
    concurrent_rollups_lose_no_counts,
    concurrent_requests_and_charges_lose_nothing,
    spending_is_rolled_up_with_ledger_entry,
    usage_is_isolated_by_organization,
    pruning_keeps_rollups_of_hours,
    pruned_events_of_one_time_make_no_batch_small,
);

/// Start of an hour and of a day.
const MIDNIGHT: i64 = NOW.as_millis() / DAY * DAY;

fn time(milliseconds: i64) -> Timestamp {
    Timestamp::from_millis(milliseconds)
}

fn event(
    organization_id: OrganizationId,
    identity: &str,
    status: i32,
    duration_us: i64,
    created_at: i64,
) -> UsageEvent {
    UsageEvent {
        organization_id,
        identity: identity.to_owned(),
        route: "POST /v1/search".to_owned(),
        status,
        duration_us,
        created_at: time(created_at),
    }
}

async fn rollups(db: &Docstore, organization_id: OrganizationId, period: i64) -> Vec<UsageRollup> {
    let start = RollupPosition::before(time(MIDNIGHT - DAY));
    db.list_usage_rollups(organization_id, period, start, time(MIDNIGHT + DAY), 1_000).await.unwrap()
}

async fn requests_are_rolled_up_by_minute_hour_and_day(db: Database) {
    let ours = new_organization(&db).await;
    let first = vec![event(ours, "key:1", 200, 1_000, MIDNIGHT), event(ours, "key:1", 404, 3_000, MIDNIGHT + HOUR - 1)];
    let second =
        vec![event(ours, "key:1", 503, 5_000, MIDNIGHT + 5), event(ours, "key:1", 200, 7_000, MIDNIGHT + HOUR)];
    for events in [first, second] {
        db.record_usage(events, true).await.unwrap();
    }
    let hours = rollups(&db, ours, HOUR).await;
    let counts: Vec<_> = hours
        .iter()
        .map(|row| (row.start, row.requests, row.client_errors, row.server_errors, row.duration_us))
        .collect();
    assert_eq!(counts, [(time(MIDNIGHT), 3, 1, 1, 9_000), (time(MIDNIGHT + HOUR), 1, 0, 0, 7_000)]);
    let minutes: Vec<_> = rollups(&db, ours, MINUTE).await.iter().map(|row| (row.start, row.requests)).collect();
    let minute = |number: i64, requests| (time(MIDNIGHT + number * MINUTE), requests);
    assert_eq!(minutes, [minute(0, 2), minute(59, 1), minute(60, 1)]);
    let days = rollups(&db, ours, DAY).await;
    assert_eq!((days.len(), days[0].requests, days[0].duration_us), (1, 4, 16_000));
    let mut expected = DurationHistogram::default();
    [1_000, 3_000, 5_000, 7_000].into_iter().for_each(|duration| expected.record(duration));
    assert_eq!(DurationHistogram::from_bytes(&days[0].histogram), Some(expected));
    assert_eq!(db.list_usage_events(ours, time(MIDNIGHT), time(MIDNIGHT + HOUR), i64::MAX).await.unwrap().len(), 3);
}

/// The cost of an overview depends on the time that it covers, not on the requests in it.
async fn a_million_requests_are_few_rows(db: Database) {
    let ours = new_organization(&db).await;
    // The rollups of an hour with a million requests, without the requests.
    let hour = |number: i64, period: i64, start: i64, requests: i64| {
        let id = if db.is_sqlite() { format!("x'{}'", ours.0.simple()) } else { format!("'{ours}'") };
        let histogram = if db.is_sqlite() { "x''" } else { "''" };
        format!("({id}, {period}, {start}, 'key:{number}', 'POST /v1/search', {requests}, 0, 0, 0, 0, {histogram})")
    };
    let mut rows = vec![hour(1, HOUR, MIDNIGHT, 1_000_000)];
    rows.extend((0..60).map(|minute| hour(1, MINUTE, MIDNIGHT + minute * MINUTE, 16_666)));
    db.execute(&format!("INSERT INTO usage_rollups VALUES {}", rows.join(", "))).await;
    let start = RollupPosition::before(time(MIDNIGHT));
    let minutes = db.list_usage_rollups(ours, MINUTE, start, time(MIDNIGHT + 30 * MINUTE), 1_000).await.unwrap();
    assert_eq!((minutes.len(), minutes.iter().map(|row| row.requests).sum::<i64>()), (30, 499_980));
    db.record_usage(vec![event(ours, "key:1", 200, 1, MIDNIGHT); 50], true).await.unwrap();
    assert_eq!(db.list_usage_events(ours, time(MIDNIGHT), time(MIDNIGHT + HOUR), 10).await.unwrap().len(), 10);
}

async fn rollups_are_listed_in_pages(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let mut events = vec![event(theirs, "key:0", 200, 1, MIDNIGHT)];
    for hour in 0..3 {
        for identity in ["key:1", "key:2", "sub:1"] {
            for route in ["GET /v1/usage", "POST /v1/search"] {
                let one = event(ours, identity, 200, 1, MIDNIGHT + hour * HOUR);
                events.push(UsageEvent { route: route.to_owned(), ..one });
            }
        }
    }
    db.record_usage(events, false).await.unwrap();
    let (mut after, mut seen) = (RollupPosition::before(time(MIDNIGHT)), Vec::new());
    loop {
        let page = db.list_usage_rollups(ours, HOUR, after.clone(), time(MIDNIGHT + 2 * HOUR), 5).await.unwrap();
        let Some(last) = page.last() else { break };
        after = RollupPosition::of(last);
        seen.extend(page.into_iter().map(|row| (row.start, row.identity, row.route)));
    }
    let mut sorted = seen.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 12, "two hours, three identities, two routes");
    assert_eq!(seen.len(), 12, "each once");
    assert!(seen.is_sorted_by_key(|(start, ..)| *start));
}

async fn busiest_identities_come_first(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let requests = |organization_id, identity: &str, count: usize, at: i64| {
        vec![event(organization_id, identity, 200, 1, at); count]
    };
    let batches = [
        requests(theirs, "key:0", 9, MIDNIGHT),
        requests(ours, "key:1", 2, MIDNIGHT),
        requests(ours, "key:1", 2, MIDNIGHT - DAY),
        requests(ours, "key:2", 3, MIDNIGHT),
        requests(ours, "key:3", 1, MIDNIGHT + 23 * HOUR),
        requests(ours, "key:4", 7, MIDNIGHT + DAY),
    ];
    db.record_usage(batches.concat(), false).await.unwrap();
    let listed = async |from: i64, limit: i64| {
        db.list_busiest_identities(ours, time(from), time(MIDNIGHT + DAY), limit).await.unwrap()
    };
    assert_eq!(listed(MIDNIGHT - HOUR, 10).await, ["key:1", "key:2", "key:3"]);
    assert_eq!(listed(MIDNIGHT + HOUR, 2).await, ["key:2", "key:1"]);
}

async fn large_batch_of_requests_is_recorded(db: Database) {
    let ours = new_organization(&db).await;
    // 12,000 rows of six columns: 72,000 bound values.
    db.record_usage(vec![event(ours, "key:1", 200, 3_000_000_000, MIDNIGHT); 12_000], true).await.unwrap();
    db.record_usage(vec![], true).await.unwrap();
    assert_eq!(db.count("usage_events WHERE duration_us = 3000000000").await, 12_000);
    assert_eq!(rollups(&db, ours, DAY).await[0].requests, 12_000);
}

async fn events_are_optional(db: Database) {
    let ours = new_organization(&db).await;
    db.record_usage(vec![event(ours, "key:1", 200, 1, MIDNIGHT)], false).await.unwrap();
    assert_eq!((db.count("usage_events").await, rollups(&db, ours, HOUR).await.len()), (0, 1));
}

async fn counted_minutes_add_up_without_events(db: Database) {
    let ours = new_organization(&db).await;
    db.record_usage(vec![event(ours, "key:1", 200, 1_000, MIDNIGHT + 5)], true).await.unwrap();
    let mut durations = DurationHistogram::default();
    [2_000, 3_000].into_iter().for_each(|duration| durations.record(duration));
    let minute = |number: i64| UsageRollup {
        organization_id: ours,
        period: MINUTE,
        start: time(MIDNIGHT + number * MINUTE),
        identity: "key:1".to_owned(),
        route: "POST /v1/search".to_owned(),
        requests: 2,
        client_errors: 1,
        server_errors: 1,
        duration_us: 5_000,
        spend_cents: 0,
        histogram: durations.to_bytes(),
    };
    db.count_requests(vec![minute(0), minute(1), minute(60)]).await.unwrap();
    db.count_requests(vec![]).await.unwrap();
    let counts = async |period| -> Vec<_> {
        let rows = rollups(&db, ours, period).await.into_iter();
        rows.map(|row| (row.requests, row.client_errors, row.server_errors, row.duration_us)).collect()
    };
    assert_eq!(counts(MINUTE).await, [(3, 1, 1, 6_000), (2, 1, 1, 5_000), (2, 1, 1, 5_000)]);
    assert_eq!(counts(HOUR).await, [(5, 2, 2, 11_000), (2, 1, 1, 5_000)]);
    assert_eq!(counts(DAY).await, [(7, 3, 3, 16_000)]);
    durations.record(1_000);
    assert_eq!(DurationHistogram::from_bytes(&rollups(&db, ours, MINUTE).await[0].histogram), Some(durations));
    assert_eq!(db.count_usage_events(ours, time(MIDNIGHT), time(MIDNIGHT + DAY)).await.unwrap(), 1);
    assert_eq!(db.count_usage_events(ours, time(MIDNIGHT), time(MIDNIGHT + 5)).await.unwrap(), 0);
}

async fn concurrent_rollups_lose_no_counts(db: Database) {
    let ours = new_organization(&db).await;
    let stores = [db.store.clone(), db.another_store()];
    let writers = (0..8).map(|number: usize| {
        let store = stores[number % 2].clone();
        tokio::spawn(async move {
            for turn in 0..10 {
                // In a different order each time.
                let mut events: Vec<UsageEvent> =
                    (0..4).map(|key| event(ours, &format!("key:{key}"), 200, 1_000, MIDNIGHT + key * HOUR)).collect();
                events.rotate_left((number + turn) % 4);
                store.record_usage(events, false).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let hours = rollups(&db, ours, HOUR).await;
    assert_eq!(hours.iter().map(|row| row.requests).collect::<Vec<_>>(), [80; 4]);
    let mut expected = DurationHistogram::default();
    (0..80).for_each(|_| expected.record(1_000));
    assert!(hours.iter().all(|row| row.histogram == expected.to_bytes()));
}

/// The rollups of both are the same rows, whose names PostgreSQL may sort in another order.
async fn concurrent_requests_and_charges_lose_nothing(db: Database) {
    let organizations = [new_organization(&db).await, new_organization(&db).await];
    let entry = move |organization_id, cents: i64, identity: Option<&str>| BalanceEntry {
        identity: identity.map(str::to_owned),
        ..BalanceEntry::new(Uuid::new_v4().into(), organization_id, cents, BalanceReason::Added, time(MIDNIGHT))
    };
    let deposits = organizations.map(|organization_id| entry(organization_id, 1_000, None));
    db.post_balance_entries(deposits.to_vec()).await.unwrap();
    let writers = (0..8).map(|number: usize| {
        let store = if number.is_multiple_of(2) { db.store.clone() } else { db.another_store() };
        tokio::spawn(async move {
            for turn in 0..10 {
                let mut events = Vec::new();
                for organization_id in organizations {
                    for identity in ["key:B", "key:a", "key:Ä", "key_c"] {
                        events.push(event(organization_id, identity, 200, 1_000, MIDNIGHT + turn * MINUTE));
                    }
                }
                events.rotate_left(number);
                if number < 4 {
                    store.record_usage(events, false).await.unwrap();
                    continue;
                }
                let debits = events.iter().map(|event| entry(event.organization_id, -1, Some(event.identity.as_str())));
                let outcomes = store.post_balance_entries(debits.collect()).await.unwrap();
                assert!(outcomes.iter().all(Option::is_some));
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    for organization_id in organizations {
        let days = rollups(&db, organization_id, DAY).await;
        let counts: Vec<_> = days.iter().map(|row| (row.requests, row.spend_cents)).collect();
        assert_eq!(counts, [(40, 40); 4]);
        assert_eq!(db.find_balance(organization_id).await.unwrap(), Some(1_000 - 160));
    }
}

async fn spending_is_rolled_up_with_ledger_entry(db: Database) {
    let ours = new_organization(&db).await;
    let entry = |cents: i64, identity: Option<&str>| BalanceEntry {
        identity: identity.map(str::to_owned),
        ..BalanceEntry::new(Uuid::new_v4().into(), ours, cents, BalanceReason::Added, time(MIDNIGHT + 5))
    };
    db.post_balance_entry(entry(10, None)).await.unwrap();
    for cents in [-3, -4, 3] {
        db.post_balance_entry(entry(cents, Some("key:1"))).await.unwrap();
    }
    // A rejected debit is not counted.
    assert_eq!(db.post_balance_entry(entry(-100, Some("key:1"))).await.unwrap(), None);
    db.record_usage(vec![event(ours, "key:1", 200, 1, MIDNIGHT)], false).await.unwrap();
    for period in [MINUTE, HOUR, DAY] {
        let rows = rollups(&db, ours, period).await;
        assert_eq!((rows.len(), rows[0].requests, rows[0].spend_cents), (1, 1, 4));
    }
    let mut spent = db.list_spending(ours, time(MIDNIGHT), time(MIDNIGHT + HOUR), i64::MAX).await.unwrap();
    spent.sort_unstable();
    let of_key = |cents| (time(MIDNIGHT + 5), "key:1".to_owned(), cents);
    assert_eq!(spent, [of_key(-3), of_key(3), of_key(4)]);
}

async fn usage_is_isolated_by_organization(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    db.record_usage(vec![event(theirs, "key:1", 200, 1, MIDNIGHT)], true).await.unwrap();
    assert!(rollups(&db, ours, HOUR).await.is_empty());
    assert!(db.list_usage_events(ours, Timestamp::UNIX_EPOCH, Timestamp::MAX, i64::MAX).await.unwrap().is_empty());
    assert!(db.list_spending(ours, Timestamp::UNIX_EPOCH, Timestamp::MAX, i64::MAX).await.unwrap().is_empty());
}

async fn pruning_keeps_rollups_of_hours(db: Database) {
    let ours = new_organization(&db).await;
    let events = (0..10).map(|minute| event(ours, "key:1", 200, 1, MIDNIGHT + minute * 60_000)).collect();
    db.record_usage(events, true).await.unwrap();
    let before = time(MIDNIGHT + 8 * 60_000);
    assert_eq!(db.prune_usage_events(before, 5).await.unwrap(), 6);
    assert_eq!(db.prune_usage_events(before, 5).await.unwrap(), 2);
    assert_eq!(db.prune_usage_events(before, 5).await.unwrap(), 0);
    assert_eq!(db.count("usage_events").await, 2);
    assert_eq!(rollups(&db, ours, HOUR).await[0].requests, 10);
    assert_eq!(db.prune_usage_minutes(before, 5).await.unwrap(), 6);
    assert_eq!(db.prune_usage_minutes(before, 5).await.unwrap(), 2);
    assert_eq!(db.prune_usage_minutes(before, 5).await.unwrap(), 0);
    assert_eq!((rollups(&db, ours, MINUTE).await.len(), rollups(&db, ours, HOUR).await[0].requests), (2, 10));
}

/// A sweep ends with the first batch below the limit.
async fn pruned_events_of_one_time_make_no_batch_small(db: Database) {
    let ours = new_organization(&db).await;
    let events = [1, 2, 2, 3].map(|at| event(ours, "key:1", 200, 1, MIDNIGHT + at)).to_vec();
    db.record_usage(events, true).await.unwrap();
    assert_eq!(db.prune_usage_events(time(MIDNIGHT + 3), 2).await.unwrap(), 3);
    assert_eq!(db.prune_usage_events(time(MIDNIGHT + 3), 2).await.unwrap(), 0);
    assert_eq!(db.count("usage_events").await, 1);
}
