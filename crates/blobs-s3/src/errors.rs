//! Classification of errors by the possible reaction.

use std::fmt::Display;

use blobs::{BlobError, BlobErrorKind};
use rusoto_core::RusotoError;
use rusoto_core::request::BufferedHttpResponse;

/// Code of the embedded store for an object whose file is missing or has another length.
const CORRUPT: &str = "CorruptObject";

/// Classifies an error of the S3 library. `call` names the call in the message.
pub(crate) fn classify<E: Display>(call: &str, error: RusotoError<E>) -> BlobError {
    let (kind, message) = match error {
        RusotoError::HttpDispatch(error) => (BlobErrorKind::Unavailable, error.to_string()),
        RusotoError::Credentials(error) => (BlobErrorKind::Denied, error.message),
        RusotoError::Unknown(response) => classify_response(&response),
        RusotoError::Service(error) => (BlobErrorKind::Failed, error.to_string()),
        RusotoError::Validation(message) | RusotoError::ParseError(message) => (BlobErrorKind::Failed, message),
        RusotoError::Blocking => (BlobErrorKind::Failed, "the client cannot block".to_owned()),
    };
    BlobError::new(kind, format!("{call}: {message}"))
}

pub(crate) fn timed_out(call: &str) -> BlobError {
    BlobError::new(BlobErrorKind::Unavailable, format!("{call}: timeout"))
}

/// Returns true if the object does not exist. A response to HEAD has no body to distinguish object and bucket.
pub(crate) fn is_missing<E>(error: &RusotoError<E>) -> bool {
    match error {
        RusotoError::Unknown(response) => {
            response.status.as_u16() == 404 && matches!(element(response, "Code"), None | Some("NoSuchKey"))
        }
        _ => false,
    }
}

/// Classifies an error response that the library does not know.
fn classify_response(response: &BufferedHttpResponse) -> (BlobErrorKind, String) {
    let status = response.status.as_u16();
    let code = element(response, "Code").unwrap_or_default();
    let kind = match (status, code) {
        (_, CORRUPT) => BlobErrorKind::Corrupt,
        // A clock that jumped is corrected while the processes run.
        (_, "RequestTimeTooSkewed") => BlobErrorKind::Unavailable,
        (408 | 429 | 500.., _) | (_, "RequestTimeout" | "SlowDown" | "OperationAborted") => BlobErrorKind::Unavailable,
        (401 | 403, _) | (_, "ExpiredToken" | "InvalidToken" | "AuthorizationHeaderMalformed") => BlobErrorKind::Denied,
        _ => BlobErrorKind::Failed,
    };
    let message = element(response, "Message").unwrap_or_default();
    (kind, format!("status {status} {code} {message}").trim_end().to_owned())
}

/// Returns the text of one element of an error document. Sufficient for messages and codes.
fn element<'a>(response: &'a BufferedHttpResponse, name: &str) -> Option<&'a str> {
    let body = std::str::from_utf8(&response.body).ok()?;
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    rest.split_once("</").map(|(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: u16, code: &str, expected: BlobErrorKind) {
        let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>Why</Message></Error>");
        let response = BufferedHttpResponse {
            status: http02::StatusCode::from_u16(status).unwrap_or_default(),
            body: body.into(),
            headers: http02::HeaderMap::default(),
        };
        let error = classify("put", RusotoError::<String>::Unknown(response));
        assert_eq!((error.kind, error.message), (expected, format!("put: status {status} {code} Why")));
    }

    #[test]
    fn responses_are_classified_by_the_possible_reaction() {
        check(500, "InternalError", BlobErrorKind::Unavailable);
        check(500, "CorruptObject", BlobErrorKind::Corrupt);
        check(503, "SlowDown", BlobErrorKind::Unavailable);
        check(400, "RequestTimeout", BlobErrorKind::Unavailable);
        check(429, "TooManyRequests", BlobErrorKind::Unavailable);
        check(403, "RequestTimeTooSkewed", BlobErrorKind::Unavailable);
        check(403, "SignatureDoesNotMatch", BlobErrorKind::Denied);
        check(400, "ExpiredToken", BlobErrorKind::Denied);
        check(404, "NoSuchBucket", BlobErrorKind::Failed);
        check(301, "PermanentRedirect", BlobErrorKind::Failed);
    }
}
