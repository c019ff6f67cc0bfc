//! Outages: Redis is down, hangs, or rejects the connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rate_limit::{RateLimiter, SharedCounter};
use rate_limit_redis::OnFailure;
use time::OffsetDateTime;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::redis_server::{RedisServer, connected, limiter, prefix, until};

/// The timeout of one wait is 250 ms; the margin is for busy machines.
const MAX_WAIT: Duration = Duration::from_millis(750);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_under_load_is_one_outage_and_recovers() {
    let Some(mut redis) = RedisServer::start(&[]) else { return };
    let limiter = connected(&redis.url(), &prefix(), OnFailure::Open).await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for caller in 0..8 {
        let (limiter, stop) = (Arc::clone(&limiter), Arc::clone(&stop));
        callers.spawn(async move {
            let mut slowest = Duration::ZERO;
            while !stop.load(Ordering::Relaxed) {
                let started = Instant::now();
                let decision = limiter.take(&format!("{caller}"), 1_000_000, OffsetDateTime::now_utc()).await.unwrap();
                slowest = slowest.max(started.elapsed());
                assert!(decision.allowed && decision.remaining < 1_000_000);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            slowest
        });
    }
    let calm = limiter.uncounted();
    assert_eq!(calm, 0);
    redis.kill();
    until("requests go uncounted", || limiter.uncounted() > 50).await;
    assert!(matches!(limiter.shared_counter(), Some(SharedCounter::Down(_))));
    redis.resume();
    until("Redis is back", || limiter.shared_counter() == Some(SharedCounter::Up)).await;
    stop.store(true, Ordering::Relaxed);
    let slowest = callers.join_all().await.into_iter().max().unwrap();
    assert!(slowest < MAX_WAIT, "a request waited for {slowest:?}");
    assert_eq!(limiter.outages(), 1);
    let before = limiter.uncounted();
    let now = OffsetDateTime::now_utc();
    assert!(limiter.take("again", 1, now).await.unwrap().allowed);
    assert!(!limiter.take("again", 1, now).await.unwrap().allowed, "counted again");
    assert_eq!(limiter.uncounted(), before);
}

#[tokio::test]
async fn a_closed_connection_is_reopened_without_an_outage() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let limiter = connected(&redis.url(), &prefix(), OnFailure::Closed).await;
    let client = redis::Client::open(redis.url()).unwrap();
    let mut admin = client.get_multiplexed_async_connection().await.unwrap();
    let now = OffsetDateTime::now_utc();
    for expected in [4, 3, 2] {
        let mut kill = redis::cmd("CLIENT");
        kill.arg("KILL").arg("TYPE").arg("normal").arg("SKIPME").arg("yes").exec_async(&mut admin).await.unwrap();
        assert_eq!(limiter.take("key", 5, now).await.unwrap().remaining, expected);
    }
    assert_eq!((limiter.outages(), limiter.uncounted()), (0, 0));
}

/// Starts a server that accepts connections and never responds.
async fn silent_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            open.push(stream);
        }
    });
    url
}

#[tokio::test]
async fn a_silent_redis_delays_only_one_request() {
    let limiter = limiter(&silent_server().await, &prefix(), OnFailure::Open);
    let now = OffsetDateTime::now_utc();
    let started = Instant::now();
    let first = limiter.take("key", 2, now).await.unwrap();
    assert!(started.elapsed() < MAX_WAIT, "{:?}", started.elapsed());
    let started = Instant::now();
    for expected in [(true, 0), (true, 0), (true, 0)] {
        let decision = limiter.take("key", 2, now).await.unwrap();
        assert_eq!((decision.allowed, decision.remaining), expected);
    }
    assert!(started.elapsed() < Duration::from_millis(100), "{:?}", started.elapsed());
    assert_eq!((first.allowed, first.remaining), (true, 1), "remaining counts this instance alone");
    assert!(!limiter.take("key", 0, now).await.unwrap().allowed, "a limit of 0 needs no count");
    assert_eq!((limiter.outages(), limiter.uncounted()), (1, 5));
}

#[tokio::test]
async fn uncounted_requests_fail_if_closed() {
    let limiter = limiter(&silent_server().await, &prefix(), OnFailure::Closed);
    let now = OffsetDateTime::now_utc();
    let first = limiter.take("key", 2, now).await.unwrap_err();
    assert_eq!(first.0.to_string(), "redis did not respond within 250ms");
    let second = limiter.take("key", 2, now).await.unwrap_err();
    assert_eq!(second.0.to_string(), "redis is down and not contacted until the connection is restored");
    assert_eq!((limiter.outages(), limiter.uncounted()), (1, 2));
}

#[tokio::test]
async fn a_wrong_password_is_an_outage() {
    let Some(redis) = RedisServer::start(&["--requirepass", "hunter2"]) else { return };
    let with = |password: &str| format!("redis://:{password}@127.0.0.1:{}", redis.port);
    connected(&with("hunter2"), &prefix(), OnFailure::Closed).await;
    let refused = limiter(&with("hunter3"), &prefix(), OnFailure::Closed);
    until("the password is rejected", || refused.outages() == 1).await;
    assert!(refused.take("key", 1, OffsetDateTime::now_utc()).await.is_err());
    let down = refused.shared_counter();
    assert_eq!(down, Some(SharedCounter::Down("authentication failed".to_owned())));
}

#[tokio::test]
async fn an_outage_is_noticed_without_requests() {
    let Some(mut redis) = RedisServer::start(&[]) else { return };
    let limiter = connected(&redis.url(), &prefix(), OnFailure::Open).await;
    redis.kill();
    let mut reason = String::new();
    let is_down = || match limiter.shared_counter() {
        Some(SharedCounter::Down(now)) => {
            reason = now;
            true
        }
        _ => false,
    };
    until("Redis is down", is_down).await;
    assert!(reason.starts_with("I/O error: ") && reason.to_lowercase().contains("refused"), "{reason}");
    redis.resume();
    until("Redis is back", || limiter.shared_counter() == Some(SharedCounter::Up)).await;
    assert_eq!((limiter.outages(), limiter.uncounted()), (1, 0));
}
