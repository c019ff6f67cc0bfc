//! Signing keys of a test issuer.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, RSA_PKCS1_SHA256};
use ring::signature::{EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair};
use serde_json::{Value, json};

/// Generated for these tests with `openssl genpkey` (PKCS #1, DER).
const RSA_TEST_KEY: &[u8] = include_bytes!("rsa_test_key.der");

pub enum Signer {
    Rs256(RsaKeyPair),
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
}

pub struct SigningKey {
    pub kid: Option<&'static str>,
    pub signer: Signer,
}

pub fn base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl SigningKey {
    pub fn rsa(kid: &'static str) -> Self {
        Self { kid: Some(kid), signer: Signer::Rs256(RsaKeyPair::from_der(RSA_TEST_KEY).unwrap()) }
    }

    pub fn p256(kid: &'static str) -> Self {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random).unwrap();
        Self { kid: Some(kid), signer: Signer::Es256(pair) }
    }

    pub fn ed25519(kid: &'static str) -> Self {
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self { kid: Some(kid), signer: Signer::EdDsa(Ed25519KeyPair::from_pkcs8(made.as_ref()).unwrap()) }
    }

    pub fn nameless(self) -> Self {
        Self { kid: None, ..self }
    }

    pub fn algorithm(&self) -> &'static str {
        match self.signer {
            Signer::Rs256(_) => "RS256",
            Signer::Es256(_) => "ES256",
            Signer::EdDsa(_) => "EdDSA",
        }
    }

    pub fn jwk(&self) -> Value {
        let mut jwk = match &self.signer {
            Signer::Rs256(pair) => {
                let public = ring::rsa::PublicKeyComponents::<Vec<u8>>::from(pair.public_key());
                json!({ "kty": "RSA", "n": base64url(&public.n), "e": base64url(&public.e) })
            }
            Signer::Es256(pair) => {
                let point = pair.public_key().as_ref();
                json!({ "kty": "EC", "crv": "P-256", "x": base64url(&point[1..33]), "y": base64url(&point[33..]) })
            }
            Signer::EdDsa(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": base64url(pair.public_key()) })
            }
        };
        if let Some(kid) = self.kid {
            jwk["kid"] = kid.into();
        }
        jwk
    }

    pub fn header(&self) -> Value {
        let mut header = json!({ "alg": self.algorithm(), "typ": "at+jwt" });
        if let Some(kid) = self.kid {
            header["kid"] = kid.into();
        }
        header
    }

    /// Returns a signed token with these claims.
    pub fn token(&self, claims: &Value) -> String {
        self.sign(&self.header().to_string(), &claims.to_string())
    }

    /// Signs any header and payload.
    pub fn sign(&self, header: &str, payload: &str) -> String {
        let signed = format!("{}.{}", base64url(header), base64url(payload));
        let signature = match &self.signer {
            Signer::Rs256(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature).unwrap();
                signature
            }
            Signer::Es256(pair) => pair.sign(&SystemRandom::new(), signed.as_bytes()).unwrap().as_ref().to_vec(),
            Signer::EdDsa(pair) => pair.sign(signed.as_bytes()).as_ref().to_vec(),
        };
        format!("{signed}.{}", base64url(signature))
    }
}

/// Returns the JWK set of the keys (RFC 7517, section 5).
pub fn set(keys: &[&SigningKey]) -> Value {
    json!({ "keys": keys.iter().map(|key| key.jwk()).collect::<Vec<_>>() })
}
