//! Counting while Redis is up.

use std::sync::Arc;

use rate_limit::RateLimiter;
use rate_limit_redis::{OnFailure, RedisLimiter};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};
use tokio::task::JoinSet;

use crate::redis_server::{connected, prefix, shared};

const NOON: OffsetDateTime = datetime!(2100-06-15 12:00:00 UTC);

async fn allowed(limiter: &RedisLimiter, limit: u32, now: OffsetDateTime) -> bool {
    limiter.take("key", limit, now).await.unwrap().allowed
}

#[tokio::test]
async fn redis_limiter_conforms() {
    let Some(redis) = shared() else { return };
    let limiter = connected(&redis.url, &prefix(), OnFailure::Closed).await;
    rate_limit::conformance::run(limiter.clone()).await;
    assert_eq!((limiter.outages(), limiter.uncounted()), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_instances_allow_exactly_the_limit() {
    let Some(redis) = shared() else { return };
    let prefix = prefix();
    let one = connected(&redis.url, &prefix, OnFailure::Closed).await;
    let other = connected(&redis.url, &prefix, OnFailure::Closed).await;
    let mut callers = JoinSet::new();
    for caller in 0..32 {
        let limiter = Arc::clone(if caller % 2 == 0 { &one } else { &other });
        callers.spawn(async move {
            let mut passed = 0;
            for _ in 0..25 {
                passed += u32::from(allowed(&limiter, 333, NOON).await);
            }
            passed
        });
    }
    assert_eq!(callers.join_all().await.into_iter().sum::<u32>(), 333);
    let last = one.take("key", 333, NOON).await.unwrap();
    assert_eq!((last.allowed, last.remaining, last.reset_at), (false, 0, NOON + Duration::SECOND));
}

#[tokio::test]
async fn different_clocks_open_no_extra_windows() {
    let Some(redis) = shared() else { return };
    let prefix = prefix();
    let ahead = connected(&redis.url, &prefix, OnFailure::Closed).await;
    let behind = connected(&redis.url, &prefix, OnFailure::Closed).await;
    let mut passed = 0;
    // Three seconds in steps of 50 ms, one clock 700 ms behind the other.
    for step in 0..60 {
        let now = NOON + Duration::milliseconds(50) * step;
        passed += u32::from(allowed(&ahead, 7, now).await);
        passed += u32::from(allowed(&behind, 7, now - Duration::milliseconds(700)).await);
    }
    assert_eq!(passed, 3 * 7, "the clock ahead starts the windows, and it saw three");
    let late = behind.take("key", 7, NOON).await.unwrap();
    assert_eq!(late.reset_at, NOON + Duration::seconds(3), "a late call counts in the latest window");
}

#[tokio::test]
async fn a_counter_expires_after_its_window() {
    let Some(redis) = shared() else { return };
    let prefix = prefix();
    let limiter = connected(&redis.url, &prefix, OnFailure::Closed).await;
    assert!(allowed(&limiter, 5, NOON).await);
    let mut client = redis::Client::open(redis.url.as_str()).unwrap().get_multiplexed_async_connection().await.unwrap();
    let ttl = |client: redis::aio::MultiplexedConnection| {
        let key = format!("{prefix}{{key}}");
        async move { redis::cmd("PTTL").arg(key).query_async::<i64>(&mut { client }).await.unwrap() }
    };
    assert!((1..=2_000).contains(&ttl(client.clone()).await));
    tokio::time::sleep(std::time::Duration::from_millis(60)).await;
    assert!(allowed(&limiter, 5, NOON).await);
    assert!(ttl(client.clone()).await < 2_000 - 50, "calls do not extend the lifetime");
    // The script is loaded again if Redis forgot it.
    redis::cmd("SCRIPT").arg("FLUSH").query_async::<()>(&mut client).await.unwrap();
    assert_eq!(limiter.take("key", 5, NOON).await.unwrap().remaining, 2);
    assert_eq!(limiter.outages(), 0);
}
