//! An issuer: keys that sign, and an endpoint that publishes them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use access_tokens::{AccessTokens, AccessTokensOptions, KeyTiming};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, RSA_PKCS1_SHA256};
use ring::signature::{EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::macros::datetime;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

pub const ISSUER: &str = "https://issuer.example/";
pub const AUDIENCE: &str = "https://api.example";
pub const NOW: OffsetDateTime = datetime!(2026-06-15 12:00:00 UTC);
pub const LEEWAY: i64 = 60;

/// Made for these tests with `openssl genpkey` (PKCS #1, DER), and used nowhere else.
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

    /// A token that says `claims`.
    pub fn token(&self, claims: &Value) -> String {
        self.sign(&self.header().to_string(), &claims.to_string())
    }

    /// Any header and payload.
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

/// The claims of a good token.
pub fn claims() -> Value {
    let now = NOW.unix_timestamp();
    json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": "user-1", "iat": now, "exp": now + 300, "scope": "search:read" })
}

pub fn set(keys: &[&SigningKey]) -> Value {
    json!({ "keys": keys.iter().map(|key| key.jwk()).collect::<Vec<_>>() })
}

/// How the endpoint answers.
#[derive(Clone)]
pub enum Answer {
    Document(Vec<u8>),
    /// A whole answer, status line and all.
    Raw(String),
    /// A good beginning, then a byte now and then.
    Slow,
    /// The connection is closed.
    Away,
}

pub struct Endpoint {
    pub url: String,
    answer: Arc<Mutex<Answer>>,
    asked: Arc<AtomicUsize>,
}

impl Endpoint {
    pub async fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks", listener.local_addr().unwrap());
        let (answer, asked) = (Arc::new(Mutex::new(answer)), Arc::new(AtomicUsize::new(0)));
        let endpoint = Self { url, answer: Arc::clone(&answer), asked: Arc::clone(&asked) };
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                asked.fetch_add(1, Ordering::SeqCst);
                let answer = answer.lock().unwrap().clone();
                tokio::spawn(async move {
                    let mut request = Vec::new();
                    while !request.ends_with(b"\r\n\r\n") {
                        request.push(stream.read_u8().await?);
                    }
                    match answer {
                        Answer::Document(document) => {
                            let head = format!(
                                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                                document.len()
                            );
                            stream.write_all(&[head.as_bytes(), &document].concat()).await
                        }
                        Answer::Raw(text) => stream.write_all(text.as_bytes()).await,
                        Answer::Slow => {
                            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{").await?;
                            loop {
                                tokio::time::sleep(Duration::from_millis(20)).await;
                                stream.write_all(b" ").await?;
                            }
                        }
                        Answer::Away => Ok(()),
                    }
                });
            }
        });
        endpoint
    }

    pub async fn publishing(keys: &[&SigningKey]) -> Self {
        Self::start(Answer::Document(set(keys).to_string().into_bytes())).await
    }

    pub fn publish(&self, keys: &[&SigningKey]) {
        self.answer_with(Answer::Document(set(keys).to_string().into_bytes()));
    }

    pub fn answer_with(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub fn tokens(&self, timing: KeyTiming) -> Arc<AccessTokens> {
        let options = AccessTokensOptions {
            issuer: ISSUER.to_owned(),
            audience: AUDIENCE.to_owned(),
            jwks_url: self.url.clone(),
            leeway: Duration::from_secs(LEEWAY as u64),
            timing,
        };
        Arc::new(AccessTokens::new(options).unwrap())
    }
}
