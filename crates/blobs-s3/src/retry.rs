//! Retries while storage is unavailable.

use std::future::Future;
use std::time::Duration;

use blobs::{BlobError, BlobErrorKind};

use crate::options::S3Timeouts;

/// Repeats an idempotent attempt.
pub(crate) async fn retry_unavailable<T, F: Future<Output = Result<T, BlobError>>>(
    timeouts: &S3Timeouts,
    attempt: impl Fn() -> F,
) -> Result<T, BlobError> {
    let mut attempts = 1;
    loop {
        match attempt().await {
            Err(error) if error.kind == BlobErrorKind::Unavailable && attempts < timeouts.attempts => {
                let delay = delay(timeouts.backoff, attempts);
                tracing::debug!(%error, attempt = attempts, ?delay, "object storage is unavailable, retrying");
                tokio::time::sleep(delay).await;
                attempts += 1;
            }
            result => return result,
        }
    }
}

/// Exponential back-off with jitter, so that callers that failed together do not retry together.
fn delay(first: Duration, attempts: u32) -> Duration {
    let doubled = first.saturating_mul(1 << (attempts - 1).min(10));
    doubled.mul_f64(rand::random_range(0.5..=1.0))
}
