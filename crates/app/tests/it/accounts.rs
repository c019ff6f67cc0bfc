use std::time::Duration;

use app::Error;
use app::accounts::{self, NewKey};
use model::{ApiKeyId, OrganizationId, Timestamp};
use test_support::TestApp;
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_millis(1_780_000_000_000);

/// The field that an operation was refused for.
#[track_caller]
pub fn refused_field<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    match outcome {
        Err(Error::Invalid { field, .. }) => field,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_balance_grows_by_what_is_added() {
    let world = TestApp::start().await;
    let tenant = world.billed_tenant(5).await;
    assert_eq!(accounts::add_balance(&world.store, "test", NOW, tenant.organization_id, 7).await.unwrap(), 12);
    assert_eq!(world.balance(&tenant).await, 12);
}

#[tokio::test]
async fn a_balance_belongs_to_billed_organizations() {
    let world = TestApp::start().await;
    let id = world.tenant().await.organization_id;
    assert_eq!(refused_field(accounts::add_balance(&world.store, "test", NOW, id, 7).await), "org");
    assert_eq!(refused_field(accounts::balance(&world.store, id).await), "org");
}

#[tokio::test]
async fn a_balance_cannot_overflow() {
    let world = TestApp::start().await;
    let tenant = world.billed_tenant(5).await;
    let add = async |cents| accounts::add_balance(&world.store, "test", NOW, tenant.organization_id, cents).await;
    assert_eq!(refused_field(add(u64::MAX).await), "cents");
    assert_eq!(refused_field(add(i64::MAX as u64).await), "cents");
    assert_eq!(world.balance(&tenant).await, 5);
}

#[tokio::test]
async fn unknown_organizations_and_keys_are_refused() {
    let world = TestApp::start().await;
    let (store, unknown) = (&world.store, OrganizationId(world.tenant().await.key_id.0));
    assert_eq!(refused_field(accounts::create_key(store, "test", NOW, unknown, NewKey::default()).await), "org");
    assert_eq!(refused_field(accounts::list_keys(store, unknown).await), "org");
    assert_eq!(refused_field(accounts::revoke_key(store, "test", NOW, ApiKeyId(Uuid::from_u128(1))).await), "key");
    assert_eq!(refused_field(accounts::create_organization(store, "test", NOW, "  ", None).await), "name");
}

#[tokio::test]
async fn a_limit_of_a_key_must_fit() {
    let world = TestApp::start().await;
    let id = world.tenant().await.organization_id;
    for limit_rps in [0, u32::MAX] {
        let new = NewKey { limit_rps: Some(limit_rps), ..NewKey::default() };
        assert_eq!(refused_field(accounts::create_key(&world.store, "test", NOW, id, new).await), "limit_rps");
    }
}

#[tokio::test]
async fn a_key_must_not_have_expired_already() {
    let world = TestApp::start().await;
    let id = world.tenant().await.organization_id;
    let create = async |expires_at| {
        let new = NewKey { expires_at: Some(expires_at), ..NewKey::default() };
        accounts::create_key(&world.store, "test", NOW, id, new).await
    };
    for past in [Timestamp::UNIX_EPOCH, NOW] {
        assert_eq!(refused_field(create(past).await), "expires_at");
    }
    assert!(create(NOW + Duration::from_millis(1)).await.is_ok());
}

#[tokio::test]
async fn keys_are_listed_without_their_secret() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let listed = accounts::list_keys(&world.store, tenant.organization_id).await.unwrap();
    let [listed] = &listed[..] else { panic!("{listed:?}") };
    assert!(tenant.key.starts_with(&listed.prefix) && listed.prefix.len() < 12);
    assert!(!format!("{listed:?}").contains(&tenant.key));
}
