//! Who may come in: authentication, then scope, then the rate limit, in this order.
//!
//! A refused credential or scope costs no token and tells nothing of the limit.

use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use api_types::{ErrorCode, RateLimit, timestamp};
use app::{Permission, Viewer};
use rate_limit::Decision;
use time::{Duration, OffsetDateTime};

use crate::State;
use crate::failure::Failure;

/// API keys have under 100 characters, access tokens a few thousand. Longer ones are not looked up.
const MAX_TOKEN_BYTES: usize = 8192;

/// A request that is past the door.
pub(crate) struct Admitted {
    pub viewer: Viewer,
    pub rate_limit: RateLimit,
}

/// A request that is not, with what is known of it so far.
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

/// `permission`: what the endpoint asks for, if anything.
pub(crate) async fn admit(
    state: &State,
    headers: &HeaderMap,
    permission: Option<Permission>,
) -> Result<Admitted, Box<Refused>> {
    let token = bearer_token(headers)?;
    let viewer = state.app.authenticate(token).await.map_err(Failure::from)?.ok_or_else(invalid_key)?;
    if let Some(needed) = permission
        && let Err(failure) = permit(&viewer, needed)
    {
        return Err(Box::new(Refused { failure, viewer: Some(viewer), rate_limit: None }));
    }
    let now = state.now();
    match state.limiter.take(&viewer.identity.rate_key(), viewer.limit_rps, now).await {
        Ok(decision) if decision.allowed => Ok(Admitted { viewer, rate_limit: wire(decision) }),
        Ok(decision) => {
            let message = format!("the limit of {} requests per second is reached", decision.limit);
            let failure = Failure::new(ErrorCode::RateLimited, message);
            Err(Box::new(Refused { failure, viewer: Some(viewer), rate_limit: Some(wire(decision)) }))
        }
        // Letting the request through would make the limit a matter of luck; the headers promise nothing.
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

/// Refuses a credential without the scope.
pub(crate) fn permit(viewer: &Viewer, needed: Permission) -> Result<(), Failure> {
    if viewer.may(needed) {
        return Ok(());
    }
    let scope = needed.as_scope();
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

/// The token of the one `Authorization: Bearer` header (RFC 6750; the scheme is case-insensitive).
fn bearer_token(headers: &HeaderMap) -> Result<&str, Failure> {
    let missing =
        || Failure::new(ErrorCode::MissingApiKey, "an API key is required: send `Authorization: Bearer <API_KEY>`");
    let mut values = headers.get_all(AUTHORIZATION);
    let value = values.next().ok_or_else(missing)?;
    // Two credentials are an attempt to have proxy and server read different ones.
    if values.next().is_some() {
        return Err(invalid_key());
    }
    let text = value.to_str().map_err(|_| invalid_key())?.trim();
    let (scheme, token) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err(missing());
    }
    if token.len() > MAX_TOKEN_BYTES || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(invalid_key());
    }
    Ok(token)
}

fn invalid_key() -> Failure {
    Failure::new(ErrorCode::InvalidApiKey, "the API key or access token is malformed, unknown, expired or revoked")
}
