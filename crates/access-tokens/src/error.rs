/// Why a token is not taken.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
pub enum TokenError {
    #[error("is no signed JWT: {0}")]
    Malformed(&'static str),
    #[error("is refused: {0}")]
    Refused(Refusal),
    /// No fault of the token: nothing is known to check it with.
    #[error("cannot be checked: the keys of the issuer are not available")]
    KeysUnavailable,
}

/// What is wrong with a token that is one. The texts hold nothing of the token.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error("it has expired")]
    Expired,
    #[error("it is not valid yet")]
    NotYetValid,
    #[error("it was issued in the future")]
    IssuedInFuture,
    #[error("it is of another issuer")]
    Issuer,
    #[error("it is meant for another audience")]
    Audience,
    #[error("its claim `{0}` is missing or of a wrong type")]
    Claim(&'static str),
    #[error("its algorithm is none of RS256, ES256 and EdDSA")]
    Algorithm,
    #[error("its `typ` is not that of an access token")]
    Type,
    #[error("it has critical header parameters")]
    Critical,
    #[error("the issuer has no such key")]
    UnknownKey,
    #[error("its algorithm is not that of the key it names")]
    KeyMismatch,
    #[error("it names no key, and not exactly one of the issuer's fits")]
    AmbiguousKey,
    #[error("its signature is wrong")]
    Signature,
}

impl From<Refusal> for TokenError {
    fn from(refusal: Refusal) -> Self {
        TokenError::Refused(refusal)
    }
}

/// The address of the keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("`{0}` is no http or https address")]
    Address(String),
    #[error("the HTTP client cannot be made")]
    Client(#[source] reqwest::Error),
}
