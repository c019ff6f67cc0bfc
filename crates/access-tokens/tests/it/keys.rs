//! When keys are fetched, and what happens when they cannot be.

use std::sync::Arc;
use std::time::{Duration, Instant};

use access_tokens::{AccessTokens, AccessTokensOptions, KeyTiming, Refusal, SourceError, TokenError};
use tokio::task::JoinSet;

use crate::issuer::{AUDIENCE, Answer, Endpoint, ISSUER, NOW, claims};
use crate::signing::SigningKey;

const UNKNOWN: Result<(), TokenError> = Err(TokenError::Refused(Refusal::UnknownKey));

/// In a hurry: what takes minutes takes tenths of a second.
fn quick() -> KeyTiming {
    KeyTiming { failure_pause: Duration::from_millis(50), timeout: Duration::from_millis(300), ..KeyTiming::default() }
}

fn options(jwks_url: &str) -> AccessTokensOptions {
    AccessTokensOptions {
        issuer: ISSUER.to_owned(),
        audience: AUDIENCE.to_owned(),
        jwks_url: jwks_url.to_owned(),
        leeway: Duration::ZERO,
        timing: quick(),
    }
}

/// Nobody listens where its keys should be.
pub fn unreachable_issuer() -> AccessTokens {
    AccessTokens::new(options("http://127.0.0.1:1/jwks")).unwrap()
}

async fn verify(tokens: &AccessTokens, key: &SigningKey) -> Result<(), TokenError> {
    tokens.verify(&key.token(&claims()), NOW).await.map(drop)
}

