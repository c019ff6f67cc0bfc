use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use actix_web::http::header::HeaderMap;
use actix_web::test::{TestRequest, call_service, init_service, read_body};
use actix_web::web;
use app::clock::from_date_time;
use connections::Limits;
use http_actix::{MemoryLimits, Options, Paces, State, create_app, create_operations_app};
use model::{Clock, ManualClock, Scope, SystemClock};
use serde_json::Value;
use test_support::{Setup, Tenant, TestApp};
use time::OffsetDateTime;
use time::macros::datetime;
use uuid::Uuid;

use crate::contract;

pub const NOW: OffsetDateTime = datetime!(2026-06-15 12:00:00.25 UTC);

/// A clock that stands still at [`NOW`], so that all requests of a test share one rate limit window.
pub fn stopped_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::starting_at(from_date_time(NOW)))
}
pub const PUBLIC_URL: &str = "https://api.example.com";

/// The routes over a real application, at a time that stands still. The organization's key has every scope.
pub struct Api {
    pub world: TestApp,
    pub tenant: Tenant,
    state: web::Data<State>,
}

pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Api {
    pub async fn new() -> Self {
        Self::with(Setup::default()).await
    }

    pub async fn with(setup: Setup) -> Self {
        let world = TestApp::with(setup).await;
        let tenant = world.tenant().await;
        Self::of(world, tenant, stopped_clock())
    }

    pub fn of(world: TestApp, tenant: Tenant, clock: Arc<dyn Clock>) -> Self {
        Self::with_options(world, tenant, clock, PUBLIC_URL, None, MemoryLimits::default())
    }

    /// Changes the public base URL of the service.
    pub fn at(self, public_url: &str) -> Self {
        Self::with_options(self.world, self.tenant, stopped_clock(), public_url, None, MemoryLimits::default())
    }

    /// Adds an issuer of access tokens to the service.
    pub fn with_issuer(self, issuer: &str) -> Self {
        let (issuer, memory) = (Some(issuer.to_owned()), MemoryLimits::default());
        Self::with_options(self.world, self.tenant, stopped_clock(), PUBLIC_URL, issuer, memory)
    }

    /// Limits the memory of bodies. Time passes.
    pub fn with_memory(self, memory: MemoryLimits) -> Self {
        Self::with_options(self.world, self.tenant, Arc::new(SystemClock), PUBLIC_URL, None, memory)
    }

    fn with_options(
        world: TestApp,
        tenant: Tenant,
        clock: Arc<dyn Clock>,
        public_url: &str,
        oauth_issuer: Option<String>,
        memory: MemoryLimits,
    ) -> Self {
        let options = Options {
            public_url: format!("{public_url}/"),
            mcp_allow_origins: vec!["https://app.example".to_owned()],
            oauth_issuer,
            workers: 1,
            drain: Duration::from_secs(1),
            tls: None,
            connections: Limits { connections: 16, per_address: 0, trusted: vec![] },
            paces: Paces::default(),
            memory,
            clock,
            access_log: true,
            rejected_per_minute: 5,
            metrics: Some(Arc::new(|| "counted_total 7\n".to_owned())),
        };
        // Use cases run on the runtime that the state is made on.
        let _entered = test_support::runtime().enter();
        let state =
            State::new(Arc::clone(&world.app), Arc::clone(&world.research), Arc::clone(&world.limiter), &options);
        Api { world, tenant, state: web::Data::new(state) }
    }

    /// `Authorization` of the organization's key.
    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.tenant.key)
    }

    /// `Authorization` of a further key with these scopes alone.
    pub async fn bearer_with(&self, scopes: &[Scope]) -> String {
        format!("Bearer {}", self.world.key_with_scopes(&self.tenant, scopes).await)
    }

    pub fn authorized(&self, request: TestRequest) -> TestRequest {
        request.insert_header(("Authorization", self.bearer()))
    }

    /// Route and status of every request of the organization so far, in their order.
    pub async fn recorded(&self) -> Vec<(String, i32)> {
        self.world.recorded_requests(&self.tenant).await
    }

    /// Searches that reached the engine.
    pub fn searches(&self) -> usize {
        self.world.engine.requests().len()
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

    /// Sends a request. The body of its response stays unread, and in memory, until it is dropped.
    pub async fn send_unread(&self, request: TestRequest) -> impl Sized {
        let app = init_service(create_app(self.state.clone())).await;
        call_service(&app, request.to_request()).await
    }

    /// Sends a request whose client leaves after so many polls. Returns true if it was answered before.
    pub async fn send_and_leave(&self, request: TestRequest, polls: usize) -> bool {
        let mut answered = pin!(self.send_unread(request));
        let mut left = polls;
        poll_fn(|context| {
            left = left.saturating_sub(1);
            match answered.as_mut().poll(context) {
                Poll::Ready(_) => Poll::Ready(true),
                Poll::Pending if left == 0 => Poll::Ready(false),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
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
        self.send(self.authorized(TestRequest::post().uri(path)).set_payload(body.into())).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.authorized(TestRequest::get().uri(path))).await
    }

    pub async fn search(&self, body: Value) -> Answer {
        self.post("/v1/search", &body).await
    }
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
        assert_eq!(self.header("Retry-After").is_some(), code == "overloaded");
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
