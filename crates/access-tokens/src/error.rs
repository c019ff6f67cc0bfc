/// Failure to verify a token. Messages contain nothing of the token.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
pub enum TokenError {
    #[error("malformed token: {0}")]
    Malformed(&'static str),
    #[error("token rejected: {0}")]
    Rejected(Rejection),
    /// The token may be valid, but there are no keys to verify it with.
    #[error("the issuer's keys are unavailable")]
    KeysUnavailable,
}

/// Reason for the rejection of a well-formed token.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Rejection {
    #[error("expired")]
    Expired,
    #[error("not valid yet")]
    NotYetValid,
    #[error("issued in the future")]
    IssuedInFuture,
    #[error("wrong issuer")]
    Issuer,
    #[error("wrong audience")]
    Audience,
    #[error("claim `{0}` is missing or has the wrong type")]
    Claim(&'static str),
    #[error("the algorithm is not RS256, ES256 or EdDSA")]
    Algorithm,
    #[error("the header parameter `typ` is not that of an access token")]
    Type,
    #[error("critical header parameters are not supported")]
    Critical,
    #[error("the issuer has no such key")]
    UnknownKey,
    #[error("the algorithm does not match the named key")]
    KeyMismatch,
    #[error("no key is named and several of the issuer's keys fit")]
    AmbiguousKey,
    #[error("invalid signature")]
    Signature,
}

impl From<Rejection> for TokenError {
    fn from(rejection: Rejection) -> Self {
        TokenError::Rejected(rejection)
    }
}

/// Unusable JWKS endpoint.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("invalid JWKS URL `{0}`: use an http or https URL")]
    Address(String),
    #[error("creating the HTTP client failed")]
    Client(#[source] reqwest::Error),
}
