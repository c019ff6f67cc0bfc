use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::HeaderMap;
use actix_web::test::{TestRequest, call_service, init_service, read_body};
use actix_web::web;
use http_actix::{Options, State, create_app, create_operations_app};
use rate_limit::{MemoryLimiter, RateLimiter};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::macros::datetime;
use uuid::Uuid;

use crate::contract;
use crate::fake::Fake;

pub const NOW: OffsetDateTime = datetime!(2026-06-15 12:00:00.25 UTC);
pub const PUBLIC_URL: &str = "https://api.example.com";

/// The real app over a fake service and the memory limiter, at a time that stands still.
pub struct Api {
    pub service: Arc<Fake>,
    state: web::Data<State>,
}

pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Api {
    pub fn new() -> Self {
        Self::with(Fake::default())
    }

    pub fn with(service: Fake) -> Self {
        Self::limited_by(service, Arc::new(MemoryLimiter::new()))
    }

    pub fn limited_by(service: Fake, limiter: Arc<dyn RateLimiter>) -> Self {
        let service = Arc::new(service);
        let options = Options {
            public_url: format!("{PUBLIC_URL}/"),
            mcp_allow_origins: vec!["https://app.example".to_owned()],
            workers: 1,
            drain: Duration::from_secs(1),
            clock: Arc::new(|| NOW),
            metrics: Some(Arc::new(|| "counted_total 7\n".to_owned())),
        };
        let state = web::Data::new(State::new(service.clone(), limiter, &options));
        Api { service, state }
    }

    pub async fn send(&self, request: TestRequest) -> Answer {
        let app = init_service(create_app(self.state.clone())).await;
        let request = request.to_request();
        let (method, path) = (request.method().to_string(), request.path().to_owned());
        let response = call_service(&app, request).await;
        let answer =
            Answer::read(response.status().as_u16(), response.headers().clone(), read_body(response).await.to_vec());
        contract::check(&method, &path, &answer);
        answer
    }

    pub async fn send_operations(&self, request: TestRequest) -> Answer {
        let app = init_service(create_operations_app(self.state.clone())).await;
        let response = call_service(&app, request.to_request()).await;
        Answer::read(response.status().as_u16(), response.headers().clone(), read_body(response).await.to_vec())
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_raw(path, body.to_string()).await
    }

    pub async fn post_raw(&self, path: &str, body: impl Into<Vec<u8>>) -> Answer {
        self.send(authorized(TestRequest::post().uri(path)).set_payload(body.into())).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(authorized(TestRequest::get().uri(path))).await
    }

    pub async fn search(&self, body: Value) -> Answer {
        self.post("/v1/search", &body).await
    }

    /// A search with `query` and one further field.
    pub async fn search_with(&self, field: &str, value: Value) -> Answer {
        self.search(json!({"query": "x", field: value})).await
    }
}

pub fn authorized(request: TestRequest) -> TestRequest {
    request.insert_header(("Authorization", "Bearer good"))
}

impl Answer {
    fn read(status: u16, headers: HeaderMap, bytes: Vec<u8>) -> Self {
        Answer { status, headers, bytes }
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.bytes)))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn rate_headers(&self) -> usize {
        self.headers.keys().filter(|name| name.as_str().starts_with("x-ratelimit")).count()
    }

    /// Asserts the error envelope and gives `error.details` (or null).
    #[track_caller]
    pub fn expect_error(&self, status: u16, code: &str) -> Value {
        let body = self.json();
        assert_eq!(self.status, status, "{body}");
        assert_eq!(body["error"]["code"], code, "{body}");
        assert_eq!(body["type"], "error");
        assert_eq!(self.header("X-Request-ID"), body["request_id"].as_str());
        Uuid::parse_str(body["request_id"].as_str().unwrap()).unwrap();
        assert!(!body["error"]["message"].as_str().unwrap().is_empty());
        let keys: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
        let expected: &[&str] = match status {
            401 | 403 | 429 => &["error", "request_id", "type"],
            _ => &["$schema", "error", "request_id", "type"],
        };
        assert_eq!(keys, expected, "an error body has these keys and no others");
        assert!(self.header("Retry-After").is_none());
        if status != 401 && status != 403 && self.status != 404 {
            assert_eq!(self.header("Content-Type"), Some("application/json"));
        }
        body["error"]["details"].clone()
    }

    /// Asserts `validation_error` at a field, after the door.
    #[track_caller]
    pub fn expect_invalid(&self, field: &str) -> Value {
        let details = self.expect_error(400, "validation_error");
        assert_eq!(details["field"], field, "{details}");
        assert_eq!(self.rate_headers(), 3);
        details
    }
}
