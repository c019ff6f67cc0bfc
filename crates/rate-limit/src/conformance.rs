//! Conformance suite for rate limiters. The tests of an implementation call [`run`] with a new limiter; it panics with
//! the violated rule. Keys are unique to the suite, so a shared counter store can be used.

use std::sync::Arc;

use time::macros::datetime;
use time::{Duration, OffsetDateTime};
use tokio::task::JoinSet;

use crate::{Decision, RateLimiter};

/// Runs the whole suite. Needs a tokio runtime.
pub async fn run(limiter: Arc<dyn RateLimiter>) {
    // Ahead of any real clock, so that limiters with expiring counters keep them during the test.
    let start = datetime!(2100-01-01 00:00:00 UTC);
    the_limit_is_exact(&*limiter, start).await;
    a_new_second_is_a_new_window(&*limiter, start).await;
    windows_are_aligned_to_the_second(&*limiter, start).await;
    keys_are_independent(&*limiter, start).await;
    a_changed_limit_counts_what_was_spent(&*limiter, start).await;
    a_late_call_counts_in_the_latest_window(&*limiter, start).await;
    the_limit_is_exact_under_concurrency(limiter, start).await;
}

async fn take(limiter: &dyn RateLimiter, key: &str, limit: u32, now: OffsetDateTime) -> Decision {
    match limiter.take(key, limit, now).await {
        Ok(decision) => decision,
        Err(error) => panic!("take failed: {error}"),
    }
}

async fn the_limit_is_exact(limiter: &dyn RateLimiter, start: OffsetDateTime) {
    for expected in [2, 1, 0] {
        let decision = take(limiter, "exact", 3, start).await;
        assert!(decision.allowed && decision.limit == 3, "a request within the limit is allowed: {decision:?}");
        assert_eq!(decision.remaining, expected, "remaining is the number of tokens after the call");
    }
    for _ in 0..2 {
        let decision = take(limiter, "exact", 3, start).await;
        assert!(!decision.allowed && decision.remaining == 0, "a request over the limit is denied: {decision:?}");
    }
    assert!(!take(limiter, "nothing", 0, start).await.allowed, "a limit of 0 allows nothing");
}

async fn a_new_second_is_a_new_window(limiter: &dyn RateLimiter, start: OffsetDateTime) {
    assert!(take(limiter, "turn", 1, start).await.allowed);
    assert!(!take(limiter, "turn", 1, start).await.allowed);
    assert!(take(limiter, "turn", 1, start + Duration::SECOND).await.allowed, "the next second has its own tokens");
    assert!(take(limiter, "turn", 1, start + Duration::HOUR).await.allowed, "as does a much later one");
}

async fn windows_are_aligned_to_the_second(limiter: &dyn RateLimiter, start: OffsetDateTime) {
    let start = start + Duration::DAY;
    let first = take(limiter, "aligned", 2, start + Duration::milliseconds(1)).await;
    let second = take(limiter, "aligned", 2, start + Duration::milliseconds(999)).await;
    assert_eq!(first.reset_at, start + Duration::SECOND, "the window ends at the whole second");
    assert_eq!((second.remaining, second.reset_at), (0, start + Duration::SECOND), "both calls share the window");
}

async fn keys_are_independent(limiter: &dyn RateLimiter, start: OffsetDateTime) {
    let start = start + Duration::days(2);
    assert!(take(limiter, "mine", 1, start).await.allowed);
    assert!(take(limiter, "yours", 1, start).await.allowed, "another key has its own tokens");
}

async fn a_changed_limit_counts_what_was_spent(limiter: &dyn RateLimiter, start: OffsetDateTime) {
    let start = start + Duration::days(3);
    assert_eq!(take(limiter, "changed", 5, start).await.remaining, 4);
    assert_eq!(take(limiter, "changed", 2, start).await.remaining, 0);
    assert!(!take(limiter, "changed", 2, start).await.allowed, "two are spent");
    assert_eq!(take(limiter, "changed", 5, start).await.remaining, 2, "denied calls spend nothing");
}

async fn a_late_call_counts_in_the_latest_window(limiter: &dyn RateLimiter, start: OffsetDateTime) {
    let start = start + Duration::days(4);
    assert!(take(limiter, "late", 1, start + Duration::SECOND).await.allowed);
    let late = take(limiter, "late", 1, start + Duration::milliseconds(999)).await;
    assert!(!late.allowed, "a call from just before the boundary must not open a second window");
}

async fn the_limit_is_exact_under_concurrency(limiter: Arc<dyn RateLimiter>, start: OffsetDateTime) {
    let start = start + Duration::days(5);
    let mut callers = JoinSet::new();
    for _ in 0..16 {
        let limiter = limiter.clone();
        callers.spawn(async move {
            let mut allowed = 0;
            for _ in 0..50 {
                allowed += u32::from(take(&*limiter, "crowd", 100, start).await.allowed);
                tokio::task::yield_now().await;
            }
            allowed
        });
    }
    let allowed: u32 = callers.join_all().await.into_iter().sum();
    assert_eq!(allowed, 100, "800 calls from 16 callers spend exactly the limit");
}
