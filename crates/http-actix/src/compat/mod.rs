//! The APIs of other services over the same use cases: formats, credentials and paths.

mod credential;
mod page;
mod read;
mod request;
mod routes;
mod search;
#[cfg(test)]
mod tests;

use actix_web::http::StatusCode;
use compat::{ErrorReply, Refusal, Service};
use uuid::Uuid;

pub(crate) use routes::{names, register};

use crate::State;
use crate::failure::Failure;
use crate::reply::{Refusals, Reply};

/// `WWW-Authenticate` of a missing or invalid credential.
const CHALLENGE: &str = "Bearer, Basic realm=\"API key as password\"";

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::invalid(refusal.field, refusal.message)
    }
}

/// Failures in the format of a service.
const fn refusals<S: Service>() -> Refusals {
    Refusals { reply: refuse::<S>, challenge: CHALLENGE }
}

fn refuse<S: Service>(_: &State, request_id: Uuid, failure: &Failure) -> Reply {
    let ErrorReply { status, body } = S::error(failure.code, &S::translate(&failure.message), request_id);
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // A JSON value always serializes.
    Reply::json(status, &body).unwrap_or_else(|_| Reply::empty(status))
}
