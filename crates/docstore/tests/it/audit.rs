//! The audit log: written with the change it tells of, or not at all.

use docstore::{AuditEntry, AuditFilter, Details, Docstore, StoreError};
use model::{AuditAction, OrganizationId, Timestamp};
use uuid::Uuid;

use crate::accounts::key;
use crate::balances::entry as paid;
use crate::support::{Database, NOW, at, audit_entry, new_organization, organization};

on_both_backends!(
    a_change_and_its_entry_are_one,
    a_change_that_fails_leaves_no_entry,
    an_entry_that_fails_leaves_no_change,
    entries_are_listed_newest_first_in_pages,
    what_an_entry_says_is_kept,
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

async fn a_change_and_its_entry_are_one(db: Database) {
    let organization = organization();
    let id = organization.id;
    let created = entry(AuditAction::OrganizationCreated, NOW, Some(id));
    db.create_organization(organization, Some(paid(id, 5)), created).await.unwrap();
    assert_eq!(db.find_balance(id).await.unwrap(), Some(5));
    let key = key(id, 1);
    db.create_api_key(key.clone(), entry(AuditAction::KeyCreated, at(1), Some(id))).await.unwrap();
    db.adjust_balance(paid(id, 7), entry(AuditAction::BalanceAdded, at(2), Some(id))).await.unwrap();
    db.revoke_api_key(key.id, NOW, entry(AuditAction::KeyRevoked, at(3), None)).await.unwrap();
    // Revoked already: nothing changes.
    db.revoke_api_key(key.id, NOW, entry(AuditAction::KeyRevoked, at(4), None)).await.unwrap();
    assert_eq!(
        actions(&db).await,
        [AuditAction::KeyRevoked, AuditAction::BalanceAdded, AuditAction::KeyCreated, AuditAction::OrganizationCreated]
    );
    let whose: Vec<_> = listed(&db, AuditFilter::default()).await.into_iter().map(|one| one.organization_id).collect();
    assert_eq!(whose, [Some(id); 4], "the organization of a revoked key is found");
}

async fn a_change_that_fails_leaves_no_entry(db: Database) {
    let id = new_organization(&db).await;
    let before = db.count("audit_entries").await;
    let key = key(id, 1);
    db.create_api_key(key.clone(), entry(AuditAction::KeyCreated, NOW, Some(id))).await.unwrap();
    let again = db.create_api_key(key, entry(AuditAction::KeyCreated, NOW, Some(id))).await;
    assert!(matches!(again, Err(StoreError::Conflict)));
    let nobodys = crate::accounts::key(Uuid::new_v4().into(), 2);
    assert!(db.create_api_key(nobodys, entry(AuditAction::KeyCreated, NOW, None)).await.is_err());
    assert!(
        db.revoke_api_key(Uuid::new_v4().into(), NOW, entry(AuditAction::KeyRevoked, NOW, None))
            .await
            .unwrap()
            .is_none()
    );
    // Less than there is.
    assert_eq!(db.adjust_balance(paid(id, -1), entry(AuditAction::BalanceAdded, NOW, Some(id))).await.unwrap(), None);
    assert_eq!(db.count("audit_entries").await, before + 1);
}

async fn an_entry_that_fails_leaves_no_change(db: Database) {
    let id = new_organization(&db).await;
    let taken = audit_entry();
    db.create_organization(organization(), None, taken.clone()).await.unwrap();
    let refused = organization();
    let prepaid = paid(refused.id, 5);
    assert!(db.create_organization(refused, Some(prepaid), taken.clone()).await.is_err());
    assert!(db.create_api_key(key(id, 2), taken.clone()).await.is_err());
    assert!(db.adjust_balance(paid(id, 5), taken.clone()).await.is_err());
    let key = key(id, 1);
    db.create_api_key(key.clone(), audit_entry()).await.unwrap();
    assert!(db.revoke_api_key(key.id, NOW, taken).await.is_err());
    assert_eq!((db.count("organizations").await, db.count("api_keys").await), (2, 1));
    assert_eq!((db.count("balance_entries").await, db.count("balances").await), (0, 0));
    assert_eq!(db.find_key_by_digest(key.digest).await.unwrap().unwrap().0.revoked_at, None);
}

async fn entries_are_listed_newest_first_in_pages(db: Database) {
    let (one, other) = (OrganizationId(Uuid::new_v4()), OrganizationId(Uuid::new_v4()));
    for n in 0..10 {
        let action = if n % 3 == 0 { AuditAction::KeyCreated } else { AuditAction::BalanceAdded };
        // Two at a time at the same moment.
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

async fn what_an_entry_says_is_kept(db: Database) {
    let details = Details::default().with("name", "a \"quote\" and a \0 byte").with("cents", 5).with("billed", true);
    let subject = Uuid::new_v4();
    let said = AuditEntry { subject_id: Some(subject), details: details.clone(), ..audit_entry() };
    db.create_organization(organization(), None, said.clone()).await.unwrap();
    let [kept] = &listed(&db, AuditFilter::default()).await[..] else { panic!("one entry") };
    assert_eq!((kept.id, kept.created_at, &kept.actor, &kept.action), (said.id, NOW, &said.actor, &said.action));
    assert_eq!((kept.organization_id, kept.subject_id, &kept.details), (None, Some(subject), &details));
}
