//! Admission of requests: authentication, scope, rate limit, in this order.
//!
//! A refused credential or scope costs no token of the rate limit, and the response does not show the limit.

use std::net::IpAddr;

use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use api_types::{ErrorCode, RateLimit, timestamp};
use app::Viewer;
use model::Scope;
use rate_limit::Decision;
use time::{Duration, OffsetDateTime};

use crate::State;
use crate::failure::Failure;

/// API keys have under 100 characters, access tokens a few thousand. Longer ones are not looked up.
const MAX_TOKEN_BYTES: usize = 8192;

/// An admitted request.
pub(crate) struct Admitted {
    pub viewer: Viewer,
    pub token: String,
    pub rate_limit: RateLimit,
}

/// A refused request, with the facts that were established before.
pub(crate) struct Refused {
    pub failure: Failure,
    pub viewer: Option<Viewer>,
    pub rate_limit: Option<RateLimit>,
}

impl From<Failure> for Box<Refused> {
    fn from(failure: Failure) -> Self {
        Box::new(Refused { failure, viewer: None, rate_limit: None })
    }
}

/// Authenticates a request by its token, checks `scope` if the route requires one, and takes a token of the rate limit.
pub(crate) async fn admit(
    state: &State,
    source: Option<IpAddr>,
    token: Result<String, Failure>,
    scope: Option<Scope>,
) -> Result<Admitted, Box<Refused>> {
    let (viewer, token) = authenticate(state, source, token).await?;
    if let Err(failure) = require(&viewer, scope) {
        return Err(Box::new(Refused { failure, viewer: Some(viewer), rate_limit: None }));
    }
    let now = state.now();
    match state.limiter.take(&viewer.identity.rate_key(), viewer.limit_rps, now).await {
        Ok(decision) if decision.allowed => Ok(Admitted { viewer, token, rate_limit: wire(decision) }),
        Ok(decision) => {
            let message = format!("the limit of {} requests per second is reached", decision.limit);
            let failure = Failure::new(ErrorCode::RateLimited, message);
            Err(Box::new(Refused { failure, viewer: Some(viewer), rate_limit: Some(wire(decision)) }))
        }
        // Admitting the request would make the limit a matter of luck. The headers promise no token.
        Err(error) => {
            let unknown = RateLimit {
                limit_rps: i64::from(viewer.limit_rps),
                remaining: 0,
                reset_at: timestamp::rfc3339(next_second(now)),
            };
            Err(Box::new(Refused {
                failure: Failure::internal(error),
                viewer: Some(viewer),
                rate_limit: Some(unknown),
            }))
        }
    }
}

/// Returns the viewer of a credential, and the credential. A source with too many rejected keys has to wait before its next new key.
async fn authenticate(
    state: &State,
    source: Option<IpAddr>,
    token: Result<String, Failure>,
) -> Result<(Viewer, String), Failure> {
    let rejections = &state.rejections;
    let token = token.inspect_err(|failure| match failure.code {
        ErrorCode::MissingApiKey => rejections.reject_missing(),
        ErrorCode::InvalidApiKey => rejections.reject_malformed(),
        // A body that could have contained a key but cannot be read is no guess.
        _ => {}
    })?;
    // A forged access token costs no look-up either, and clients renew theirs often.
    let source = source.filter(|_| !state.app.is_access_token(&token));
    let permitted = rejections.permit(source, &token, || state.now()).await;
    let permitted = permitted.map_err(|wait| Failure::too_many_rejections(wait.unsigned_abs()))?;
    let outcome = state.app.authenticate(&token).await;
    match outcome {
        Ok(Some(viewer)) => {
            permitted.accept(state.now());
            Ok((viewer, token))
        }
        Ok(None) => {
            permitted.reject(state.now());
            Err(invalid_key())
        }
        Err(error) => {
            permitted.fail(state.now());
            Err(error.into())
        }
    }
}

/// Refuses a credential without the scope, if one is required.
pub(crate) fn require(viewer: &Viewer, scope: Option<Scope>) -> Result<(), Failure> {
    let Some(scope) = scope.filter(|scope| !viewer.may(*scope)) else { return Ok(()) };
    let scope = scope.as_str();
    Err(Failure::new(ErrorCode::InsufficientScope, format!("the credential lacks the scope `{scope}`"))
        .with("scope", scope))
}

fn wire(decision: Decision) -> RateLimit {
    RateLimit {
        limit_rps: i64::from(decision.limit),
        remaining: i64::from(decision.remaining),
        reset_at: timestamp::rfc3339(decision.reset_at),
    }
}

fn next_second(now: OffsetDateTime) -> OffsetDateTime {
    now.replace_nanosecond(0).unwrap_or(now).saturating_add(Duration::SECOND)
}

/// Returns the token of the only `Authorization: Bearer` header (RFC 6750; the scheme is case-insensitive).
pub(crate) fn bearer_token(headers: &HeaderMap) -> Result<String, Failure> {
    let missing = || missing_key("send `Authorization: Bearer <API_KEY>`");
    match authorization(headers)? {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() => checked(token),
        _ => Err(missing()),
    }
}

/// Returns scheme and value of the only `Authorization` header; `None` without one.
pub(crate) fn authorization(headers: &HeaderMap) -> Result<Option<(&str, &str)>, Failure> {
    let mut values = headers.get_all(AUTHORIZATION);
    let Some(value) = values.next() else { return Ok(None) };
    // With two credentials, a proxy and the server could read different ones.
    if values.next().is_some() {
        return Err(invalid_key());
    }
    let text = value.to_str().map_err(|_| invalid_key())?.trim();
    let (scheme, token) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    Ok(Some((scheme, token.trim())))
}

/// Returns the token unless it is malformed.
pub(crate) fn checked(token: &str) -> Result<String, Failure> {
    if token.len() > MAX_TOKEN_BYTES || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(invalid_key());
    }
    Ok(token.to_owned())
}

/// The failure of a request without a credential; `advice` says how to send one.
pub(crate) fn missing_key(advice: &str) -> Failure {
    Failure::new(ErrorCode::MissingApiKey, format!("an API key is required: {advice}"))
}

pub(crate) fn invalid_key() -> Failure {
    Failure::new(ErrorCode::InvalidApiKey, "the API key or access token is malformed, unknown, expired or revoked")
}
