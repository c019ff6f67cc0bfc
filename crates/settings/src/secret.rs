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

/// Removes users and passwords from a URL, or from each URL of a list with commas. The user alone may be a token. A text that is not a
/// URL may be one with a mistake: everything before its last `@` is removed too, except the scheme.
pub(crate) fn without_credentials(text: &str) -> String {
    if !text.contains('@') {
        return text.to_owned();
    }
    urls(text).iter().map(|url| without_user(url)).collect::<Vec<_>>().join(",")
}

/// Splits a list at the commas that a scheme follows: a password may contain others.
fn urls(text: &str) -> Vec<String> {
    let mut urls: Vec<String> = Vec::new();
    for part in text.split(',') {
        match urls.last_mut() {
            Some(url) if scheme(part).is_none() => {
                url.push(',');
                url.push_str(part);
            }
            Some(_) | None => urls.push(part.to_owned()),
        }
    }
    urls
}

fn without_user(text: &str) -> String {
    match Url::parse(text) {
        Ok(mut url) if url.password().is_some() || !url.username().is_empty() => {
            // Fails only for URLs without a host, which have neither.
            let _ = url.set_password(None);
            let _ = url.set_username("");
            url.to_string()
        }
        Ok(_) | Err(_) => match (text.rsplit_once('@'), scheme(text)) {
            (None, _) => text.to_owned(),
            (Some((_, rest)), Some(scheme)) => format!("{scheme}://{rest}"),
            (Some((_, rest)), None) => rest.to_owned(),
        },
    }
}

/// Returns the text before `://`, if it can be a scheme.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.trim_start().split_once("://")?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (!scheme.is_empty() && scheme.chars().all(fits)).then_some(scheme)
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
