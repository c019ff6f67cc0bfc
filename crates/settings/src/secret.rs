use std::fmt;

use serde::Deserialize;

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
