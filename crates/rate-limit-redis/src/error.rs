use std::time::Duration;

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
