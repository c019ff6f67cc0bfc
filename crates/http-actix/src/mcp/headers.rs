//! Headers that repeat parts of a message for proxies. They must match the message (2025-06-18, "Protocol Version
//! Header"; 2026-07-28, "Request Metadata").

use actix_web::http::header::HeaderMap;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp::{Request, RpcError, STATELESS, code, is_supported, unsupported};
use serde_json::Value;

const VERSION: &str = "MCP-Protocol-Version";
const METHOD: &str = "Mcp-Method";
const NAME: &str = "Mcp-Name";

/// Checks the headers of a request.
///
/// # Errors
/// An unsupported revision, or headers that contradict the body.
pub(crate) fn check(headers: &HeaderMap, request: &Request) -> Result<(), RpcError> {
    let header = single(headers, VERSION)?;
    let Some(declared) = request.revision() else {
        return match header {
            // `initialize` negotiates the revision; the header applies to later requests.
            _ if request.method == "initialize" => Ok(()),
            // Without the header, the negotiated revision applies.
            None => Ok(()),
            Some(STATELESS) => Err(mismatch(VERSION, "`_meta`")),
            Some(version) => check_revision(version),
        };
    };
    if header != declared.as_str() {
        return Err(mismatch(VERSION, "`_meta`"));
    }
    if single(headers, METHOD)? != Some(&request.method) {
        return Err(mismatch(METHOD, "`method`"));
    }
    if let Some(tool) = request.tool()
        && single(headers, NAME)?.and_then(decode).as_deref() != Some(tool)
    {
        return Err(mismatch(NAME, "`params.name`"));
    }
    Ok(())
}

/// Checks the headers of a notification or response.
///
/// # Errors
/// An unsupported revision.
pub(crate) fn check_unanswered(headers: &HeaderMap) -> Result<(), RpcError> {
    single(headers, VERSION)?.map_or(Ok(()), check_revision)
}

/// Returns the HTTP status of a response.
pub(crate) fn status(response: &mcp::Response) -> u16 {
    match response.error_code() {
        Some(_) if !response.accepted => 400,
        Some(code::METHOD_NOT_FOUND) if response.stateless => 404,
        // The message was processed; its result is not an HTTP matter.
        Some(_) | None => 200,
    }
}

fn check_revision(version: &str) -> Result<(), RpcError> {
    if is_supported(version) { Ok(()) } else { Err(unsupported(version)) }
}

/// Returns the only value of a header. With two values, a proxy and the server could read different ones.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, RpcError> {
    let mut values = headers.get_all(name);
    let value = values.next();
    if values.next().is_some() {
        return Err(RpcError::new(code::HEADER_MISMATCH, format!("send the header {name} once")));
    }
    let unreadable = |_| RpcError::new(code::HEADER_MISMATCH, format!("the header {name} must be ASCII"));
    value.map(|value| value.to_str().map(str::trim).map_err(unreadable)).transpose()
}

/// Decodes a header value ("Value Encoding": `=?base64?...?=`).
fn decode(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        None => Some(value.to_owned()),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
    }
}

fn mismatch(header: &str, body: &str) -> RpcError {
    RpcError {
        data: Some(Value::from(header)),
        ..RpcError::new(code::HEADER_MISMATCH, format!("the header {header} differs from {body} in the body"))
    }
}
