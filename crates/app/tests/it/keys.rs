use std::sync::Arc;
use std::time::Duration;

use app::accounts::NewKey;
use app::{Error, Identity};
use model::{Clock, Scope};
use test_support::{Setup, TestApp, until};

const HOUR: Duration = Duration::from_hours(1);

#[tokio::test]
async fn a_key_stands_for_its_organization_scopes_and_limit() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let scopes = Some(vec![Scope::FilesRead, Scope::SearchRead]);
    let limited = NewKey { scopes, limit_rps: Some(7), ..NewKey::default() };
    let created = world.create_key(tenant.organization_id, limited).await;
    let viewer = world.app.authenticate(&created.key).await.unwrap().unwrap();
    assert_eq!(viewer.organization_id, tenant.organization_id);
    assert_eq!(viewer.identity, Identity::ApiKey(created.row.id));
    assert!(viewer.may(Scope::FilesRead) && viewer.may(Scope::SearchRead));
    assert!(!viewer.may(Scope::FilesWrite) && !viewer.may(Scope::DocumentRead));
    assert_eq!((viewer.limit_rps, viewer.billed), (7, false));
}

#[tokio::test]
async fn a_key_has_every_scope_of_organizations_and_the_default_limit_unless_it_says_otherwise() {
    let world = TestApp::start().await;
    let tenant = world.billed_tenant(1).await;
    let created = world.create_key(tenant.organization_id, NewKey::default()).await;
    let viewer = world.app.authenticate(&created.key).await.unwrap().unwrap();
    assert_eq!(viewer.scopes, Scope::of_organizations().collect::<Vec<_>>());
    assert_eq!((viewer.limit_rps, viewer.billed), (100, true));
}

#[tokio::test]
async fn a_key_works_until_it_expires() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let expires_at = Some(world.clock.now() + HOUR);
    let key = world.create_key(tenant.organization_id, NewKey { expires_at, ..NewKey::default() }).await.key;
    assert!(world.app.authenticate(&key).await.unwrap().is_some());
    world.clock.advance(HOUR);
    assert!(world.app.authenticate(&key).await.unwrap().is_none());
}

#[tokio::test]
async fn a_revoked_key_is_refused_at_once_where_it_is_not_cached() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.revoke_key(tenant.key_id).await;
    let other = TestApp::on(Arc::clone(&world.database), Setup::default());
    assert!(other.app.authenticate(&tenant.key).await.unwrap().is_none());
}

/// Waits for the cache of keys, which forgets a key after three seconds of its own.
#[tokio::test]
async fn a_revoked_key_is_refused_within_five_seconds_where_it_is_cached() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    assert!(world.app.authenticate(&tenant.key).await.unwrap().is_some());
    let revoked = std::time::Instant::now();
    world.revoke_key(tenant.key_id).await;
    until("the refusal", async || world.app.authenticate(&tenant.key).await.unwrap().is_none().then_some(())).await;
    assert!(revoked.elapsed().as_secs() < 5, "{:?}", revoked.elapsed());
}

#[tokio::test]
async fn unknown_keys_are_refused() {
    let (world, other) = (TestApp::start().await, TestApp::start().await);
    let key = other.tenant().await.key;
    assert!(world.app.authenticate(&key).await.unwrap().is_none());
}

#[tokio::test]
async fn malformed_keys_are_refused_without_the_database() {
    let world = TestApp::start().await;
    let key = world.tenant().await.key;
    world.break_database().await;
    let mistyped = format!("{}{}", &key[..key.len() - 1], if key.ends_with('0') { '1' } else { '0' });
    for credential in ["", "rsk_", "not a key", "a.b.c", &mistyped] {
        assert!(world.app.authenticate(credential).await.unwrap().is_none(), "{credential}");
    }
}

#[tokio::test]
async fn a_failure_of_the_database_is_no_refusal() {
    let (world, other) = (TestApp::start().await, TestApp::start().await);
    world.break_database().await;
    let error = world.app.authenticate(&other.tenant().await.key).await.unwrap_err();
    assert!(matches!(error, Error::Internal(_)), "{error:?}");
}
