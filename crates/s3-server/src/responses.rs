//! Building blocks of responses, shared by operations and content.

use std::io;

use bytes::Bytes;
use s3s::dto::StreamingBlob;
use s3s::{Body, S3Error, S3ErrorCode, S3Result, s3_error};

/// Runs blocking disk work on a thread where it delays no other connection.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> S3Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(internal)
}

/// Converts an internal failure: logs the cause and returns a fixed text to the client.
pub(crate) fn internal(cause: impl std::fmt::Display) -> S3Error {
    tracing::error!(%cause, "object store failed");
    s3_error!(InternalError, "The object store failed")
}

/// Converts a failure to read an object. Damage of one object has a code of its own, since a retry would not help.
pub(crate) fn unreadable(cause: io::Error) -> S3Error {
    // The journal has the object, but its file is gone, has another length or is on a bad sector.
    const EIO: i32 = 5;
    let is_damaged = matches!(cause.kind(), io::ErrorKind::InvalidData | io::ErrorKind::NotFound);
    if !is_damaged && cause.raw_os_error() != Some(EIO) {
        return internal(cause);
    }
    tracing::error!(%cause, "an object of the object store is damaged");
    let mut error = S3Error::with_message(S3ErrorCode::Custom("CorruptObject".into()), "The object is damaged");
    error.set_status_code(http::StatusCode::INTERNAL_SERVER_ERROR);
    error
}

/// Creates a body of known length, which is sent together with its headers.
pub(crate) fn whole(bytes: Bytes) -> StreamingBlob {
    StreamingBlob::from(Body::from(bytes))
}
