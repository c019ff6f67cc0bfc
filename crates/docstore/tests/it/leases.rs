//! Leases: exclusive ownership with expiry.

use std::time::Duration;

use model::Timestamp;

use crate::support::{Database, NOW, at};

on_both_backends!(
    lease_is_exclusive_until_expiry,
    released_lease_can_be_acquired,
    concurrent_acquisition_has_one_winner,
);

async fn acquire(db: &Database, name: &str, owner: &str, now: Timestamp) -> bool {
    db.acquire_lease(name.to_owned(), owner.to_owned(), now, now + Duration::from_millis(10)).await.unwrap()
}

async fn lease_is_exclusive_until_expiry(db: Database) {
    assert!(acquire(&db, "web", "a", NOW).await);
    assert!(!acquire(&db, "web", "b", at(9)).await);
    assert!(acquire(&db, "workspace", "b", NOW).await);
    let is_leased = async |now| db.is_leased("web".to_owned(), now).await.unwrap();
    assert!(is_leased(at(9)).await && !is_leased(at(10)).await);
    // The owner renews the lease, which replaces the expiry.
    assert!(acquire(&db, "web", "a", at(9)).await);
    assert!(!acquire(&db, "web", "b", at(10)).await);
    assert!(acquire(&db, "web", "b", at(19)).await);
    assert!(!acquire(&db, "web", "a", at(20)).await);
}

async fn released_lease_can_be_acquired(db: Database) {
    assert!(acquire(&db, "web", "a", NOW).await);
    db.release_lease("web".to_owned(), "b".to_owned()).await.unwrap();
    assert!(!acquire(&db, "web", "b", NOW).await);
    db.release_lease("web".to_owned(), "a".to_owned()).await.unwrap();
    assert!(!db.is_leased("web".to_owned(), NOW).await.unwrap());
    assert!(acquire(&db, "web", "b", NOW).await);
    db.release_lease("unknown".to_owned(), "a".to_owned()).await.unwrap();
}

async fn concurrent_acquisition_has_one_winner(db: Database) {
    // First without a row, then with an expired one.
    for now in [NOW, at(10)] {
        let attempts: Vec<_> = (0..8)
            .map(|n| {
                let store = db.store.clone();
                let owner = format!("{n} at {now:?}");
                tokio::spawn(async move {
                    store.acquire_lease("web".to_owned(), owner, now, now + Duration::from_millis(10)).await.unwrap()
                })
            })
            .collect();
        let mut got = 0;
        for one in attempts {
            got += usize::from(one.await.unwrap());
        }
        assert_eq!(got, 1);
    }
}
