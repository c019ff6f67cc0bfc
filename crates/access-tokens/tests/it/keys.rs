//! Fetching of keys, and outages of the issuer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use access_tokens::{AccessTokens, AccessTokensOptions, KeyTiming, Rejection, SourceError, TokenError};
use tokio::task::JoinSet;

use crate::issuer::{AUDIENCE, Answer, Endpoint, ISSUER, NOW, claims};
use crate::signing::SigningKey;

const UNKNOWN: Result<(), TokenError> = Err(TokenError::Rejected(Rejection::UnknownKey));

/// Returns intervals of tenths of a second instead of minutes.
fn short_intervals() -> KeyTiming {
    KeyTiming { retry_interval: Duration::from_millis(50), timeout: Duration::from_millis(300), ..KeyTiming::default() }
}

fn options(jwks_url: &str) -> AccessTokensOptions {
    AccessTokensOptions {
        issuer: ISSUER.to_owned(),
        audience: AUDIENCE.to_owned(),
        jwks_url: jwks_url.to_owned(),
        leeway: Duration::ZERO,
        timing: short_intervals(),
    }
}

/// Returns a verifier whose JWKS endpoint refuses connections.
pub fn unreachable_issuer() -> AccessTokens {
    AccessTokens::new(options("http://127.0.0.1:1/jwks")).unwrap()
}

async fn verify(tokens: &AccessTokens, key: &SigningKey) -> Result<(), TokenError> {
    tokens.verify(&key.token(&claims()), NOW).await.map(drop)
}

