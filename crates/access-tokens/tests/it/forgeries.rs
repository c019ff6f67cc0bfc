//! Forged, altered and malformed tokens.

use access_tokens::{AccessTokens, KeyTiming, Rejection, TokenError};
use proptest::prelude::*;
use ring::hmac;
use serde_json::{Value, json};

use crate::issuer::{Endpoint, NOW, claims};
use crate::signing::{Signer, SigningKey, base64url};

async fn rejection(tokens: &AccessTokens, token: &str) -> Rejection {
    match tokens.verify(token, NOW).await {
        Err(TokenError::Rejected(rejection)) => rejection,
        other => panic!("{token}: {other:?}"),
    }
}

#[tokio::test]
async fn altered_token_is_rejected() {
    for key in [SigningKey::rsa("k"), SigningKey::p256("k"), SigningKey::ed25519("k")] {
        let tokens = Endpoint::publishing(&[&key]).await.tokens(KeyTiming::default());
        let token = key.token(&claims());
        assert!(tokens.verify(&token, NOW).await.is_ok());
        let parts: Vec<&str> = token.split('.').collect();
        let mut elevated = claims();
        elevated["scope"] = json!("everything");
        let payload = base64url(elevated.to_string());
        let header = base64url(json!({ "alg": key.algorithm(), "kid": "k", "typ": "JWT" }).to_string());
        let zeros = base64url([0; 64]);
        for changed in [
            format!("{}.{payload}.{}", parts[0], parts[2]),
            format!("{header}.{}.{}", parts[1], parts[2]),
            format!("{}.{}.{zeros}", parts[0], parts[1]),
            format!("{}.{}.", parts[0], parts[1]),
            format!("{}.{}.{}", parts[0], parts[1], base64url("short")),
        ] {
            assert_eq!(rejection(&tokens, &changed).await, Rejection::Signature, "{changed}");
        }
    }
}

#[tokio::test]
async fn other_key_with_the_same_id_is_rejected() {
    let (ours, theirs) = (SigningKey::p256("k"), SigningKey::p256("k"));
    let tokens = Endpoint::publishing(&[&ours]).await.tokens(KeyTiming::default());
    assert_eq!(rejection(&tokens, &theirs.token(&claims())).await, Rejection::Signature);
    // A key embedded in the token is ignored.
    let header = json!({ "alg": "ES256", "kid": "k", "jwk": theirs.jwk(), "jku": "http://127.0.0.1:1/" });
    let token = theirs.sign(&header.to_string(), &claims().to_string());
    assert_eq!(rejection(&tokens, &token).await, Rejection::Signature);
}

#[tokio::test]
async fn public_key_is_not_accepted_as_shared_secret() {
    let key = SigningKey::rsa("k");
    let tokens = Endpoint::publishing(&[&key]).await.tokens(KeyTiming::default());
    let Signer::Rs256(pair) = &key.signer else { unreachable!("an RSA key") };
    let secrets =
        [pair.public().as_ref().to_vec(), key.jwk()["n"].as_str().unwrap().into(), key.jwk().to_string().into()];
    for secret in secrets {
        let secret = hmac::Key::new(hmac::HMAC_SHA256, &secret);
        // Declared as the shared-secret algorithm, and disguised as the real one.
        for (name, expected) in [("HS256", Rejection::Algorithm), ("RS256", Rejection::Signature)] {
            let header = json!({ "alg": name, "kid": "k" });
            let signed = format!("{}.{}", base64url(header.to_string()), base64url(claims().to_string()));
            let token = format!("{signed}.{}", base64url(hmac::sign(&secret, signed.as_bytes())));
            assert_eq!(rejection(&tokens, &token).await, expected);
        }
    }
}

