//! Test issuer: claims of its tokens, and an endpoint that publishes its keys.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use access_tokens::{AccessTokens, AccessTokensOptions, KeyTiming};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::macros::datetime;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::signing::{SigningKey, set};

pub const ISSUER: &str = "https://issuer.example/";
pub const AUDIENCE: &str = "https://api.example";
pub const NOW: OffsetDateTime = datetime!(2026-06-15 12:00:00 UTC);
pub const LEEWAY: i64 = 60;

/// Returns the claims of a valid token.
pub fn claims() -> Value {
    let now = NOW.unix_timestamp();
    json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": "user-1", "iat": now, "exp": now + 300, "scope": "search:read" })
}

/// Behaviour of the endpoint.
#[derive(Clone)]
pub enum Answer {
    Document(Vec<u8>),
    /// Complete response, including the status line.
    Raw(String),
    /// Valid start, then single bytes at intervals.
    Slow,
    /// Closes the connection.
    Closed,
}

pub struct Endpoint {
    pub url: String,
    answer: Arc<Mutex<Answer>>,
    requests: Arc<AtomicUsize>,
}

impl Endpoint {
    pub async fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks", listener.local_addr().unwrap());
        let (answer, requests) = (Arc::new(Mutex::new(answer)), Arc::new(AtomicUsize::new(0)));
        let endpoint = Self { url, answer: Arc::clone(&answer), requests: Arc::clone(&requests) };
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                requests.fetch_add(1, Ordering::SeqCst);
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
                        Answer::Closed => Ok(()),
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

    /// Returns the number of requests so far.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
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
