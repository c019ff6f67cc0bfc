//! Balances: every change has a ledger entry, and a balance is never negative.

use docstore::{BalanceEntry, Search, StoreError};
use model::{BalanceReason, OrganizationId, SearchId, Timestamp};
use uuid::Uuid;

use crate::support::{Database, NOW, at, new_organization};

on_both_backends!(
    balance_is_none_until_first_deposit,
    entries_sum_to_balance,
    debit_beyond_balance_is_rejected,
    concurrent_debits_never_overdraw,
    entries_posted_together_are_covered_one_by_one,
    duplicate_entry_conflicts,
    balance_overflow_is_rejected,
    unrecorded_searches_are_refunded_once,
    refund_from_before_its_charge_counts,
);

pub fn entry(organization_id: OrganizationId, cents: i64) -> BalanceEntry {
    BalanceEntry::new(Uuid::new_v4().into(), organization_id, cents, BalanceReason::Added, NOW)
}

async fn post(db: &Database, organization_id: OrganizationId, cents: i64) -> Option<i64> {
    db.post_balance_entry(entry(organization_id, cents)).await.unwrap()
}

/// Returns the sum of all entries of all organizations.
async fn sum(db: &Database) -> i64 {
    db.number("coalesce(sum(cents), 0)", "balance_entries").await
}

async fn balance_is_none_until_first_deposit(db: Database) {
    let organization_id = new_organization(&db).await;
    assert_eq!(db.find_balance(organization_id).await.unwrap(), None);
    assert_eq!(post(&db, organization_id, -1).await, None);
    assert_eq!(db.find_balance(organization_id).await.unwrap(), None);
    assert_eq!(db.count("balance_entries").await, 0);
    // A deposit of zero creates a balance.
    assert_eq!(post(&db, organization_id, 0).await, Some(0));
    assert_eq!(db.find_balance(organization_id).await.unwrap(), Some(0));
}

async fn entries_sum_to_balance(db: Database) {
    let organization_id = new_organization(&db).await;
    let other = new_organization(&db).await;
    for (cents, balance) in [(100, 100), (-30, 70), (30, 100), (-100, 0), (5, 5)] {
        assert_eq!(post(&db, organization_id, cents).await, Some(balance));
        assert_eq!(db.find_balance(organization_id).await.unwrap(), Some(balance));
        assert_eq!(sum(&db).await, balance);
    }
    assert_eq!(db.find_balance(other).await.unwrap(), None);
}

async fn debit_beyond_balance_is_rejected(db: Database) {
    let organization_id = new_organization(&db).await;
    post(&db, organization_id, 10).await;
    assert_eq!(post(&db, organization_id, -11).await, None);
    assert_eq!(post(&db, organization_id, i64::MIN).await, None);
    assert_eq!(db.find_balance(organization_id).await.unwrap(), Some(10));
    assert_eq!(sum(&db).await, 10);
}

async fn concurrent_debits_never_overdraw(db: Database) {
    let organization_id = new_organization(&db).await;
    post(&db, organization_id, 10).await;
    let debits: Vec<_> = (0..40)
        .map(|_| {
            let store = db.store.clone();
            tokio::spawn(async move { store.post_balance_entry(entry(organization_id, -1)).await.unwrap() })
        })
        .collect();
    let mut left = Vec::new();
    for debit in debits {
        left.extend(debit.await.unwrap());
    }
    left.sort_unstable();
    assert_eq!(left, (0..10).collect::<Vec<i64>>());
    assert_eq!(db.find_balance(organization_id).await.unwrap(), Some(0));
    assert_eq!(sum(&db).await, 0);
    assert_eq!(db.count("balance_entries").await, 11);
}

async fn entries_posted_together_are_covered_one_by_one(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    post(&db, ours, 5).await;
    let cents = [(ours, -3), (theirs, -1), (ours, -3), (theirs, 4), (ours, -2), (theirs, -1), (ours, i64::MIN)];
    let mut entries: Vec<BalanceEntry> = cents.map(|(id, cents)| entry(id, cents)).into();
    for debit in &mut entries {
        debit.identity = Some("key".to_owned());
    }
    let outcomes = db.post_balance_entries(entries.clone()).await.unwrap();
    // A deposit creates the balance before the first of the entries.
    assert_eq!(outcomes, [Some(2), None, None, Some(4), Some(0), Some(3), None]);
    assert_eq!(db.find_balance(ours).await.unwrap(), Some(0));
    assert_eq!(db.find_balance(theirs).await.unwrap(), Some(3));
    assert_eq!(sum(&db).await, 3);
    assert_eq!(db.count("balance_entries").await, 5);
    let yesterday = docstore::RollupPosition::before(at(-docstore::DAY));
    let day = db.list_usage_rollups(ours, docstore::DAY, yesterday, at(docstore::DAY), 100).await.unwrap();
    assert_eq!(day.iter().map(|rollup| rollup.spend_cents).sum::<i64>(), 5);
    assert_eq!(db.post_balance_entries(Vec::new()).await.unwrap(), []);
    // One that cannot be stored takes the others back.
    let again = vec![entry(theirs, -1), entries[0].clone()];
    assert!(db.post_balance_entries(again).await.is_ok(), "not covered, so not stored twice");
    assert_eq!(db.find_balance(theirs).await.unwrap(), Some(2));
    let twice = vec![entry(theirs, -1), entries[5].clone()];
    assert!(matches!(db.post_balance_entries(twice).await, Err(StoreError::Conflict)));
    assert_eq!(db.find_balance(theirs).await.unwrap(), Some(2));
}

