//! A chat endpoint on loopback (`POST /v1/chat/completions`) that follows a script.

use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Received, Reply};

/// A received request.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// Request line and headers.
    pub head: String,
    pub body: Value,
}

impl ChatRequest {
    fn of(received: &Received) -> Self {
        Self { head: received.head.clone(), body: received.json() }
    }

    /// Returns the text of the messages with this role, such as `user`.
    pub fn text(&self, role: &str) -> String {
        let messages = self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let of_role = messages.iter().filter(|message| message["role"] == role);
        of_role.filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Returns the requested type of output, such as `json_schema`.
    pub fn format(&self) -> Option<&str> {
        self.body["response_format"]["type"].as_str()
    }
}

/// Returns a completion with this text, with usage.
pub fn completion(text: &str) -> Reply {
    let count = text.split_whitespace().count();
    let body = json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": count, "total_tokens": 10 + count},
    });
    Reply::json(200, &body)
}

/// Returns an error of this status, as endpoints word it.
pub fn error(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({"error": {"message": message, "type": "error", "code": status}}))
}

/// A running chat endpoint. It lives as long as the process.
pub struct ChatEndpoint {
    endpoint: Endpoint,
}

impl ChatEndpoint {
    /// Starts an endpoint. The script gets each request with its number, from 0.
    pub fn start(script: impl Fn(usize, &ChatRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self { endpoint: Endpoint::start(move |number, received| script(number, &ChatRequest::of(received))) }
    }

    /// Returns the base URL, as `generate.url` has it.
    pub fn url(&self) -> String {
        self.endpoint.url("/v1")
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.endpoint.received().iter().map(ChatRequest::of).collect()
    }
}
