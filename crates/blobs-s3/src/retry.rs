//! Trying again while storage is unavailable.

use std::future::Future;
use std::time::Duration;

use blobs::{BlobError, BlobErrorKind};

use crate::options::S3Timeouts;

/// Repeats an attempt that changes nothing when it is made twice.
pub(crate) async fn retrying<T, F: Future<Output = Result<T, BlobError>>>(
    timeouts: &S3Timeouts,
    attempt: impl Fn() -> F,
) -> Result<T, BlobError> {
    let mut made = 1;
    loop {
        match attempt().await {
            Err(error) if error.kind == BlobErrorKind::Unavailable && made < timeouts.attempts => {
                let pause = pause(timeouts.backoff, made);
                tracing::debug!(%error, attempt = made, ?pause, "object storage is unavailable, trying again");
                tokio::time::sleep(pause).await;
                made += 1;
            }
            result => return result,
        }
    }
}

/// Doubling, and spread out so that many callers that failed together do not come back together.
fn pause(first: Duration, made: u32) -> Duration {
    let doubled = first.saturating_mul(1 << (made - 1).min(10));
    doubled.mul_f64(rand::random_range(0.5..=1.0))
}
