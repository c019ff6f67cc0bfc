//! Keys that an organization manages itself.

use std::sync::Arc;
use std::time::Duration;

use app::accounts::NewKey;
use app::api_keys::KeyRequest;
use app::{Error, Quota, Viewer};
use diesel::connection::SimpleConnection;
use docstore::AuditFilter;
use model::{AuditAction, Clock, KeyState, Scope};
use test_support::{Setup, Tenant, TestApp, TestTokens, claims};
use uuid::Uuid;

use crate::accounts::refused_field;
use crate::sqlite::connect;

const HOUR: Duration = Duration::from_hours(1);

fn named(name: &str) -> KeyRequest {
    KeyRequest { name: name.to_owned(), ..KeyRequest::default() }
}

/// The viewer of a further key of the organization.
async fn viewer(world: &TestApp, tenant: &Tenant, new: NewKey) -> Viewer {
    let key = world.create_key(tenant.organization_id, new).await.key;
    world.app.authenticate(&key).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_created_key_works_with_what_it_was_granted() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let expires_at = Some(world.clock.now() + HOUR);
    let request = KeyRequest {
        name: " sync ".to_owned(),
        scopes: Some(vec![Scope::FilesRead, Scope::FilesRead]),
        limit_rps: Some(5),
        expires_at,
    };
    let created = world.app.create_key(&tenant.viewer, request).await.unwrap();
    let viewer = world.app.authenticate(&created.key).await.unwrap().unwrap();
    assert_eq!((viewer.organization_id, viewer.limit_rps), (tenant.organization_id, 5));
    assert_eq!(viewer.scopes, [Scope::FilesRead]);
    assert_eq!((created.view.row.name.as_str(), created.view.state), ("sync", KeyState::Active));
    let listed = world.app.list_keys(&tenant.viewer).await.unwrap();
    assert_eq!(listed.iter().map(|key| key.row.id).collect::<Vec<_>>(), [tenant.key_id, created.view.row.id]);
    world.clock.advance(HOUR);
    assert!(world.app.authenticate(&created.key).await.unwrap().is_none());
    assert_eq!(world.app.list_keys(&tenant.viewer).await.unwrap()[1].state, KeyState::Expired);
}

#[tokio::test]
async fn a_key_never_grants_more_than_it_has() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let expires_at = world.clock.now() + HOUR;
    let weak = NewKey {
        scopes: Some(vec![Scope::KeysWrite, Scope::FilesRead]),
        limit_rps: Some(7),
        expires_at: Some(expires_at),
        ..NewKey::default()
    };
    let weak = viewer(&world, &tenant, weak).await;
    let create = async |request| world.app.create_key(&weak, request).await;
    let scopes = KeyRequest { scopes: Some(vec![Scope::FilesRead, Scope::SearchRead]), ..named("a") };
    assert_eq!(refused_field(create(scopes).await), "scopes[1]");
    assert_eq!(refused_field(create(KeyRequest { scopes: Some(vec![]), ..named("a") }).await), "scopes");
    for limit in [0, 8, u32::MAX] {
        assert_eq!(refused_field(create(KeyRequest { limit_rps: Some(limit), ..named("a") }).await), "limit_rps");
    }
    for at in [world.clock.now(), expires_at + Duration::from_millis(1)] {
        assert_eq!(refused_field(create(KeyRequest { expires_at: Some(at), ..named("a") }).await), "expires_at");
    }
    for name in ["", " ", "a\nb", &"x".repeat(101)] {
        assert_eq!(refused_field(create(named(name)).await), "name");
    }
    // Omitted properties are those of the creating key.
    let created = create(named("a")).await.unwrap();
    let heir = world.app.authenticate(&created.key).await.unwrap().unwrap();
    assert_eq!((heir.scopes, heir.limit_rps), (vec![Scope::KeysWrite, Scope::FilesRead], 7));
    assert_eq!(created.view.row.expires_at, Some(expires_at));
    // Those of a strong key are at most the defaults of the server.
    let strong = viewer(&world, &tenant, NewKey { limit_rps: Some(1_000), ..NewKey::default() }).await;
    let created = world.app.create_key(&strong, named("b")).await.unwrap();
    assert_eq!((created.view.limit_rps, created.view.row.limit_rps), (100, Some(100)));
    let fast = KeyRequest { limit_rps: Some(1_000), ..named("c") };
    assert_eq!(world.app.create_key(&strong, fast).await.unwrap().view.limit_rps, 1_000);
}

#[tokio::test]
async fn a_raised_default_lifts_no_key_above_its_creator() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let limited = viewer(&world, &tenant, NewKey { limit_rps: Some(100), ..NewKey::default() }).await;
    let child = world.app.create_key(&limited, named("a")).await.unwrap();
    let child = world.app.authenticate(&child.key).await.unwrap().unwrap();
    let grandchild = world.app.create_key(&child, named("b")).await.unwrap();
    let free = world.app.create_key(&tenant.viewer, named("c")).await.unwrap();
    let mut setup = Setup::default();
    setup.options.default_rps = 1_000;
    let raised = TestApp::on(Arc::clone(&world.database), setup);
    for (key, limit) in [(grandchild.key, 100), (free.key, 1_000)] {
        assert_eq!(raised.app.authenticate(&key).await.unwrap().unwrap().limit_rps, limit);
    }
}

