//! Selection among the issuer's published keys.

use std::time::Duration;

use access_tokens::{FetchError, KeyTiming, Rejection, TokenError, usable_keys};
use serde_json::{Value, json};

use crate::issuer::{Answer, Endpoint, NOW, claims};
use crate::signing::{SigningKey, base64url, set};

/// Verifies a token signed by `key` when the issuer publishes `document`.
async fn outcome(document: &Value, key: &SigningKey) -> Result<(), TokenError> {
    let issuer = Endpoint::start(Answer::Document(document.to_string().into_bytes())).await;
    issuer.tokens(KeyTiming::default()).verify(&key.token(&claims()), NOW).await.map(drop)
}

fn unusable(name: &str, value: Value, mut jwk: Value) -> Value {
    jwk[name] = value;
    jwk
}

#[tokio::test]
async fn unusable_keys_are_skipped() {
    let (rsa, p256, ed) = (SigningKey::rsa("r"), SigningKey::p256("p"), SigningKey::ed25519("e"));
    let good = SigningKey::p256("good");
    let short = |bytes: usize| base64url(vec![0xc5; bytes]);
    for (key, bad) in [
        (&rsa, unusable("use", json!("enc"), rsa.jwk())),
        (&rsa, unusable("use", json!(7), rsa.jwk())),
        (&rsa, unusable("key_ops", json!(["sign", "encrypt"]), rsa.jwk())),
        (&rsa, unusable("key_ops", json!("verify"), rsa.jwk())),
        (&rsa, unusable("alg", json!("RS512"), rsa.jwk())),
        (&rsa, unusable("alg", json!("ES256"), rsa.jwk())),
        (&rsa, unusable("n", json!(short(128)), rsa.jwk())),
        (&rsa, unusable("n", json!(base64url([&[0; 200][..], &[0xc5; 128]].concat())), rsa.jwk())),
        (&rsa, unusable("n", json!(short(1025)), rsa.jwk())),
        (&rsa, unusable("n", json!("not base64!"), rsa.jwk())),
        (&rsa, unusable("e", Value::Null, rsa.jwk())),
        (&rsa, unusable("kty", json!("oct"), rsa.jwk())),
        (&rsa, unusable("kid", json!(7), rsa.jwk())),
        (&p256, unusable("crv", json!("P-384"), p256.jwk())),
        (&p256, unusable("crv", json!("secp256k1"), p256.jwk())),
        (&p256, unusable("x", json!(short(31)), p256.jwk())),
        (&p256, unusable("y", json!(short(33)), p256.jwk())),
        (&ed, unusable("crv", json!("X25519"), ed.jwk())),
        (&ed, unusable("crv", json!("Ed448"), ed.jwk())),
        (&ed, unusable("x", json!(short(57)), ed.jwk())),
    ] {
        let document = json!({ "keys": [bad, null, 7, [], {}, good.jwk()] });
        assert_eq!(outcome(&document, key).await, Err(TokenError::Rejected(Rejection::UnknownKey)), "{document}");
        assert_eq!(outcome(&document, &good).await, Ok(()));
    }
    for (name, value) in [("use", json!("sig")), ("key_ops", json!(["verify"])), ("alg", json!("RS256"))] {
        assert_eq!(outcome(&json!({ "keys": [unusable(name, value, rsa.jwk())] }), &rsa).await, Ok(()));
    }
    // Some encoders leave a sign byte before the modulus.
    let modulus = [&[0][..], &ring_modulus(&rsa)].concat();
    let padded = unusable("n", json!(base64url(modulus)), rsa.jwk());
    assert_eq!(outcome(&json!({ "keys": [padded] }), &rsa).await, Ok(()));
}

fn ring_modulus(key: &SigningKey) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(key.jwk()["n"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn unnamed_key_is_used_if_only_one_fits() {
    let (rsa, p256) = (SigningKey::rsa("r"), SigningKey::p256("p"));
    let nameless = SigningKey::ed25519("e").nameless();
    let document = set(&[&rsa, &p256, &nameless]);
    assert_eq!(outcome(&document, &nameless).await, Ok(()));
    // A token without `kid`, from an issuer whose keys have one.
    let silent = SigningKey { kid: None, signer: SigningKey::rsa("r").signer };
    assert_eq!(outcome(&document, &silent).await, Ok(()));
    let (one, other) = (SigningKey::p256("1").nameless(), SigningKey::p256("2").nameless());
    assert_eq!(outcome(&set(&[&one, &other]), &one).await, Err(TokenError::Rejected(Rejection::AmbiguousKey)));
    // A token with `kid`, from an issuer whose keys have none.
    let named = SigningKey { kid: Some("r"), signer: SigningKey::rsa("r").signer };
    assert_eq!(outcome(&set(&[&SigningKey::rsa("r").nameless()]), &named).await, Ok(()));
}

#[tokio::test]
async fn keys_with_the_same_id_are_all_tried() {
    let keys = [SigningKey::rsa("k"), SigningKey::p256("k"), SigningKey::p256("k")];
    let document = set(&[&keys[0], &keys[1], &keys[2]]);
    for key in &keys {
        assert_eq!(outcome(&document, key).await, Ok(()));
    }
}

#[tokio::test]
async fn keys_beyond_a_hundred_are_ignored() {
    let (first, last) = (SigningKey::p256("first"), SigningKey::p256("last"));
    let mut keys = vec![first.jwk(); 100];
    keys.push(last.jwk());
    let document = json!({ "keys": keys });
    assert_eq!(outcome(&document, &first).await, Ok(()));
    assert_eq!(outcome(&document, &last).await, Err(TokenError::Rejected(Rejection::UnknownKey)));
}

#[tokio::test]
async fn only_usable_keys_are_counted() {
    let (rsa, p256, ed) = (SigningKey::rsa("r"), SigningKey::p256("p"), SigningKey::ed25519("e"));
    let bad = vec![
        unusable("use", json!("enc"), ed.jwk()),
        unusable("alg", json!("RS512"), rsa.jwk()),
        unusable("crv", json!("P-384"), p256.jwk()),
    ];
    let counted = async |keys: &[Value]| {
        let document = json!({ "keys": keys }).to_string().into_bytes();
        usable_keys(&Endpoint::start(Answer::Document(document)).await.url, Duration::from_secs(3)).await
    };
    assert!(matches!(counted(&bad).await, Err(FetchError::NoKeys)));
    assert_eq!(counted(&[bad, vec![rsa.jwk(), p256.jwk()]].concat()).await.unwrap(), 2);
    assert!(matches!(usable_keys("file:///keys", Duration::from_secs(3)).await, Err(FetchError::Source(_))));
}
