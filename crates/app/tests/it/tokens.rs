use std::sync::Arc;

use app::authentication::TokenClaims;
use app::{Error, Identity};
use model::Scope;
use test_support::{Setup, TestApp, TestTokens, TokenTrouble, claims};
use uuid::Uuid;

const TOKEN: &str = "header.claims.signature";

async fn start() -> (TestApp, Arc<TestTokens>) {
    let tokens = Arc::new(TestTokens::default());
    let setup = Setup { tokens: Some(Arc::clone(&tokens) as _), ..Setup::default() };
    (TestApp::with(setup).await, tokens)
}

#[tokio::test]
async fn a_token_stands_for_its_subject_in_its_organization() {
    let (world, tokens) = start().await;
    let tenant = world.billed_tenant(1).await;
    tokens.accept(TOKEN, claims(&tenant.organization_id.to_string(), "user-1", &["openid", "files:read"]));
    let viewer = world.app.authenticate(TOKEN).await.unwrap().unwrap();
    assert_eq!(viewer.organization_id, tenant.organization_id);
    assert_eq!(viewer.identity, Identity::subject("https://issuer.example", "user-1"));
    assert!(viewer.may(Scope::FilesRead) && !viewer.may(Scope::SearchRead));
    assert_eq!((viewer.limit_rps, viewer.billed), (100, true));
}

#[tokio::test]
async fn a_token_is_verified_once() {
    let (world, tokens) = start().await;
    let tenant = world.tenant().await;
    tokens.accept(TOKEN, claims(&tenant.organization_id.to_string(), "user-1", &[]));
    for _ in 0..3 {
        assert!(world.app.authenticate(TOKEN).await.unwrap().is_some());
    }
    assert_eq!(tokens.asked(), 1);
}

#[tokio::test]
async fn the_verifier_decides_about_an_expired_token_each_time() {
    let (world, tokens) = start().await;
    let tenant = world.tenant().await;
    let claims = claims(&tenant.organization_id.to_string(), "user-1", &[]);
    let expired = TokenClaims { expires_at: time::OffsetDateTime::UNIX_EPOCH, ..claims };
    tokens.accept(TOKEN, expired);
    assert!(world.app.authenticate(TOKEN).await.unwrap().is_some(), "within the verifier's leeway");
    tokens.refuse(TOKEN);
    assert!(world.app.authenticate(TOKEN).await.unwrap().is_none());
}

#[tokio::test]
async fn a_token_needs_an_organization_of_this_service() {
    let (world, tokens) = start().await;
    for organization in [Uuid::from_u128(1).to_string(), "acme".to_owned(), String::new()] {
        let token = format!("header.{}.signature", organization.len());
        tokens.accept(&token, claims(&organization, "user-1", &["search:read"]));
        assert!(world.app.authenticate(&token).await.unwrap().is_none(), "{organization}");
    }
    assert!(world.app.authenticate(TOKEN).await.unwrap().is_none(), "a token that the verifier refuses");
}

#[tokio::test]
async fn an_issuer_that_is_away_is_no_refusal() {
    let (world, tokens) = start().await;
    tokens.fail(TokenTrouble::Unavailable);
    let error = world.app.authenticate(TOKEN).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { backend: "token issuer", .. }), "{error:?}");
}

#[tokio::test]
async fn api_keys_never_reach_the_verifier() {
    let (world, tokens) = start().await;
    let tenant = world.tenant().await;
    assert!(world.app.authenticate(&tenant.key).await.unwrap().is_some());
    assert_eq!(tokens.asked(), 0);
}