async fn duplicate_entry_conflicts(db: Database) {
    let organization_id = new_organization(&db).await;
    let refund = entry(organization_id, 7);
    assert_eq!(db.post_balance_entry(refund.clone()).await.unwrap(), Some(7));
    assert!(matches!(db.post_balance_entry(refund).await, Err(StoreError::Conflict)));
    assert_eq!(db.find_balance(organization_id).await.unwrap(), Some(7));
    assert_eq!(sum(&db).await, 7);
}

async fn balance_overflow_is_rejected(db: Database) {
    let organization_id = new_organization(&db).await;
    assert_eq!(post(&db, organization_id, i64::MAX - 1).await, Some(i64::MAX - 1));
    assert_eq!(post(&db, organization_id, 2).await, None);
    assert_eq!(db.find_balance(organization_id).await.unwrap(), Some(i64::MAX - 1));
    assert_eq!(post(&db, organization_id, 1).await, Some(i64::MAX));
    assert_eq!(db.count("balance_entries").await, 2);
}

/// The clocks of two instances differ.
async fn refund_from_before_its_charge_counts(db: Database) {
    let organization_id = new_organization(&db).await;
    post(&db, organization_id, 100).await;
    let search_id = SearchId(Uuid::new_v4());
    let debit = BalanceEntry { search_id: Some(search_id), ..entry(organization_id, -3) };
    db.post_balance_entry(debit).await.unwrap().unwrap();
    let refund = async |now| db.refund_searches(organization_id, vec![search_id], now).await.unwrap();
    assert_eq!([refund(at(-3_600_000)).await, refund(at(1)).await], [1, 0]);
    assert_eq!(db.find_balance(organization_id).await.unwrap(), Some(100));
}

async fn unrecorded_searches_are_refunded_once(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    for organization_id in [ours, theirs] {
        post(&db, organization_id, 100).await;
    }
    let debit = |organization_id: OrganizationId, created_at: Timestamp| BalanceEntry {
        search_id: Some(Uuid::new_v4().into()),
        created_at,
        identity: Some("key:1".to_owned()),
        ..entry(organization_id, -3)
    };
    let (answered, given_back, lost) = (debit(ours, NOW), debit(ours, NOW), debit(ours, NOW));
    let (too_early, too_late, another) = (debit(ours, at(-1)), debit(ours, at(10)), debit(theirs, NOW));
    for debit in [&answered, &given_back, &lost, &too_early, &too_late, &another] {
        db.post_balance_entry(debit.clone()).await.unwrap().unwrap();
    }
    let refund = BalanceEntry { id: Uuid::new_v4().into(), cents: 3, ..given_back };
    db.post_balance_entry(refund.clone()).await.unwrap().unwrap();
    let search = Search {
        search_id: answered.search_id.unwrap(),
        organization_id: ours,
        identity: "key:1".to_owned(),
        session_id: Uuid::new_v4().into(),
        query: "walrus".to_owned(),
        results: Vec::new(),
        created_at: NOW,
        request: None,
        details: None,
    };
    db.record_searches(vec![search], vec![]).await.unwrap();

    assert_eq!(db.find_balance(ours).await.unwrap(), Some(100 - 4 * 3));
    let unrecorded = db.find_unrecorded_searches(ours, NOW, at(10)).await.unwrap();
    assert_eq!(unrecorded, [lost.search_id.unwrap()]);
    for (from, before, expected) in
        [(at(-1), NOW, vec![&too_early]), (at(10), at(11), vec![&too_late]), (at(1), at(10), vec![])]
    {
        let expected: Vec<_> = expected.into_iter().filter_map(|debit| debit.search_id).collect();
        assert_eq!(db.find_unrecorded_searches(ours, from, before).await.unwrap(), expected);
    }
    let given_back = refund.search_id.unwrap();
    let unrecorded = [unrecorded, vec![given_back]].concat();
    assert_eq!(db.refund_searches(theirs, unrecorded.clone(), at(20)).await.unwrap(), 0);
    // Two instances refund concurrently.
    let refund = || db.refund_searches(ours, unrecorded.clone(), at(20));
    let (one, other) = tokio::join!(refund(), refund());
    assert_eq!(one.unwrap() + other.unwrap(), 1);
    assert_eq!(refund().await.unwrap(), 0);
    assert!(db.find_unrecorded_searches(ours, NOW, at(10)).await.unwrap().is_empty());
    assert_eq!(db.find_balance(ours).await.unwrap(), Some(100 - 3 * 3));
    assert_eq!(db.find_balance(theirs).await.unwrap(), Some(97));
    let ledger = db.list_balance_entries(ours, None, 100).await.unwrap();
    let refunds: Vec<_> = ledger.iter().filter(|entry| entry.search_id == lost.search_id && entry.cents == 3).collect();
    assert_eq!(refunds.len(), 1);
    assert_eq!((refunds[0].created_at, refunds[0].identity.as_deref()), (at(20), Some("key:1")));
}
