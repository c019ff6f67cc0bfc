//! Credentials as clients of other services send them.

use actix_web::http::header::HeaderMap;
use actix_web::{HttpRequest, web};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::BytesMut;
use serde_json::{Map, Value};

use crate::admission::{authorization, checked, invalid_key, missing_key};
use crate::body;
use crate::failure::Failure;

const API_KEY_HEADER: &str = "x-api-key";

/// A credential, and the body if it was read to find it.
pub(super) struct Presented {
    pub token: Result<String, Failure>,
    pub body: Option<BytesMut>,
}

/// Reads the credential from the headers. A service's `prefix` before the key is dropped.
pub(super) fn from_headers(headers: &HeaderMap, prefix: &str) -> Result<String, Failure> {
    let advice = "send it as `Authorization: Bearer <API_KEY>`, as `x-api-key`, or as the password of HTTP Basic";
    find(headers)?.ok_or_else(|| missing_key(advice)).and_then(|token| checked(without(prefix, &token)))
}

/// Reads the credential from the headers or, without one there, from the field `api_key` of a small body.
pub(super) async fn from_headers_or_body(request: &HttpRequest, payload: &mut web::Payload, prefix: &str) -> Presented {
    match find(request.headers()) {
        Ok(None) => {}
        Ok(Some(token)) => return Presented { token: checked(without(prefix, &token)), body: None },
        Err(failure) => return Presented { token: Err(failure), body: None },
    }
    let body = match body::before_admission(request, payload).await {
        Ok(body) => body,
        Err(failure) => return Presented { token: Err(failure), body: None },
    };
    let fields: Map<String, Value> = serde_json::from_slice(&body).unwrap_or_default();
    let token = match fields.get("api_key").and_then(Value::as_str).filter(|key| !key.is_empty()) {
        Some(key) => checked(without(prefix, key)),
        None => Err(missing_key("send it as `Authorization: Bearer <API_KEY>`")),
    };
    Presented { token, body: Some(body) }
}

/// Returns the only credential of the headers.
fn find(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let authorized = match authorization(headers)? {
        None => None,
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Some(token.to_owned()),
        Some((scheme, pair)) if scheme.eq_ignore_ascii_case("basic") => Some(password(pair)?),
        Some(_) => None,
    };
    let mut keys = headers.get_all(API_KEY_HEADER);
    let key = keys.next().map(|key| key.to_str().map_err(|_| invalid_key())).transpose()?;
    // With two credentials, a proxy and the server could read different ones.
    if keys.next().is_some() || (key.is_some() && authorized.is_some()) {
        return Err(invalid_key());
    }
    Ok(authorized.or(key.map(|key| key.trim().to_owned())).filter(|token| !token.is_empty()))
}

/// Returns the password of HTTP Basic, or the user if there is no password.
fn password(pair: &str) -> Result<String, Failure> {
    let decoded = STANDARD.decode(pair).ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(invalid_key)?;
    let (user, password) = decoded.split_once(':').ok_or_else(invalid_key)?;
    Ok(if password.is_empty() { user } else { password }.to_owned())
}

fn without<'a>(prefix: &str, token: &'a str) -> &'a str {
    token.strip_prefix(prefix).unwrap_or(token)
}
