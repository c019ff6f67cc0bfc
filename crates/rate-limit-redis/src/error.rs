use std::time::Duration;

/// The address cannot be one of a Redis. The text never holds the address, which may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum RedisUrlError {
    #[error("is no Redis address such as `redis://:password@host:6379/0`: {0}")]
    Unreadable(String),
    /// `rediss://host#insecure` of some clients, or a password that is not encoded: the text is not shown.
    #[error("must have no fragment: certificates are always checked, and a `#` in a password is written `%23`")]
    Fragment,
}

/// Why a request was not counted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CountError {
    #[error("redis did not answer within {0:?}")]
    Late(Duration),
    #[error("redis failed")]
    Redis(#[from] redis::RedisError),
    #[error("redis is away, and not asked until it is back")]
    Away,
}
