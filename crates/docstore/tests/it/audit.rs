//! The audit log: an entry is written in the transaction of its change.

use docstore::{AuditEntry, AuditFilter, Details, Docstore, StoreError};
use model::{AuditAction, OrganizationId, Timestamp};
use uuid::Uuid;

use crate::accounts::key;
use crate::balances::entry as ledger_entry;
use crate::support::{Database, NOW, at, audit_entry, new_organization, organization};

on_both_backends!(
    changes_write_audit_entries,
    failed_change_writes_no_entry,
    failed_entry_rolls_back_change,
    entries_are_paged_newest_first,
    entry_round_trips,
);

fn entry(action: AuditAction, at: Timestamp, organization_id: Option<OrganizationId>) -> AuditEntry {
    AuditEntry { organization_id, ..AuditEntry::new(Uuid::new_v4().into(), at, "cli:test@host", action) }
}

async fn listed(store: &Docstore, filter: AuditFilter) -> Vec<AuditEntry> {
    store.list_audit_entries(filter, None, 1_000).await.unwrap()
}

async fn actions(store: &Docstore) -> Vec<AuditAction> {
    listed(store, AuditFilter::default()).await.into_iter().map(|entry| entry.action).collect()
}

async fn changes_write_audit_entries(db: Database) {
    let organization = organization();
    let id = organization.id;
    let created = entry(AuditAction::OrganizationCreated, NOW, Some(id));
    db.create_organization(organization, Some(ledger_entry(id, 5)), created).await.unwrap();
    assert_eq!(db.find_balance(id).await.unwrap(), Some(5));
    let key = key(id, 1);
    db.create_api_key(key.clone(), entry(AuditAction::KeyCreated, at(1), Some(id))).await.unwrap();
    db.adjust_balance(ledger_entry(id, 7), entry(AuditAction::BalanceAdded, at(2), Some(id))).await.unwrap();
    db.revoke_api_key(key.id, NOW, entry(AuditAction::KeyRevoked, at(3), None)).await.unwrap();
    // Already revoked: nothing changes.
    db.revoke_api_key(key.id, NOW, entry(AuditAction::KeyRevoked, at(4), None)).await.unwrap();
    assert_eq!(
        actions(&db).await,
        [AuditAction::KeyRevoked, AuditAction::BalanceAdded, AuditAction::KeyCreated, AuditAction::OrganizationCreated]
    );
    let owners: Vec<_> = listed(&db, AuditFilter::default()).await.into_iter().map(|one| one.organization_id).collect();
    assert_eq!(owners, [Some(id); 4], "the organization of a revoked key is filled in");
}

async fn failed_change_writes_no_entry(db: Database) {
    let id = new_organization(&db).await;
    let before = db.count("audit_entries").await;
    let key = key(id, 1);
    db.create_api_key(key.clone(), entry(AuditAction::KeyCreated, NOW, Some(id))).await.unwrap();
    let again = db.create_api_key(key, entry(AuditAction::KeyCreated, NOW, Some(id))).await;
    assert!(matches!(again, Err(StoreError::Conflict)));
    let orphan = crate::accounts::key(Uuid::new_v4().into(), 2);
    assert!(db.create_api_key(orphan, entry(AuditAction::KeyCreated, NOW, None)).await.is_err());
    assert!(
        db.revoke_api_key(Uuid::new_v4().into(), NOW, entry(AuditAction::KeyRevoked, NOW, None))
            .await
            .unwrap()
            .is_none()
    );
    // A debit beyond the balance.
    assert_eq!(
        db.adjust_balance(ledger_entry(id, -1), entry(AuditAction::BalanceAdded, NOW, Some(id))).await.unwrap(),
        None
    );
    assert_eq!(db.count("audit_entries").await, before + 1);
}

async fn failed_entry_rolls_back_change(db: Database) {
    let id = new_organization(&db).await;
    let taken = audit_entry();
    db.create_organization(organization(), None, taken.clone()).await.unwrap();
    let refused = organization();
    let prepaid = ledger_entry(refused.id, 5);
    assert!(db.create_organization(refused, Some(prepaid), taken.clone()).await.is_err());
    assert!(db.create_api_key(key(id, 2), taken.clone()).await.is_err());
    assert!(db.adjust_balance(ledger_entry(id, 5), taken.clone()).await.is_err());
    let key = key(id, 1);
    db.create_api_key(key.clone(), audit_entry()).await.unwrap();
    assert!(db.revoke_api_key(key.id, NOW, taken).await.is_err());
    assert_eq!((db.count("organizations").await, db.count("api_keys").await), (2, 1));
    assert_eq!((db.count("balance_entries").await, db.count("balances").await), (0, 0));
    assert_eq!(db.find_key_by_digest(key.digest).await.unwrap().unwrap().0.revoked_at, None);
}

async fn entries_are_paged_newest_first(db: Database) {
    let (one, other) = (OrganizationId(Uuid::new_v4()), OrganizationId(Uuid::new_v4()));
    for n in 0..10 {
        let action = if n % 3 == 0 { AuditAction::KeyCreated } else { AuditAction::BalanceAdded };
        // Two entries with the same time.
        let entry = entry(action, at(n / 2), Some(if n % 2 == 0 { one } else { other }));
        db.create_organization(organization(), None, entry).await.unwrap();
    }
    let all = listed(&db, AuditFilter::default()).await;
    assert_eq!(all.len(), 10);
    assert!(all.is_sorted_by_key(|entry| std::cmp::Reverse((entry.created_at, entry.id))));
    let (mut pages, mut before) = (Vec::new(), None);
    loop {
        let page = db.list_audit_entries(AuditFilter::default(), before, 3).await.unwrap();
        let Some(last) = page.last() else { break };
        before = Some((last.created_at, last.id));
        pages.extend(page.into_iter().map(|entry| entry.id));
    }
    assert_eq!(pages, all.iter().map(|entry| entry.id).collect::<Vec<_>>());

    let filter = AuditFilter { organization_id: Some(one), ..AuditFilter::default() };
    assert_eq!(listed(&db, filter.clone()).await.len(), 5);
    assert_eq!(listed(&db, AuditFilter { action: Some(AuditAction::KeyCreated), ..filter.clone() }).await.len(), 2);
    assert_eq!(listed(&db, AuditFilter { since: Some(at(3)), ..filter }).await.len(), 2);
}

async fn entry_round_trips(db: Database) {
    let details = Details::default().with("name", "a \"quote\" and a \0 byte").with("cents", 5).with("billed", true);
    let subject = Uuid::new_v4();
    let entry = AuditEntry { subject_id: Some(subject), details: details.clone(), ..audit_entry() };
    db.create_organization(organization(), None, entry.clone()).await.unwrap();
    let [stored] = &listed(&db, AuditFilter::default()).await[..] else { panic!("one entry") };
    let expected = (entry.id, NOW, &entry.actor, &entry.action);
    assert_eq!((stored.id, stored.created_at, &stored.actor, &stored.action), expected);
    assert_eq!((stored.organization_id, stored.subject_id, &stored.details), (None, Some(subject), &details));
}
