use actix_web::http::header::HeaderMap;
use api_types::validation::parse_uuid;

use crate::failure::Failure;

const HEADER: &str = "X-Session-ID";

/// Reads and validates the session id of the header. An empty value is no UUID either.
pub(crate) fn from_header(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let Some(value) = headers.get(HEADER) else { return Ok(None) };
    match value.to_str() {
        Ok(text) if parse_uuid(text).is_some() => Ok(Some(text.to_owned())),
        Ok(_) | Err(_) => Err(Failure::invalid(HEADER, format!("{HEADER} must be a UUID"))),
    }
}
