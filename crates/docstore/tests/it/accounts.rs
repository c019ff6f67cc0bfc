//! Organizations and API keys.

use docstore::{ApiKey, DAY, Docstore, KeyCreation, StoreError};
use model::{ApiKeyId, OrganizationId, Scope};
use uuid::Uuid;

use crate::support::{Database, NOW, at, audit_entry, new_organization, organization};

on_both_backends!(
    only_one_first_organization_is_created,
    organizations_are_listed_oldest_first,
    key_is_found_by_digest,
    revocation_is_idempotent,
    duplicate_digest_conflicts,
    key_of_unknown_organization_is_rejected,
    last_use_is_monotonic,
    unknown_scopes_are_ignored,
    keys_of_an_organization_are_limited,
    keys_created_in_a_day_are_limited,
    concurrent_keys_stay_within_the_limit,
    invalid_credentials_create_no_keys,
    oldest_invalid_keys_are_deleted,
    keys_are_revoked_by_their_own_organization,
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

async fn create_first(store: Docstore, digest: u8) -> bool {
    let first = organization();
    let key = key(first.id, digest);
    store.create_first_organization((first, audit_entry()), (key, audit_entry())).await.unwrap()
}

async fn only_one_first_organization_is_created(db: Database) {
    let created = tokio::join!(create_first(db.another_store(), 1), create_first(db.another_store(), 2));
    assert!(created.0 != created.1, "{created:?}");
    assert!(!create_first(db.another_store(), 3).await);
    let organizations = db.list_organizations().await.unwrap();
    assert_eq!((organizations.len(), db.count("api_keys").await, db.count("audit_entries").await), (1, 1, 2));
    assert_eq!(db.list_api_keys(organizations[0].id).await.unwrap().len(), 1);
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

/// A newer server that was rolled back may have stored scopes that this one does not know.
async fn unknown_scopes_are_ignored(db: Database) {
    let organization_id = new_organization(&db).await;
    db.create_api_key(key(organization_id, 1), audit_entry()).await.unwrap();
    for (stored, known) in
        [("search:read future:write files:read", &[Scope::SearchRead, Scope::FilesRead][..]), ("x", &[])]
    {
        db.execute(&format!("UPDATE api_keys SET scopes = '{stored}'")).await;
        assert_eq!(db.find_key_by_digest(vec![1; 32]).await.unwrap().unwrap().0.scopes, known);
        assert_eq!(db.list_api_keys(organization_id).await.unwrap()[0].scopes, known);
    }
}

const MAX_INVALID: i64 = 2;

async fn create(db: &Database, key: ApiKey, creator: Option<ApiKeyId>, max_valid: i64) -> KeyCreation {
    db.create_organization_key(key, creator, max_valid, 100, MAX_INVALID, audit_entry()).await.unwrap()
}

async fn keys_of_an_organization_are_limited(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let lasting = |organization_id, digest| ApiKey { expires_at: None, ..key(organization_id, digest) };
    assert_eq!(create(&db, lasting(theirs, 9), None, 1).await, KeyCreation::Created);
    let first = lasting(ours, 1);
    assert_eq!(create(&db, first.clone(), None, 2).await, KeyCreation::Created);
    assert_eq!(create(&db, key(ours, 2), Some(first.id), 2).await, KeyCreation::Created);
    assert_eq!(create(&db, lasting(ours, 3), Some(first.id), 2).await, KeyCreation::TooMany(2));
    // The second key has expired by then.
    let later = ApiKey { created_at: at(1), ..lasting(ours, 3) };
    assert_eq!(create(&db, later, Some(first.id), 2).await, KeyCreation::Created);
    assert_eq!(db.list_api_keys(ours).await.unwrap().len(), 3);
}

/// Revoked keys count too: each pair of creation and revocation leaves rows.
async fn keys_created_in_a_day_are_limited(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let create = async |key: ApiKey| {
        let outcome = db.create_organization_key(key.clone(), None, 10, 2, 2, audit_entry()).await.unwrap();
        db.revoke_api_key(key.id, key.created_at, audit_entry()).await.unwrap();
        outcome
    };
    let created_at = |milliseconds, digest| ApiKey { created_at: at(milliseconds), ..key(ours, digest) };
    assert_eq!(create(created_at(0, 1)).await, KeyCreation::Created);
    assert_eq!(create(created_at(1, 2)).await, KeyCreation::Created);
    assert_eq!(create(created_at(DAY - 1, 3)).await, KeyCreation::TooManyLately(2));
    assert_eq!(create(key(theirs, 4)).await, KeyCreation::Created);
    assert_eq!(create(created_at(DAY, 5)).await, KeyCreation::Created);
    assert_eq!(create(created_at(DAY, 6)).await, KeyCreation::TooManyLately(2));
    assert_eq!(create(created_at(DAY + 1, 6)).await, KeyCreation::Created);
    assert_eq!(db.list_api_keys(ours).await.unwrap().len(), 3, "the two newest invalid ones, and the last one");
}

async fn concurrent_keys_stay_within_the_limit(db: Database) {
    let organization_id = new_organization(&db).await;
    let creating: Vec<_> = (0..8)
        .map(|digest| {
            let db = db.clone();
            tokio::spawn(async move { create(&db, key(organization_id, digest), None, 3).await })
        })
        .collect();
    let mut created = 0;
    for creating in creating {
        created += usize::from(creating.await.unwrap() == KeyCreation::Created);
    }
    assert_eq!((created, db.count("api_keys").await), (3, 3));
}

async fn invalid_credentials_create_no_keys(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let (revoked, expiring, foreign) = (key(ours, 1), key(ours, 2), key(theirs, 3));
    for key in [&revoked, &expiring, &foreign] {
        db.create_api_key(key.clone(), audit_entry()).await.unwrap();
    }
    db.revoke_api_key(revoked.id, NOW, audit_entry()).await.unwrap();
    for (creator, now) in [(revoked.id, NOW), (expiring.id, at(1)), (foreign.id, NOW), (Uuid::new_v4().into(), NOW)] {
        let new = ApiKey { created_at: now, ..key(ours, 4) };
        assert_eq!(create(&db, new, Some(creator), 10).await, KeyCreation::Refused);
    }
    db.mark_organization_deleted(ours, NOW, audit_entry()).await.unwrap();
    assert_eq!(create(&db, key(ours, 4), None, 10).await, KeyCreation::Refused);
    assert_eq!(db.count("api_keys").await, 3);
}

async fn oldest_invalid_keys_are_deleted(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    for (organization_id, digest) in [(ours, 1), (ours, 2), (ours, 3), (theirs, 4), (theirs, 5), (theirs, 6)] {
        let old = ApiKey { created_at: at(-i64::from(digest)), ..key(organization_id, digest) };
        db.create_api_key(old.clone(), audit_entry()).await.unwrap();
        db.revoke_api_key(old.id, NOW, audit_entry()).await.unwrap();
    }
    assert_eq!(create(&db, key(ours, 7), None, 10).await, KeyCreation::Created);
    let digests = |keys: Vec<ApiKey>| keys.into_iter().map(|key| key.digest[0]).collect::<Vec<u8>>();
    assert_eq!(digests(db.list_api_keys(ours).await.unwrap()), [2, 1, 7]);
    assert_eq!(digests(db.list_api_keys(theirs).await.unwrap()), [6, 5, 4]);
}

async fn keys_are_revoked_by_their_own_organization(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let our_key = key(ours, 1);
    db.create_api_key(our_key.clone(), audit_entry()).await.unwrap();
    let revoke = async |organization_id, now| {
        db.revoke_organization_key(organization_id, our_key.id, now, audit_entry()).await.unwrap()
    };
    assert!(revoke(theirs, at(1)).await.is_none());
    assert_eq!(db.list_api_keys(ours).await.unwrap()[0].revoked_at, None);
    let audited = db.count("audit_entries").await;
    for now in [at(2), at(3)] {
        assert_eq!(revoke(ours, now).await.unwrap().revoked_at, Some(at(2)));
    }
    assert_eq!(db.count("audit_entries").await, audited + 1);
}
