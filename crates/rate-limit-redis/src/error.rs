use std::time::Duration;

use redis::ErrorKind;

/// Invalid Redis URL. The message never contains the URL, which may contain a password.
#[derive(Debug, thiserror::Error)]
pub enum RedisUrlError {
    #[error("not a Redis URL such as `redis://:password@host:6379/0`: {0}")]
    Unreadable(String),
    /// `rediss://host#insecure` of some clients, or an unencoded password, which must not be shown.
    #[error("must have no fragment: certificates are always checked, and a `#` in a password is written `%23`")]
    Fragment,
}

/// Failure to count a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CountError {
    #[error("redis did not respond within {0:?}")]
    Timeout(Duration),
    #[error("redis failed")]
    Redis(#[from] redis::RedisError),
    #[error("redis is down and not contacted until the connection is restored")]
    Down,
}

impl CountError {
    /// Describes the cause by the library's category, with the system's error or the code of Redis. The library's own details may
    /// quote the URL, which may contain a password.
    pub fn reason(&self) -> String {
        let Self::Redis(error) = self else { return self.to_string() };
        let detail = match error.kind() {
            ErrorKind::Io => std::error::Error::source(error).map(ToString::to_string),
            // A code that the library does not know, such as `OOM`.
            ErrorKind::Extension => error.code().map(str::to_owned),
            _ => None,
        };
        let category = error.category();
        detail.map_or_else(|| category.to_owned(), |detail| format!("{category}: {detail:.200}"))
    }
}
