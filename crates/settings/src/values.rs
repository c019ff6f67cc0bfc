//! Checks of single values.

use url::Url;

use crate::SettingsError;

pub(crate) type Check = Result<(), SettingsError>;

const NOT_HTTP: &str = "must be an http or https URL such as `https://host.example`";

pub(crate) fn http_url(key: &str, text: &str) -> Check {
    let reason = match Url::parse(text) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => NOT_HTTP,
        Ok(url) if url.query().is_some() || url.fragment().is_some() => "must have no query and no fragment",
        Ok(_) => return Ok(()),
        Err(_) => NOT_HTTP,
    };
    Err(SettingsError::invalid(key, text, reason))
}

pub(crate) fn not_empty(key: &str, text: &str) -> Check {
    if text.is_empty() { Err(SettingsError::invalid(key, text, "must not be empty")) } else { Ok(()) }
}

pub(crate) fn positive(key: &str, value: u64) -> Check {
    if value > 0 { Ok(()) } else { Err(SettingsError::invalid(key, value, "must be at least 1")) }
}
