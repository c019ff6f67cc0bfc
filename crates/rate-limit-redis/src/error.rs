use std::time::Duration;

/// The address cannot be one of a Redis. The text never holds the address, which may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum RedisUrlError {
    #[error("is no Redis address such as `redis://:password@host:6379/0`: {0}")]
    Unreadable(String),
    /// `rediss://host#insecure` of some clients: a connection that does not check who answers.
    #[error("must have no fragment (`#{0}`): certificates are always checked")]
    Fragment(String),
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