/// Polls until the key's tokens are accepted.
async fn wait_until_verified(tokens: &AccessTokens, key: &SigningKey) {
    let started = Instant::now();
    while let Err(error) = verify(tokens, key).await {
        assert!(started.elapsed() < Duration::from_secs(10), "{error}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn concurrent_callers_share_one_fetch() {
    let key = Arc::new(SigningKey::p256("k"));
    let issuer = Endpoint::publishing(&[&key]).await;
    let tokens = issuer.tokens(KeyTiming::default());
    let mut callers = JoinSet::new();
    for _ in 0..20 {
        let (tokens, key) = (Arc::clone(&tokens), Arc::clone(&key));
        callers.spawn(async move { verify(&tokens, &key).await });
    }
    assert!(callers.join_all().await.iter().all(Result::is_ok));
    assert_eq!(issuer.requests(), 1);
}

#[tokio::test]
async fn new_key_is_found_and_unknown_ones_do_not_cause_a_fetch_each() {
    let (old, new) = (SigningKey::p256("old"), SigningKey::ed25519("new"));
    let issuer = Endpoint::publishing(&[&old]).await;
    let timing = KeyTiming { unknown_key_interval: Duration::from_millis(400), ..short_intervals() };
    let tokens = issuer.tokens(timing);
    assert_eq!(verify(&tokens, &old).await, Ok(()));
    let fetched = Instant::now();
    issuer.publish(&[&old, &new]);
    for _ in 0..50 {
        let outcome = verify(&tokens, &SigningKey { kid: Some("invented"), ..SigningKey::ed25519("x") }).await;
        assert_eq!(outcome, UNKNOWN);
    }
    // On a stalled machine the interval may have passed.
    if fetched.elapsed() < timing.unknown_key_interval {
        assert_eq!(issuer.requests(), 1, "the keys were fetched less than the interval ago");
    }
    wait_until_verified(&tokens, &new).await;
    assert!(issuer.requests() <= 2 + fetched.elapsed().div_duration_f64(timing.unknown_key_interval) as usize);
    assert_eq!(verify(&tokens, &old).await, Ok(()));
    // A withdrawn key is dropped at the next fetch.
    issuer.publish(&[&new]);
    tokio::time::sleep(timing.unknown_key_interval).await;
    assert_eq!(verify(&tokens, &SigningKey::rsa("invented")).await, UNKNOWN);
    assert_eq!(verify(&tokens, &old).await, UNKNOWN);
}

#[tokio::test]
async fn new_unnamed_key_is_found() {
    let (old, new) = (SigningKey::p256("o").nameless(), SigningKey::p256("n").nameless());
    let issuer = Endpoint::publishing(&[&old]).await;
    let tokens = issuer.tokens(KeyTiming { unknown_key_interval: Duration::ZERO, ..short_intervals() });
    assert_eq!(verify(&tokens, &old).await, Ok(()));
    issuer.publish(&[&new]);
    assert_eq!(verify(&tokens, &new).await, Ok(()));
    assert_eq!(verify(&tokens, &old).await, Err(TokenError::Rejected(Rejection::Signature)));
}

#[tokio::test]
async fn issuer_down_at_start_is_retried() {
    let key = SigningKey::p256("k");
    let issuer = Endpoint::start(Answer::Closed).await;
    let tokens = issuer.tokens(short_intervals());
    for _ in 0..5 {
        assert_eq!(verify(&tokens, &key).await, Err(TokenError::KeysUnavailable));
    }
    assert!(issuer.requests() < 5, "fewer fetches than requests");
    issuer.publish(&[&key]);
    wait_until_verified(&tokens, &key).await;
}

#[tokio::test]
async fn keys_survive_an_outage_up_to_their_max_age() {
    let key = SigningKey::p256("k");
    let issuer = Endpoint::publishing(&[&key]).await;
    let timing = KeyTiming {
        refresh_after: Duration::from_millis(100),
        max_age: Duration::from_millis(1_500),
        ..short_intervals()
    };
    let tokens = issuer.tokens(timing);
    assert_eq!(verify(&tokens, &key).await, Ok(()));
    let fetched = Instant::now();
    issuer.answer_with(Answer::Slow);
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(verify(&tokens, &key).await, Ok(()), "the first request waits for the fetch and uses the old keys");
    let started = Instant::now();
    for _ in 0..20 {
        assert_eq!(verify(&tokens, &key).await, Ok(()));
    }
    assert!(started.elapsed() < Duration::from_millis(250), "later requests do not wait: {:?}", started.elapsed());
    tokio::time::sleep(timing.max_age.saturating_sub(fetched.elapsed())).await;
    assert_eq!(verify(&tokens, &key).await, Err(TokenError::KeysUnavailable));
    issuer.publish(&[&key]);
    wait_until_verified(&tokens, &key).await;
}

#[tokio::test]
async fn keys_are_refreshed_in_the_background() {
    let key = SigningKey::p256("k");
    let issuer = Endpoint::publishing(&[&key]).await;
    let timing =
        KeyTiming { refresh_after: Duration::from_secs(4), timeout: Duration::from_secs(3), ..short_intervals() };
    let tokens = issuer.tokens(timing);
    assert_eq!(verify(&tokens, &key).await, Ok(()));
    issuer.answer_with(Answer::Slow);
    tokio::time::sleep(Duration::from_millis(3_250)).await;
    let started = Instant::now();
    assert_eq!(verify(&tokens, &key).await, Ok(()));
    assert!(started.elapsed() < Duration::from_millis(500), "no request waits: {:?}", started.elapsed());
    while issuer.requests() < 2 {
        assert!(started.elapsed() < Duration::from_secs(5), "the keys were not fetched");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn misbehaving_endpoint_yields_no_keys_in_bounded_time() {
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
        Answer::Closed,
    ] {
        let issuer = Endpoint::start(answer).await;
        let tokens = issuer.tokens(short_intervals());
        let started = Instant::now();
        assert_eq!(verify(&tokens, &key).await, Err(TokenError::KeysUnavailable));
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    }
    assert_eq!(elsewhere.requests(), 0, "redirects are not followed");
}

#[tokio::test]
async fn invalid_url_is_rejected() {
    for url in ["", "jwks.json", "ftp://issuer.example/jwks", "file:///etc/passwd"] {
        assert!(matches!(AccessTokens::new(options(url)), Err(SourceError::Address(_))), "{url}");
    }
}