#[tokio::test]
async fn header_must_match_the_key() {
    let (rsa, ed) = (SigningKey::rsa("r"), SigningKey::ed25519("e"));
    let tokens = Endpoint::publishing(&[&rsa, &ed]).await.tokens(KeyTiming::default());
    let signed = |header: Value| ed.sign(&header.to_string(), &claims().to_string());
    for name in ["none", "None", "NONE", "", "HS256", "HS512", "RS384", "PS256", "ES384", "ES256K", "rs256", "eddsa"] {
        assert_eq!(
            rejection(&tokens, &signed(json!({ "alg": name, "kid": "e" }))).await,
            Rejection::Algorithm,
            "{name}"
        );
    }
    let unsigned = format!("{}.{}.", base64url(r#"{"alg":"none"}"#), base64url(claims().to_string()));
    assert_eq!(rejection(&tokens, &unsigned).await, Rejection::Algorithm);
    assert_eq!(rejection(&tokens, &signed(json!({ "alg": "EdDSA", "kid": "r" }))).await, Rejection::KeyMismatch);
    assert_eq!(rejection(&tokens, &signed(json!({ "alg": "RS256", "kid": "e" }))).await, Rejection::KeyMismatch);
    assert_eq!(rejection(&tokens, &signed(json!({ "alg": "ES256", "kid": "e" }))).await, Rejection::KeyMismatch);
    for crit in [json!(["b64"]), json!([]), json!(null)] {
        let header = json!({ "alg": "EdDSA", "kid": "e", "crit": crit, "b64": false });
        assert_eq!(rejection(&tokens, &signed(header)).await, Rejection::Critical);
    }
    for typ in [json!("dpop+jwt"), json!("logout+jwt"), json!(""), json!(7)] {
        assert_eq!(
            rejection(&tokens, &signed(json!({ "alg": "EdDSA", "kid": "e", "typ": typ }))).await,
            Rejection::Type
        );
    }
    for typ in ["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt"] {
        assert!(tokens.verify(&signed(json!({ "alg": "EdDSA", "kid": "e", "typ": typ })), NOW).await.is_ok(), "{typ}");
    }
    assert!(tokens.verify(&signed(json!({ "alg": "Ed25519", "kid": "e" })), NOW).await.is_ok());
}

#[tokio::test]
async fn malformed_token_triggers_no_fetch() {
    let key = SigningKey::ed25519("e");
    let issuer = Endpoint::publishing(&[&key]).await;
    let tokens = issuer.tokens(KeyTiming::default());
    let good = key.token(&claims());
    let (header, payload) = (key.header().to_string(), claims().to_string());
    let mut large = claims();
    large["pad"] = "x".repeat(8 * 1024).into();
    for token in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "a.b".to_owned(),
        format!("{good}.x.y"),
        format!("{good}="),
        format!(" {good}"),
        good.replace('.', ".\n"),
        format!("{good}\u{e9}"),
        key.token(&large),
        key.sign(&header, "[]"),
        key.sign(&header, "\"iss\""),
        key.sign(&header, &format!("{payload} {payload}")),
        key.sign(&header, &payload.replacen('{', "{\"sub\":\"other\",", 1)),
        key.sign(&header.replacen('{', "{\"alg\":\"EdDSA\",", 1), &payload),
        key.sign("{}", &payload),
        key.sign(r#"{"alg":7}"#, &payload),
        key.sign(r#"{"alg":"EdDSA","kid":7}"#, &payload),
        key.sign("not json", &payload),
    ] {
        assert!(matches!(tokens.verify(&token, NOW).await, Err(TokenError::Malformed(_))), "{token}");
    }
    let mut expired = claims();
    expired["exp"] = json!(1);
    assert_eq!(rejection(&tokens, &key.token(&expired)).await, Rejection::Expired);
    assert_eq!(issuer.requests(), 0);
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(
        text in ".{0,200}",
        header in "\\{(\"(alg|kid|typ|crit)\":(\"(EdDSA|RS256|ES256|k|JWT)\"|null|-?[0-9]{1,25}|\\[\\]|\"\\\\ud800\"),?){0,4}\\}",
        payload in "\\{(\"(iss|aud|exp|nbf|iat|sub|scope)\":(\"[a-z:/. ]{0,24}\"|-?[0-9]{1,25}(e[0-9]{1,3})?|\\[\"a\"\\]),?){0,7}\\}",
        signature in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let tokens = crate::keys::unreachable_issuer();
            let made = format!("{}.{}.{}", base64url(header), base64url(payload), base64url(signature));
            for token in [text, made] {
                assert!(tokens.verify(&token, NOW).await.is_err());
            }
        });
    }
}
