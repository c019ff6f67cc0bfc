//! Endpoints that answer as a conformance test asks.

use std::sync::Arc;

use percent_encoding::percent_decode_str;
use serde_json::Value;
use test_support::endpoint::{Endpoint, Received, Reply};
use web_providers::WebProvider;
use web_providers::conformance::{Answer, Given, Running};

/// Formats of one kind of provider.
pub struct Format {
    /// Document with a list of results.
    pub list: fn(&[Given]) -> Value,
    /// Error with status 200.
    pub error: fn() -> Value,
    /// Text of the query in a request.
    pub text: fn(&Received) -> String,
    pub connect: fn(&Endpoint) -> Box<dyn WebProvider>,
}

impl Format {
    pub fn start(&self, answer: Answer) -> Running {
        let reply = match answer {
            Answer::Results(given) => Reply::json(200, &(self.list)(&given)),
            Answer::Body(body) => Reply::other(200, &["Content-Type: application/json"], &body),
            Answer::ErrorWithStatus200 => Reply::json(200, &(self.error)()),
            Answer::Html => Reply::other(200, &["Content-Type: text/html"], "<!doctype html><title>Blocked</title>"),
            Answer::Status(status, headers) => {
                let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
                Reply::other(status, &headers, "")
            }
            Answer::Endless => {
                let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"results\": [".to_vec();
                Reply::Endless(head, b"{\"url\": \"https://a.example/\"}, ".repeat(1_000))
            }
            Answer::Close => Reply::Close,
        };
        let endpoint = Arc::new(Endpoint::start(move |_, _| reply.clone()));
        let provider = (self.connect)(&endpoint);
        let text = self.text;
        Running { provider, texts: Box::new(move || endpoint.received().iter().map(text).collect()) }
    }
}

/// Returns a parameter of the request's URL; empty if it has none.
pub fn parameter(request: &Received, name: &str) -> String {
    let target = request.head.split(' ').nth(1).unwrap_or_default();
    let query = target.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let value = query.split('&').filter_map(|pair| pair.split_once('=')).find(|(known, _)| *known == name);
    let value = value.map(|(_, value)| value.replace('+', " ")).unwrap_or_default();
    percent_decode_str(&value).decode_utf8().unwrap().into_owned()
}

/// Returns the path of the request's URL.
pub fn path(request: &Received) -> &str {
    let target = request.head.split(' ').nth(1).unwrap_or_default();
    target.split('?').next().unwrap_or_default()
}
