use reqwest::header::HeaderValue;

use crate::Error;

/// Returns the header value of a session id.
///
/// # Errors
///
/// [`Error::Setting`] if the id is not a UUID.
pub(crate) fn session_header(session_id: &str) -> Result<HeaderValue, Error> {
    let wrong = || Error::Setting(format!("invalid session id `{session_id}`: expected a UUID"));
    api_types::validation::parse_uuid(session_id).ok_or_else(wrong)?;
    HeaderValue::from_str(session_id).map_err(|_| wrong())
}
