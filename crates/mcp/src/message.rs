//! JSON-RPC 2.0 as used by MCP: single messages, with strings or integers as ids.

use serde_json::{Map, Value, json};

/// Error codes of JSON-RPC 2.0 and of MCP (2026-07-28, "Error Codes").
pub mod code {
    pub const PARSE_ERROR: i64 = -32700;
    pub const INVALID_REQUEST: i64 = -32600;
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL_ERROR: i64 = -32603;
    /// HTTP headers contradict the body.
    pub const HEADER_MISMATCH: i64 = -32020;
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}

/// Longest id, in bytes. Responses echo ids, so ids must not inflate them.
const MAX_ID: usize = 1024;

/// A protocol error. Failures of tools are results, not protocol errors.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// One of [`code`].
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl RpcError {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Builds the response for `id`, or one without an id if none could be read.
    pub fn body(&self, id: Option<&Value>) -> Value {
        let mut body = json!({"jsonrpc": "2.0", "error": {"code": self.code, "message": self.message}});
        if let Some(data) = &self.data {
            body["error"]["data"] = data.clone();
        }
        if let Some(id) = id {
            body["id"] = id.clone();
        }
        body
    }
}

/// A message from a client.
#[derive(Debug)]
pub enum Message {
    Request(Request),
    /// A message without a response.
    Notification {
        method: String,
        params: Map<String, Value>,
    },
    /// A response to a request of the server, which sends none.
    Response,
}

/// A message that expects a response.
#[derive(Debug)]
pub struct Request {
    /// A string or an integer.
    pub id: Value,
    pub method: String,
    pub params: Map<String, Value>,
}

impl Request {
    /// The revision named by the request itself. Requests of revisions before 2026-07-28 name none.
    pub fn revision(&self) -> Option<&Value> {
        self.params.get("_meta")?.get("io.modelcontextprotocol/protocolVersion")
    }

    /// The name of the called tool.
    pub fn tool(&self) -> Option<&str> {
        self.params.get("name").and_then(Value::as_str).filter(|_| self.method == "tools/call")
    }
}

impl Message {
    /// Parses one message. The parser bounds nesting; the caller bounds length.
    ///
    /// # Errors
    /// The error to respond with, and the id if one could be read: invalid JSON, a batch (removed in 2025-06-18), or an
    /// invalid JSON-RPC 2.0 message.
    pub fn parse(bytes: &[u8]) -> Result<Self, (Option<Value>, RpcError)> {
        let parsed: Value = serde_json::from_slice(bytes)
            .map_err(|error| (None, RpcError::new(code::PARSE_ERROR, format!("the message is not JSON: {error}"))))?;
        let invalid = |id: Option<Value>, message: &str| (id, RpcError::new(code::INVALID_REQUEST, message));
        let mut fields = match parsed {
            Value::Object(fields) => fields,
            Value::Array(_) => return Err(invalid(None, "batches are not supported: send one message at a time")),
            _ => return Err(invalid(None, "a message is a JSON object")),
        };
        let id = fields.remove("id");
        let id = match id {
            None => None,
            Some(Value::String(text)) if text.len() > MAX_ID => {
                return Err(invalid(None, "the id is too long"));
            }
            Some(id @ Value::String(_)) => Some(id),
            Some(id) if id.is_i64() || id.is_u64() => Some(id),
            Some(_) => return Err(invalid(None, "an id is a string or an integer")),
        };
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(invalid(id, "`jsonrpc` must be `2.0`"));
        }
        let method = match fields.remove("method") {
            Some(Value::String(method)) => method,
            None if fields.contains_key("result") || fields.contains_key("error") => return Ok(Message::Response),
            None | Some(_) => return Err(invalid(id, "`method` must be a string")),
        };
        let params = match fields.remove("params") {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => {
                return Err((id, RpcError::new(code::INVALID_PARAMS, "`params` must be an object")));
            }
        };
        Ok(match id {
            Some(id) => Message::Request(Request { id, method, params }),
            None => Message::Notification { method, params },
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn refusal(text: &str) -> (Option<Value>, i64) {
        let (id, error) = Message::parse(text.as_bytes()).unwrap_err();
        (id, error.code)
    }

    #[test]
    fn requests_notifications_and_responses_are_distinguished() {
        let parse = |text: &str| Message::parse(text.as_bytes()).unwrap();
        assert!(matches!(parse(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#), Message::Request(r) if r.id == "a"));
        assert!(matches!(parse(r#"{"jsonrpc":"2.0","method":"x","params":{}}"#), Message::Notification { .. }));
        assert!(matches!(parse(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Message::Response));
    }

    #[test]
    fn invalid_messages_are_refused_with_their_readable_id() {
        assert_eq!(refusal("{"), (None, code::PARSE_ERROR));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#), (None, code::PARSE_ERROR));
        assert_eq!(refusal(&"[".repeat(100_000)), (None, code::PARSE_ERROR));
        assert_eq!(refusal(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#), (None, code::INVALID_REQUEST));
        assert_eq!(refusal("3"), (None, code::INVALID_REQUEST));
        assert_eq!(refusal(r#"{"id":1,"method":"ping"}"#), (Some(json!(1)), code::INVALID_REQUEST));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":1,"method":5}"#), (Some(json!(1)), code::INVALID_REQUEST));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":1}"#), (Some(json!(1)), code::INVALID_REQUEST));
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}"#),
            (Some(json!(1)), code::INVALID_PARAMS)
        );
    }

    #[test]
    fn ids_are_strings_and_integers_of_bounded_length() {
        for id in ["null", "1.5", "true", "{}", "[1]", "1e400"] {
            let (echoed, _) =
                Message::parse(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#).as_bytes()).unwrap_err();
            assert_eq!(echoed, None, "{id}");
        }
        let long = "x".repeat(MAX_ID + 1);
        assert_eq!(
            refusal(&format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"x"}}"#)),
            (None, code::INVALID_REQUEST)
        );
        for id in ["-9223372036854775808", "18446744073709551615", "\"\""] {
            assert!(
                Message::parse(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#).as_bytes()).is_ok(),
                "{id}"
            );
        }
    }
}