async fn verified_in_the_end(tokens: &AccessTokens, key: &SigningKey) {
    let started = Instant::now();
    while let Err(error) = verify(tokens, key).await {
        assert!(started.elapsed() < Duration::from_secs(10), "{error}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn many_who_come_at_once_have_the_keys_fetched_once() {
    let key = Arc::new(SigningKey::p256("k"));
    let issuer = Endpoint::publishing(&[&key]).await;
    let tokens = issuer.tokens(KeyTiming::default());
    let mut callers = JoinSet::new();
    for _ in 0..20 {
        let (tokens, key) = (Arc::clone(&tokens), Arc::clone(&key));
        callers.spawn(async move { verify(&tokens, &key).await });
    }
    assert!(callers.join_all().await.iter().all(Result::is_ok));
    assert_eq!(issuer.asked(), 1);
}

#[tokio::test]
async fn a_new_key_is_found_and_invented_ones_cost_nothing() {
    let (old, new) = (SigningKey::p256("old"), SigningKey::ed25519("new"));
    let issuer = Endpoint::publishing(&[&old]).await;
    let timing = KeyTiming { unknown_key_pause: Duration::from_millis(400), ..quick() };
    let tokens = issuer.tokens(timing);
    assert_eq!(verify(&tokens, &old).await, Ok(()));
    let fetched = Instant::now();
    issuer.publish(&[&old, &new]);
    for _ in 0..50 {
        let outcome = verify(&tokens, &SigningKey { kid: Some("invented"), ..SigningKey::ed25519("x") }).await;
        assert_eq!(outcome, UNKNOWN);
    }
    // On a machine that stalls the pause may be over by now.
    if fetched.elapsed() < timing.unknown_key_pause {
        assert_eq!(issuer.asked(), 1, "the keys were asked for a moment ago");
    }
    verified_in_the_end(&tokens, &new).await;
    assert!(issuer.asked() <= 2 + fetched.elapsed().div_duration_f64(timing.unknown_key_pause) as usize);
    assert_eq!(verify(&tokens, &old).await, Ok(()));
    // The old one is withdrawn; it goes with the next fetch.
    issuer.publish(&[&new]);
    tokio::time::sleep(timing.unknown_key_pause).await;
    assert_eq!(verify(&tokens, &SigningKey::rsa("invented")).await, UNKNOWN);
    assert_eq!(verify(&tokens, &old).await, UNKNOWN);
}

#[tokio::test]
async fn a_new_key_without_a_name_is_found_too() {
    let (old, new) = (SigningKey::p256("o").nameless(), SigningKey::p256("n").nameless());
    let issuer = Endpoint::publishing(&[&old]).await;
    let tokens = issuer.tokens(KeyTiming { unknown_key_pause: Duration::ZERO, ..quick() });
    assert_eq!(verify(&tokens, &old).await, Ok(()));
    issuer.publish(&[&new]);
    assert_eq!(verify(&tokens, &new).await, Ok(()));
    assert_eq!(verify(&tokens, &old).await, Err(TokenError::Refused(Refusal::Signature)));
}

#[tokio::test]
async fn an_issuer_that_is_down_at_the_start_is_asked_again() {
    let key = SigningKey::p256("k");
    let issuer = Endpoint::start(Answer::Away).await;
    let tokens = issuer.tokens(quick());
    for _ in 0..5 {
        assert_eq!(verify(&tokens, &key).await, Err(TokenError::KeysUnavailable));
    }
    assert!(issuer.asked() < 5, "not by every request");
    issuer.publish(&[&key]);
    verified_in_the_end(&tokens, &key).await;
}

#[tokio::test]
async fn keys_outlive_an_issuer_that_is_away_but_not_for_ever() {
    let key = SigningKey::p256("k");
    let issuer = Endpoint::publishing(&[&key]).await;
    let timing = KeyTiming { fresh: Duration::from_millis(100), kept: Duration::from_millis(1_500), ..quick() };
    let tokens = issuer.tokens(timing);
    assert_eq!(verify(&tokens, &key).await, Ok(()));
    let fetched = Instant::now();
    issuer.answer_with(Answer::Slow);
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(verify(&tokens, &key).await, Ok(()), "the first waits for the attempt and goes on with what there is");
    let started = Instant::now();
    for _ in 0..20 {
        assert_eq!(verify(&tokens, &key).await, Ok(()));
    }
    assert!(started.elapsed() < Duration::from_millis(250), "the others do not wait: {:?}", started.elapsed());
    tokio::time::sleep(timing.kept.saturating_sub(fetched.elapsed())).await;
    assert_eq!(verify(&tokens, &key).await, Err(TokenError::KeysUnavailable));
    issuer.publish(&[&key]);
    verified_in_the_end(&tokens, &key).await;
}

#[tokio::test]
async fn keys_are_renewed_in_the_background_before_they_are_old() {
    let key = SigningKey::p256("k");
    let issuer = Endpoint::publishing(&[&key]).await;
    let timing = KeyTiming { fresh: Duration::from_secs(4), timeout: Duration::from_secs(3), ..quick() };
    let tokens = issuer.tokens(timing);
    assert_eq!(verify(&tokens, &key).await, Ok(()));
    issuer.answer_with(Answer::Slow);
    tokio::time::sleep(Duration::from_millis(3_250)).await;
    let started = Instant::now();
    assert_eq!(verify(&tokens, &key).await, Ok(()));
    assert!(started.elapsed() < Duration::from_millis(500), "nobody waits: {:?}", started.elapsed());
    while issuer.asked() < 2 {
        assert!(started.elapsed() < Duration::from_secs(5), "the keys were not asked for");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn an_endpoint_that_misbehaves_gives_no_keys_and_holds_nobody_up() {
    let key = SigningKey::p256("k");
    let elsewhere = Endpoint::publishing(&[&key]).await;
    let huge = format!("{{\"pad\":\"{}\",{}", "x".repeat(256 * 1024), &crate::signing::set(&[&key]).to_string()[1..]);
    let endless = format!("HTTP/1.1 200 OK\r\n\r\n{huge}");
    let redirect = format!("HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", elsewhere.url);
    for answer in [
        Answer::Document(huge.into_bytes()),
        Answer::Raw(endless),
        Answer::Raw(redirect),
        Answer::Raw("HTTP/1.1 500 Oh\r\ncontent-length: 11\r\n\r\n{\"keys\":[]}".to_owned()),
        Answer::Raw("garbage".to_owned()),
        Answer::Document(b"garbage".to_vec()),
        Answer::Document(b"{\"keys\":[]}".to_vec()),
        Answer::Document(b"{\"keys\":{}}".to_vec()),
        Answer::Document("[".repeat(200_000).into_bytes()),
        Answer::Slow,
        Answer::Away,
    ] {
        let issuer = Endpoint::start(answer).await;
        let tokens = issuer.tokens(quick());
        let started = Instant::now();
        assert_eq!(verify(&tokens, &key).await, Err(TokenError::KeysUnavailable));
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    }
    assert_eq!(elsewhere.asked(), 0, "no redirect is followed");
}

#[tokio::test]
async fn an_address_that_is_none_is_refused() {
    for url in ["", "jwks.json", "ftp://issuer.example/jwks", "file:///etc/passwd"] {
        assert!(matches!(AccessTokens::new(options(url)), Err(SourceError::Address(_))), "{url}");
    }
}