#[tokio::test]
async fn a_token_creates_keys_with_its_scopes() {
    let tokens = Arc::new(TestTokens::default());
    let world = TestApp::with(Setup { tokens: Some(Arc::clone(&tokens) as _), ..Setup::default() }).await;
    let tenant = world.tenant().await;
    tokens.accept("a.b.c", claims(&tenant.organization_id.to_string(), "user-1", &["keys:write", "files:read"]));
    let viewer = world.app.authenticate("a.b.c").await.unwrap().unwrap();
    let refused = KeyRequest { scopes: Some(vec![Scope::SearchRead]), ..named("a") };
    assert_eq!(refused_field(world.app.create_key(&viewer, refused).await), "scopes[0]");
    let created = world.app.create_key(&viewer, named("a")).await.unwrap();
    assert_eq!(created.view.row.scopes, [Scope::FilesRead, Scope::KeysWrite]);
    assert_eq!(created.view.row.expires_at, None);
}

#[tokio::test]
async fn revoked_and_expired_keys_create_none() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let expiring = NewKey { expires_at: Some(world.clock.now() + HOUR), ..NewKey::default() };
    let expiring = viewer(&world, &tenant, expiring).await;
    let revoked = viewer(&world, &tenant, NewKey::default()).await;
    let app::Identity::ApiKey(id) = revoked.identity else { panic!("a key") };
    // Both requests were admitted before.
    world.revoke_key(id).await;
    world.clock.advance(HOUR);
    for viewer in [expiring, revoked] {
        let error = world.app.create_key(&viewer, named("a")).await.unwrap_err();
        assert!(matches!(error, Error::InvalidCredential), "{error:?}");
    }
}

#[tokio::test]
async fn keys_per_organization_are_limited() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let mut last = None;
    for number in 1..100 {
        last = Some(world.app.create_key(&tenant.viewer, named(&number.to_string())).await.unwrap().view.row.id);
    }
    let error = world.app.create_key(&tenant.viewer, named("one more")).await.unwrap_err();
    assert!(matches!(error, Error::QuotaExceeded(Quota::Keys { used: 100, limit: 100 })), "{error:?}");
    world.app.create_key(&other.viewer, named("a")).await.unwrap();
    world.app.revoke_key(&tenant.viewer, &last.unwrap().to_string()).await.unwrap();
    world.app.create_key(&tenant.viewer, named("one more")).await.unwrap();
}

/// A loop of creations and revocations would fill the tables of keys and of the audit log.
#[tokio::test]
async fn keys_created_in_a_day_are_limited() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let revoked = "WITH RECURSIVE numbers(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 998) \
        INSERT INTO api_keys (id, organization_id, name, prefix, digest, scopes, created_at, revoked_at) \
        SELECT randomblob(16), organization_id, name, prefix, randomblob(32), scopes, created_at, created_at \
        FROM api_keys, numbers";
    connect(&world).batch_execute(revoked).unwrap();
    let other = world.tenant().await;
    let create = async || world.app.create_key(&tenant.viewer, named("a")).await;
    let last = create().await.unwrap().view.row.id.to_string();
    world.app.revoke_key(&tenant.viewer, &last).await.unwrap();
    let error = create().await.unwrap_err();
    let expected = "1000 API keys of the organization were created in the last 24 hours; the quota is 1000";
    assert_eq!(error.to_string(), expected);
    world.app.create_key(&other.viewer, named("a")).await.unwrap();
    world.clock.advance(24 * HOUR);
    create().await.unwrap();
}

#[tokio::test]
async fn a_revoked_key_is_refused_at_once() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let created = world.app.create_key(&tenant.viewer, named("a")).await.unwrap();
    assert!(world.app.authenticate(&created.key).await.unwrap().is_some());
    let id = created.view.row.id.to_string();
    for (viewer, id) in
        [(&other.viewer, id.as_str()), (&tenant.viewer, "x"), (&tenant.viewer, &Uuid::nil().to_string())]
    {
        assert!(matches!(world.app.revoke_key(viewer, id).await, Err(Error::KeyNotFound)));
    }
    assert!(world.app.authenticate(&created.key).await.unwrap().is_some());
    for _ in 0..2 {
        assert_eq!(world.app.revoke_key(&tenant.viewer, &id).await.unwrap().state, KeyState::Revoked);
        assert!(world.app.authenticate(&created.key).await.unwrap().is_none());
    }
    // A key may revoke itself.
    let own = tenant.key_id.to_string();
    assert_eq!(world.app.revoke_key(&tenant.viewer, &own).await.unwrap().state, KeyState::Revoked);
    assert!(world.app.authenticate(&tenant.key).await.unwrap().is_none());
}

#[tokio::test]
async fn changes_of_keys_are_audited_without_secrets() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let created = world.app.create_key(&tenant.viewer, named("nightly")).await.unwrap();
    world.app.revoke_key(&tenant.viewer, &created.view.row.id.to_string()).await.unwrap();
    let filter = AuditFilter { organization_id: Some(tenant.organization_id), ..AuditFilter::default() };
    let entries = world.store.list_audit_entries(filter, None, 10).await.unwrap();
    let own: Vec<_> = entries.iter().filter(|entry| entry.subject_id == Some(created.view.row.id.0)).collect();
    let mut actions: Vec<_> = own.iter().map(|entry| entry.action).collect();
    actions.sort();
    assert_eq!(actions, [AuditAction::KeyCreated, AuditAction::KeyRevoked]);
    for entry in own {
        assert_eq!(entry.actor, format!("api:key:{}", tenant.key_id));
        assert!(!format!("{entry:?}").contains(&created.key));
    }
}

/// The database may hold scopes of a newer server that has been rolled back.
#[tokio::test]
async fn unknown_scopes_of_a_key_are_ignored() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let mut connection = connect(&world);
    connection.batch_execute("UPDATE api_keys SET scopes = 'search:read moon:fly'").unwrap();
    let other = TestApp::on(Arc::clone(&world.database), Setup::default());
    let viewer = other.app.authenticate(&tenant.key).await.unwrap().unwrap();
    assert_eq!(viewer.scopes, [Scope::SearchRead]);
}
