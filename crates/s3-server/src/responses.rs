//! Building blocks of responses, shared by operations and content.

use bytes::Bytes;
use s3s::dto::StreamingBlob;
use s3s::{Body, S3Error, S3Result, s3_error};

/// Runs blocking disk work on a thread where it delays no other connection.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> S3Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(internal)
}

/// Converts an internal failure: logs the cause and returns a fixed text to the client.
pub(crate) fn internal(cause: impl std::fmt::Display) -> S3Error {
    tracing::error!(%cause, "object store failed");
    s3_error!(InternalError, "The object store failed")
}

/// Creates a body of known length, which is sent together with its headers.
pub(crate) fn whole(bytes: Bytes) -> StreamingBlob {
    StreamingBlob::from(Body::from(bytes))
}
