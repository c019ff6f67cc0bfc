#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use rate_limit::{MemoryLimiter, RateLimiter, conformance};
use time::Duration;
use time::macros::datetime;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_limiter_conforms() {
    conformance::run(Arc::new(MemoryLimiter::new())).await;
}

#[tokio::test]
async fn counters_of_past_seconds_are_dropped() {
    let limiter = MemoryLimiter::new();
    let start = datetime!(2026-01-01 00:00 UTC);
    for key in 0..10_000 {
        limiter.take(&format!("key:{key}"), 1, start).await.unwrap();
    }
    assert_eq!(limiter.counters(), 10_000);
    // One call per shard clears it; 200 keys hit all 16 with near certainty.
    for key in 0..200 {
        limiter.take(&format!("key:{key}"), 1, start + Duration::SECOND).await.unwrap();
    }
    assert!(limiter.counters() <= 200, "{} counters are left", limiter.counters());
}

#[tokio::test]
async fn a_clock_set_back_does_not_block_a_key() {
    let limiter = MemoryLimiter::new();
    let start = datetime!(2026-01-01 00:00 UTC);
    assert!(limiter.take("key", 1, start).await.unwrap().allowed);
    let earlier = limiter.take("key", 1, start - Duration::HOUR).await.unwrap();
    assert!(earlier.allowed);
    assert_eq!(earlier.reset_at, start - Duration::HOUR + Duration::SECOND);
}
