//! What a token must say.

use access_tokens::{KeyTiming, Refusal, TokenError};
use serde_json::{Value, json};
use time::Duration;

use crate::issuer::{AUDIENCE, Endpoint, LEEWAY, NOW, claims};
use crate::signing::SigningKey;

#[tokio::test]
async fn a_good_token_of_each_algorithm_gives_its_claims() {
    let keys = [SigningKey::rsa("r"), SigningKey::p256("p"), SigningKey::ed25519("e")];
    let issuer = Endpoint::publishing(&[&keys[0], &keys[1], &keys[2]]).await;
    let tokens = issuer.tokens(KeyTiming::default());
    for key in &keys {
        let mut said = claims();
        said["org_id"] = json!({ "id": 7 });
        let read = tokens.verify(&key.token(&said), NOW).await.unwrap();
        assert_eq!((read.subject.as_str(), read.scopes.as_slice()), ("user-1", &["search:read".to_owned()][..]));
        assert_eq!(read.expires_at, NOW + Duration::seconds(300));
        assert_eq!((read.claim("org_id"), read.claim("none")), (Some(&json!({ "id": 7 })), None));
    }
    assert_eq!(issuer.asked(), 1, "keys are fetched once");
}

/// What becomes of a token that says `name` as `value`; `null` leaves the claim out.
async fn with(name: &str, value: Value) -> Result<Vec<String>, TokenError> {
    let key = SigningKey::ed25519("e");
    let tokens = Endpoint::publishing(&[&key]).await.tokens(KeyTiming::default());
    let mut said = claims();
    match value {
        Value::Null => drop(said.as_object_mut().unwrap().remove(name)),
        value => said[name] = value,
    }
    tokens.verify(&key.token(&said), NOW).await.map(|claims| claims.scopes)
}

#[tokio::test]
async fn a_claim_that_is_missing_or_wrong_is_named() {
    let at = |seconds: i64| json!(NOW.unix_timestamp() + seconds);
    for (name, value, refusal) in [
        ("iss", Value::Null, Refusal::Claim("iss")),
        ("iss", json!("https://issuer.example"), Refusal::Issuer),
        ("iss", json!(["https://issuer.example/"]), Refusal::Issuer),
        ("aud", Value::Null, Refusal::Claim("aud")),
        ("aud", json!("https://api.example/"), Refusal::Audience),
        ("aud", json!([]), Refusal::Audience),
        ("aud", json!(["https://other.example", 7]), Refusal::Audience),
        ("sub", Value::Null, Refusal::Claim("sub")),
        ("sub", json!(""), Refusal::Claim("sub")),
        ("sub", json!(7), Refusal::Claim("sub")),
        ("exp", Value::Null, Refusal::Claim("exp")),
        ("exp", json!("tomorrow"), Refusal::Claim("exp")),
        ("exp", json!(1e300), Refusal::Claim("exp")),
        ("exp", json!(u64::MAX), Refusal::Claim("exp")),
        ("exp", at(-LEEWAY), Refusal::Expired),
        ("exp", json!(-1), Refusal::Expired),
        ("nbf", at(LEEWAY + 1), Refusal::NotYetValid),
        ("nbf", json!("now"), Refusal::Claim("nbf")),
        ("iat", at(LEEWAY + 1), Refusal::IssuedInFuture),
        ("iat", json!(true), Refusal::Claim("iat")),
        ("scope", json!(7), Refusal::Claim("scope")),
        ("scope", json!(["a", 7]), Refusal::Claim("scope")),
    ] {
        assert_eq!(with(name, value.clone()).await, Err(TokenError::Refused(refusal)), "{name} = {value}");
    }
}

#[tokio::test]
async fn clocks_may_differ_by_the_leeway_and_times_may_have_fractions() {
    let at = |seconds: i64| json!(NOW.unix_timestamp() + seconds);
    for (name, value) in [
        ("exp", at(1 - LEEWAY)),
        ("exp", json!(NOW.unix_timestamp() as f64 + 10.5)),
        ("nbf", at(LEEWAY)),
        ("iat", at(LEEWAY)),
        ("iat", Value::Null),
    ] {
        assert!(with(name, value.clone()).await.is_ok(), "{name} = {value}");
    }
}

#[tokio::test]
async fn audiences_and_scopes_come_in_several_forms() {
    assert!(with("aud", json!(["https://other.example", AUDIENCE])).await.is_ok());
    assert_eq!(with("scope", json!(" a  b:c ")).await.unwrap(), ["a", "b:c"]);
    assert_eq!(with("scope", json!("")).await.unwrap(), [""; 0]);
    assert_eq!(with("scope", json!(["a", "b"])).await.unwrap(), ["a", "b"]);
    assert_eq!(with("scope", Value::Null).await.unwrap(), [""; 0]);
    assert_eq!(with("scp", json!(["never"])).await.unwrap(), ["search:read"], "`scope` wins");
    let key = SigningKey::ed25519("e");
    let tokens = Endpoint::publishing(&[&key]).await.tokens(KeyTiming::default());
    for scp in [json!("a b"), json!(["a", "b"])] {
        let mut said = claims();
        said.as_object_mut().unwrap().remove("scope");
        said["scp"] = scp;
        assert_eq!(tokens.verify(&key.token(&said), NOW).await.unwrap().scopes, ["a", "b"]);
    }
}
