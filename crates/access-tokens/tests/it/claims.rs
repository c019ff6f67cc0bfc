//! Validation of claims.

use access_tokens::{KeyTiming, Rejection, TokenError};
use serde_json::{Value, json};
use time::Duration;

use crate::issuer::{AUDIENCE, Endpoint, LEEWAY, NOW, claims};
use crate::signing::SigningKey;

#[tokio::test]
async fn valid_token_of_each_algorithm_yields_its_claims() {
    let keys = [SigningKey::rsa("r"), SigningKey::p256("p"), SigningKey::ed25519("e")];
    let issuer = Endpoint::publishing(&[&keys[0], &keys[1], &keys[2]]).await;
    let tokens = issuer.tokens(KeyTiming::default());
    for key in &keys {
        let mut changed = claims();
        changed["org_id"] = json!({ "id": 7 });
        let read = tokens.verify(&key.token(&changed), NOW).await.unwrap();
        assert_eq!((read.subject.as_str(), read.scopes.as_slice()), ("user-1", &["search:read".to_owned()][..]));
        assert_eq!(read.expires_at, NOW + Duration::seconds(300));
        assert_eq!((read.claim("org_id"), read.claim("none")), (Some(&json!({ "id": 7 })), None));
    }
    assert_eq!(issuer.requests(), 1, "keys are fetched once");
}

/// Verifies a token whose claim `name` is `value`; `null` omits the claim.
async fn verify_with(name: &str, value: Value) -> Result<Vec<String>, TokenError> {
    let key = SigningKey::ed25519("e");
    let tokens = Endpoint::publishing(&[&key]).await.tokens(KeyTiming::default());
    let mut changed = claims();
    match value {
        Value::Null => drop(changed.as_object_mut().unwrap().remove(name)),
        value => changed[name] = value,
    }
    tokens.verify(&key.token(&changed), NOW).await.map(|claims| claims.scopes)
}

#[tokio::test]
async fn missing_or_invalid_claim_is_named() {
    let at = |seconds: i64| json!(NOW.unix_timestamp() + seconds);
    for (name, value, rejection) in [
        ("iss", Value::Null, Rejection::Claim("iss")),
        ("iss", json!("https://issuer.example"), Rejection::Issuer),
        ("iss", json!(["https://issuer.example/"]), Rejection::Issuer),
        ("aud", Value::Null, Rejection::Claim("aud")),
        ("aud", json!("https://api.example/"), Rejection::Audience),
        ("aud", json!([]), Rejection::Audience),
        ("aud", json!(["https://other.example", 7]), Rejection::Audience),
        ("sub", Value::Null, Rejection::Claim("sub")),
        ("sub", json!(""), Rejection::Claim("sub")),
        ("sub", json!(7), Rejection::Claim("sub")),
        ("exp", Value::Null, Rejection::Claim("exp")),
        ("exp", json!("tomorrow"), Rejection::Claim("exp")),
        ("exp", json!(1e300), Rejection::Claim("exp")),
        ("exp", json!(u64::MAX), Rejection::Claim("exp")),
        ("exp", at(-LEEWAY), Rejection::Expired),
        ("exp", json!(-1), Rejection::Expired),
        ("nbf", at(LEEWAY + 1), Rejection::NotYetValid),
        ("nbf", json!("now"), Rejection::Claim("nbf")),
        ("iat", at(LEEWAY + 1), Rejection::IssuedInFuture),
        ("iat", json!(true), Rejection::Claim("iat")),
        ("scope", json!(7), Rejection::Claim("scope")),
        ("scope", json!(["a", 7]), Rejection::Claim("scope")),
    ] {
        assert_eq!(verify_with(name, value.clone()).await, Err(TokenError::Rejected(rejection)), "{name} = {value}");
    }
}

#[tokio::test]
async fn times_allow_leeway_and_fractions() {
    let at = |seconds: i64| json!(NOW.unix_timestamp() + seconds);
    for (name, value) in [
        ("exp", at(1 - LEEWAY)),
        ("exp", json!(NOW.unix_timestamp() as f64 + 10.5)),
        ("nbf", at(LEEWAY)),
        ("iat", at(LEEWAY)),
        ("iat", Value::Null),
    ] {
        assert!(verify_with(name, value.clone()).await.is_ok(), "{name} = {value}");
    }
}

#[tokio::test]
async fn audience_and_scopes_may_be_strings_or_lists() {
    assert!(verify_with("aud", json!(["https://other.example", AUDIENCE])).await.is_ok());
    assert_eq!(verify_with("scope", json!(" a  b:c ")).await.unwrap(), ["a", "b:c"]);
    assert_eq!(verify_with("scope", json!("")).await.unwrap(), [""; 0]);
    assert_eq!(verify_with("scope", json!(["a", "b"])).await.unwrap(), ["a", "b"]);
    assert_eq!(verify_with("scope", Value::Null).await.unwrap(), [""; 0]);
    assert_eq!(verify_with("scp", json!(["never"])).await.unwrap(), ["search:read"], "`scope` takes precedence");
    let key = SigningKey::ed25519("e");
    let tokens = Endpoint::publishing(&[&key]).await.tokens(KeyTiming::default());
    for scp in [json!("a b"), json!(["a", "b"])] {
        let mut changed = claims();
        changed.as_object_mut().unwrap().remove("scope");
        changed["scp"] = scp;
        assert_eq!(tokens.verify(&key.token(&changed), NOW).await.unwrap().scopes, ["a", "b"]);
    }
}
