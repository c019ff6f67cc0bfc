//! The protocol's methods. The server keeps no state between requests.

use serde_json::{Map, Value, json};

use crate::message::{Request, RpcError, code};
use crate::revision::{STATELESS, negotiate, supported, unsupported};
use crate::tools::Tool;
use crate::toolset::Toolset;
use crate::{Backend, Failure, calls};

/// Milliseconds that clients may cache the tool list and the server's description. Scopes of a key do not change; tools
/// change with a release.
const TTL_MS: u64 = 3_600_000;

/// MCP server of one set of tools. Costs nothing to create.
pub struct Server {
    toolset: Toolset,
}

/// The response to one request.
#[derive(Debug)]
pub struct Response {
    id: Value,
    outcome: Result<Value, RpcError>,
    /// True if the request used the stateless revision.
    pub stateless: bool,
    /// True if the request was well-formed for its revision, whether or not its method exists.
    pub accepted: bool,
    /// The failure of the operation behind a tool.
    pub failure: Option<Failure>,
}

impl Response {
    /// Refuses a request before its method is examined.
    pub fn refused(request: Request, error: RpcError) -> Self {
        let stateless = request.revision().is_some();
        Self { id: request.id, outcome: Err(error), stateless, accepted: false, failure: None }
    }

    /// Replaces the result of a tool by a failure to return it.
    pub fn failed(self, failure: Failure) -> Self {
        let result = failed(&failure);
        let result = if self.stateless { completed(result) } else { result };
        Self { outcome: Ok(result), failure: Some(failure), ..self }
    }

    /// The JSON-RPC message.
    pub fn body(&self) -> Value {
        match &self.outcome {
            Ok(result) => json!({"jsonrpc": "2.0", "id": self.id, "result": result}),
            Err(error) => error.body(Some(&self.id)),
        }
    }

    /// The code of a protocol error.
    pub fn error_code(&self) -> Option<i64> {
        self.outcome.as_ref().err().map(|error| error.code)
    }
}

impl Server {
    pub fn new(toolset: Toolset) -> Self {
        Self { toolset }
    }

    /// Answers one request for the caller of `backend`.
    pub async fn answer<B: Backend>(&self, request: Request, backend: &B) -> Response {
        let stateless = match request.revision() {
            None => request.method == "server/discover",
            Some(_) => true,
        };
        if stateless && let Err(error) = check_envelope(&request.params) {
            return Response { stateless, ..Response::refused(request, error) };
        }
        let Request { id, method, params } = request;
        let mut failure = None;
        let outcome = match method.as_str() {
            "initialize" if !stateless => self.initialize(&params),
            "ping" if !stateless => Ok(json!({})),
            "server/discover" => Ok(self.discover()),
            "tools/list" => self.list(&params, stateless, backend),
            "tools/call" => self.call(params, backend, &mut failure).await,
            _ => {
                let method: String = method.chars().take(100).collect();
                Err(RpcError::new(code::METHOD_NOT_FOUND, format!("no method `{method}`")))
            }
        };
        let outcome = outcome.map(|result| if stateless { completed(result) } else { result });
        Response { id, outcome, stateless, accepted: true, failure }
    }

    fn initialize(&self, params: &Map<String, Value>) -> Result<Value, RpcError> {
        let requested = params.get("protocolVersion").and_then(Value::as_str);
        let requested =
            requested.ok_or_else(|| RpcError::new(code::INVALID_PARAMS, "`protocolVersion` must be a string"))?;
        Ok(json!({
            "protocolVersion": negotiate(requested),
            "capabilities": capabilities(),
            "serverInfo": server_info(),
            "instructions": self.toolset.instructions(),
        }))
    }

    fn discover(&self) -> Value {
        json!({
            "supportedVersions": supported(),
            "capabilities": capabilities(),
            "instructions": self.toolset.instructions(),
            "ttlMs": TTL_MS,
            "cacheScope": "public",
        })
    }

    /// Lists the tools that the caller may use, on one page.
    fn list<B: Backend>(&self, params: &Map<String, Value>, stateless: bool, backend: &B) -> Result<Value, RpcError> {
        if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(RpcError::new(code::INVALID_PARAMS, "unknown cursor: the list has one page"));
        }
        let shown = self.toolset.tools.iter().filter(|tool| tool.is_open_to(backend));
        let mut result = json!({"tools": shown.map(|tool| tool.definition()).collect::<Vec<_>>()});
        if stateless {
            result["ttlMs"] = TTL_MS.into();
            // Tools depend on the key.
            result["cacheScope"] = "private".into();
        }
        Ok(result)
    }

    async fn call<B: Backend>(
        &self,
        mut params: Map<String, Value>,
        backend: &B,
        failure: &mut Option<Failure>,
    ) -> Result<Value, RpcError> {
        let name = params.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| RpcError::new(code::INVALID_PARAMS, "`name` must be a string"))?;
        let tool: &Tool = self.toolset.find(name).ok_or_else(|| {
            let name: String = name.chars().take(100).collect();
            RpcError::new(code::INVALID_PARAMS, format!("unknown tool `{name}`"))
        })?;
        let arguments = params.remove("arguments").filter(|given| !given.is_null()).unwrap_or_else(|| json!({}));
        match calls::run(tool, &self.toolset, arguments, backend).await {
            Ok(answer) => {
                let mut result = result(&answer.text, false);
                result["structuredContent"] = answer.structured;
                Ok(result)
            }
            Err(error) => {
                let result = failed(&error);
                *failure = Some(error);
                Ok(result)
            }
        }
    }
}

/// Returns the result of a tool with its text alone.
fn result(text: &str, is_error: bool) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

/// Returns the result of a tool that failed. The error stands in the text alone: clients hold structured content against the schema
/// of results.
fn failed(failure: &Failure) -> Value {
    result(&json!({"error": failure.error}).to_string(), true)
}

/// Fields of every request of the stateless revision (2026-07-28, "Per-request protocol fields").
fn check_envelope(params: &Map<String, Value>) -> Result<(), RpcError> {
    let meta = params.get("_meta").and_then(Value::as_object);
    let field = |name: &str| meta.and_then(|meta| meta.get(&format!("io.modelcontextprotocol/{name}")));
    let missing = |name: &str, what: &str| {
        let message = format!("`_meta` must hold `io.modelcontextprotocol/{name}`, {what}");
        RpcError::new(code::INVALID_PARAMS, message)
    };
    let version = field("protocolVersion").and_then(Value::as_str);
    let version = version.ok_or_else(|| missing("protocolVersion", "a string"))?;
    if version != STATELESS {
        return Err(unsupported(version));
    }
    if !field("clientCapabilities").is_some_and(Value::is_object) {
        return Err(missing("clientCapabilities", "an object"));
    }
    Ok(())
}

fn capabilities() -> Value {
    json!({"tools": {}})
}

fn server_info() -> Value {
    json!({"name": "retrieval", "title": "Retrieval", "version": env!("CARGO_PKG_VERSION")})
}

/// Adds the fields that every result of the stateless revision has.
fn completed(mut result: Value) -> Value {
    result["resultType"] = "complete".into();
    result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": server_info()});
    result
}
