//! Length of presigned uploads. Another length than the signed one is rejected with status 403, as by stores that only see
//! an invalid signature, but with an error that says so.

use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderValue, StatusCode};
use s3s::{S3Error, S3ErrorCode};

/// Compares the declared length with `size`, the length that the URL states. A chunked upload declares none: it gets the
/// header that the signature covers, and its length is checked while it arrives.
///
/// # Errors
/// `EntityTooLarge` or `EntityTooSmall`.
pub(crate) fn check(headers: &mut HeaderMap, size: u64) -> Result<(), S3Error> {
    let Some(declared) = headers.get(CONTENT_LENGTH) else {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
        return Ok(());
    };
    match declared.to_str().ok().and_then(|length| length.parse::<u64>().ok()) {
        Some(length) if length != size => Err(wrong_length(size, length)),
        // A malformed length is left to the S3 library.
        Some(_) | None => Ok(()),
    }
}

/// Returns the error for a body of `length` bytes at a URL that accepts exactly `size`. Of a longer body, `length` may be what has
/// arrived so far.
pub(crate) fn wrong_length(size: u64, length: u64) -> S3Error {
    let (code, than) = match length > size {
        true => (S3ErrorCode::EntityTooLarge, "more"),
        false => (S3ErrorCode::EntityTooSmall, "fewer"),
    };
    let message = format!("This URL accepts exactly {size} bytes, and the body has {than}");
    let mut error = S3Error::with_message(code, message);
    error.set_status_code(StatusCode::FORBIDDEN);
    error
}
