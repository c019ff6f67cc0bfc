//! Checks of single values.

use url::Url;

use crate::SettingsError;

pub(crate) type Check = Result<(), SettingsError>;

pub(crate) fn http_url(key: &str, text: &str) -> Check {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none() => {
            Ok(())
        }
        Ok(_) | Err(_) => {
            Err(SettingsError::invalid(key, text, "must be an http or https URL such as `https://host.example`"))
        }
    }
}

pub(crate) fn not_empty(key: &str, text: &str) -> Check {
    if text.is_empty() { Err(SettingsError::invalid(key, text, "must not be empty")) } else { Ok(()) }
}

pub(crate) fn positive(key: &str, value: u64) -> Check {
    if value > 0 { Ok(()) } else { Err(SettingsError::invalid(key, value, "must be at least 1")) }
}
