use app::Identity;
use app::accounts::NewKey;
use app::me::Usage;
use model::Scope;
use test_support::{Setup, TestApp};

#[tokio::test]
async fn organization_credential_and_quotas_are_the_viewers_own() {
    let mut setup = Setup::default();
    setup.options.max_bytes_per_organization = Some(1_000);
    let world = TestApp::with(setup).await;
    let (tenant, other) = (world.billed_tenant(7).await, world.tenant().await);
    let new = NewKey { name: "laptop".to_owned(), scopes: Some(vec![Scope::SearchRead]), ..NewKey::default() };
    let key = world.create_key(tenant.organization_id, new).await;
    let viewer = world.app.authenticate(&key.key).await.unwrap().unwrap();
    world.upload(&tenant, "a.txt", "Seven b").await;
    let me = world.app.me(&viewer).await.unwrap();
    assert_eq!((me.organization.id, me.balance_cents), (tenant.organization_id, Some(7)));
    assert_eq!(me.key.map(|key| key.name).as_deref(), Some("laptop"));
    assert_eq!((me.scopes.as_slice(), me.limit_rps), (&[Scope::SearchRead][..], 100));
    assert_eq!(me.files, Usage { used: 1, limit: Some(100) });
    assert_eq!(me.bytes, Usage { used: 7, limit: Some(1_000) });
    let theirs = world.app.me(&other.viewer).await.unwrap();
    assert_eq!((theirs.balance_cents, theirs.files.used), (None, 0));
    let token = app::Viewer { identity: Identity::subject("https://issuer.example", "user"), ..viewer };
    assert!(world.app.me(&token).await.unwrap().key.is_none());
}
