//! Organizations and API keys.

use docstore::{ApiKey, StoreError};
use model::{ApiKeyId, OrganizationId, Scope};
use uuid::Uuid;

use crate::support::{Database, NOW, at, audit_entry, new_organization, organization};

on_both_backends!(
    organizations_are_listed_oldest_first,
    key_is_found_by_digest,
    revocation_is_idempotent,
    duplicate_digest_conflicts,
    key_of_unknown_organization_is_rejected,
    last_use_is_monotonic,
);

/// Returns a key whose digest repeats one byte.
pub fn key(organization_id: OrganizationId, digest: u8) -> ApiKey {
    ApiKey {
        id: Uuid::new_v4().into(),
        organization_id,
        name: "a key".to_owned(),
        prefix: "rk_abc".to_owned(),
        digest: vec![digest; 32],
        scopes: vec![Scope::SearchRead, Scope::DocumentRead],
        limit_rps: Some(7),
        created_at: NOW,
        expires_at: Some(at(1)),
        revoked_at: None,
        last_used_at: None,
    }
}

async fn organizations_are_listed_oldest_first(db: Database) {
    let mut expected = Vec::new();
    for n in [3, 1, 2] {
        let mut one = organization();
        one.name = format!("number {n}");
        one.billed = n == 2;
        one.created_at = at(n);
        db.create_organization(one.clone(), None, audit_entry()).await.unwrap();
        expected.push(one);
    }
    expected.sort_by_key(|one| one.created_at);
    let listed = db.list_organizations().await.unwrap();
    assert_eq!(listed.len(), 3);
    for (listed, expected) in listed.iter().zip(&expected) {
        let found = db.find_organization(expected.id).await.unwrap().unwrap();
        for one in [listed, &found] {
            assert_eq!(
                (one.id, &one.name, one.billed, one.created_at),
                (expected.id, &expected.name, expected.billed, expected.created_at)
            );
        }
    }
    assert!(db.find_organization(Uuid::new_v4().into()).await.unwrap().is_none());
    assert!(matches!(
        db.create_organization(expected[0].clone(), None, audit_entry()).await,
        Err(StoreError::Conflict)
    ));
}

async fn key_is_found_by_digest(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let our_key = key(ours, 1);
    db.create_api_key(our_key.clone(), audit_entry()).await.unwrap();
    db.create_api_key(key(theirs, 2), audit_entry()).await.unwrap();
    let (found, owner) = db.find_key_by_digest(vec![1; 32]).await.unwrap().unwrap();
    assert_eq!((found.id, owner.id), (our_key.id, ours));
    assert_eq!((found.name, found.prefix, found.digest), (our_key.name, our_key.prefix, our_key.digest));
    assert_eq!((found.scopes, found.limit_rps, found.expires_at), (our_key.scopes, Some(7), Some(at(1))));
    assert!(db.find_key_by_digest(vec![3; 32]).await.unwrap().is_none());
    assert!(db.find_key_by_digest(vec![1; 31]).await.unwrap().is_none());
    assert!(db.find_key_by_digest(vec![]).await.unwrap().is_none());
    let listed: Vec<ApiKeyId> = db.list_api_keys(ours).await.unwrap().into_iter().map(|key| key.id).collect();
    assert_eq!(listed, [our_key.id]);
}

async fn revocation_is_idempotent(db: Database) {
    let organization_id = new_organization(&db).await;
    let (one, other) = (key(organization_id, 1), key(organization_id, 2));
    db.create_api_key(one.clone(), audit_entry()).await.unwrap();
    db.create_api_key(other.clone(), audit_entry()).await.unwrap();
    for now in [at(1), at(2)] {
        let revoked = db.revoke_api_key(one.id, now, audit_entry()).await.unwrap().unwrap();
        assert_eq!((revoked.id, revoked.revoked_at), (one.id, Some(at(1))));
    }
    // A revoked key is still found, to distinguish it from an unknown one.
    assert_eq!(db.find_key_by_digest(one.digest).await.unwrap().unwrap().0.revoked_at, Some(at(1)));
    assert_eq!(db.find_key_by_digest(other.digest).await.unwrap().unwrap().0.revoked_at, None);
    assert!(db.revoke_api_key(Uuid::new_v4().into(), NOW, audit_entry()).await.unwrap().is_none());
}

async fn duplicate_digest_conflicts(db: Database) {
    let organization_id = new_organization(&db).await;
    db.create_api_key(key(organization_id, 1), audit_entry()).await.unwrap();
    assert!(matches!(db.create_api_key(key(organization_id, 1), audit_entry()).await, Err(StoreError::Conflict)));
    assert_eq!(db.count("api_keys").await, 1);
}

async fn key_of_unknown_organization_is_rejected(db: Database) {
    assert!(matches!(db.create_api_key(key(Uuid::new_v4().into(), 1), audit_entry()).await, Err(StoreError::Query(_))));
    assert_eq!(db.count("api_keys").await, 0);
}

async fn last_use_is_monotonic(db: Database) {
    let organization_id = new_organization(&db).await;
    let (one, other, unused) = (key(organization_id, 1), key(organization_id, 2), key(organization_id, 3));
    for key in [&one, &other, &unused] {
        db.create_api_key(key.clone(), audit_entry()).await.unwrap();
    }
    db.touch_api_keys(vec![(one.id, at(5)), (other.id, at(1)), (Uuid::new_v4().into(), NOW)]).await.unwrap();
    // Another instance reports an earlier use later.
    db.touch_api_keys(vec![(other.id, at(2)), (one.id, at(3))]).await.unwrap();
    db.touch_api_keys(vec![]).await.unwrap();
    for (key, expected) in [(one, Some(at(5))), (other, Some(at(2))), (unused, None)] {
        assert_eq!(db.find_key_by_digest(key.digest).await.unwrap().unwrap().0.last_used_at, expected);
    }
}
