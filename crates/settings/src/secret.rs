use std::fmt;

use serde::Deserialize;
use url::Url;

/// Keys with hidden values, which can be given as `<key>_file`.
pub(crate) const SECRETS: [&str; 11] = [
    "database.url",
    "index.api_key",
    "storage.access_key_id",
    "storage.secret_access_key",
    "rate_limit.url",
    "rerank.api_key",
    "embed.api_key",
    "generate.api_key",
    "web.brave.api_key",
    "web.http.api_key",
    "telemetry.otlp_api_key",
];

pub(crate) fn is_secret(key: &str) -> bool {
    SECRETS.contains(&key)
}

/// Returns true for a secret, a section that contains one, and a key below one: their values may be secrets in the wrong place, such
/// as `database = "postgres://..."`.
pub(crate) fn may_hold_secret(key: &str) -> bool {
    let is_below = |key: &str, parent: &str| key.strip_prefix(parent).is_some_and(|rest| rest.starts_with('.'));
    SECRETS.iter().any(|secret| *secret == key || is_below(secret, key) || is_below(key, secret))
}

/// Removes the user and the password of a URL. The user alone may be a token.
pub(crate) fn without_credentials(text: &str) -> String {
    match Url::parse(text) {
        Ok(mut url) if url.password().is_some() || !url.username().is_empty() => {
            // Fails only for URLs without a host, which have neither.
            let _ = url.set_password(None);
            let _ = url.set_username("");
            url.to_string()
        }
        Ok(_) | Err(_) => text.to_owned(),
    }
}

/// Secret text, hidden from `Debug` so that logs and panic messages do not contain it.
#[derive(Clone, Default, Deserialize, Eq, PartialEq)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// Returns the text. Pass it only to the client that needs it, never to output.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "Secret(empty)" } else { "Secret(hidden)" })
    }
}
