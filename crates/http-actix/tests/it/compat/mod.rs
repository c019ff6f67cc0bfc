//! The APIs of other services. What a request means is tested in `compat`; here is what they share with `/v1`, and that each
//! path answers.

mod admission;
mod exa;
mod firecrawl;
mod openwebui;
mod reader;
mod searxng;
mod tavily;
mod unmatched;

use std::sync::Arc;

use serde_json::{Value, json};
use test_support::{Setup, TestApp, TestProvider, found};

use crate::api::{Answer, Api};

/// A search of every service: path and body; no body for `GET`.
pub fn searches() -> [(&'static str, Option<Value>); 5] {
    let body = json!({"query": crate::corpus::QUERY});
    [
        ("/compat/tavily/search", Some(body.clone())),
        ("/compat/exa/search", Some(body.clone())),
        ("/compat/firecrawl/v2/search", Some(body.clone())),
        ("/compat/searxng/search?format=json&q=tides", None),
        ("/compat/openwebui/search", Some(body)),
    ]
}

/// A read of every service.
fn reads(url: &str) -> [(String, Option<Value>); 5] {
    [
        ("/compat/tavily/extract".to_owned(), Some(json!({"urls": [url]}))),
        ("/compat/exa/contents".to_owned(), Some(json!({"urls": [url]}))),
        ("/compat/firecrawl/v2/scrape".to_owned(), Some(json!({"url": url}))),
        ("/compat/openwebui/load".to_owned(), Some(json!({"urls": [url]}))),
        (format!("/read/{url}"), None),
    ]
}

/// Name of a path in usage.
fn route(path: &str, body: &Option<Value>) -> String {
    let path = path.split('?').next().unwrap();
    match body {
        Some(_) => format!("POST {path}"),
        None if path.starts_with("/read/") => "GET /read/{url}".to_owned(),
        None => format!("GET {path}"),
    }
}

pub async fn send(api: &Api, path: &str, body: &Option<Value>) -> Answer {
    match body {
        Some(body) => api.post(path, body).await,
        None => api.get(path).await,
    }
}

#[track_caller]
fn ok(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
    answer.json()
}

/// The message of an error, in the format of the path's service.
#[track_caller]
fn message(path: &str, answer: &Answer) -> String {
    let text = String::from_utf8_lossy(&answer.bytes);
    if path.starts_with("/read/") {
        assert_eq!(answer.header("Content-Type"), Some("text/plain; charset=utf-8"), "{path}: {text}");
        return text.into_owned();
    }
    let error = answer.json();
    let message = match path.split('/').nth(2) {
        Some("tavily") => &error["detail"]["error"],
        Some("openwebui") => &error["detail"],
        _ => &error["error"],
    };
    message.as_str().unwrap_or_else(|| panic!("{path}: {text}")).to_owned()
}

/// An API with a web search provider that finds the page at `url`, whose text it does not know.
async fn api_with_result(url: &str) -> Api {
    let provider = TestProvider::with([found(url, "Tides", "A snippet about tides.")]);
    Api::with(Setup { web: provider.with_index(), ..Setup::default() }).await
}

/// An API on the clock of its world, for tests about the age of content.
async fn in_time() -> Api {
    let world = TestApp::start().await;
    let (tenant, clock) = (world.tenant().await, Arc::clone(&world.clock));
    Api::of(world, tenant, clock)
}
