//! Requests whose clients leave.

use std::time::Duration;

use admission::{FairSemaphore, Limits};
use futures_util::FutureExt;

use super::organization;

#[tokio::test]
async fn dropped_request_leaves_the_queue() {
    let semaphore = FairSemaphore::new(Limits::shared(1, 10, Duration::from_secs(60)));
    let held = semaphore.acquire(organization(1), 1).await.unwrap();
    let mut leaving = Box::pin(semaphore.acquire(organization(2), 1));
    let mut staying = Box::pin(semaphore.acquire(organization(3), 1));
    assert!((&mut leaving).now_or_never().is_none() && (&mut staying).now_or_never().is_none());
    assert_eq!(semaphore.waiting(), 2);
    drop(leaving);
    assert_eq!(semaphore.waiting(), 1);
    drop(held);
    assert!(staying.now_or_never().unwrap().is_ok());
    assert_eq!(semaphore.available(), 1);
}

#[tokio::test]
async fn permit_granted_to_a_client_that_left_goes_to_the_next() {
    let semaphore = FairSemaphore::new(Limits::shared(1, 10, Duration::from_secs(60)));
    let held = semaphore.acquire(organization(1), 1).await.unwrap();
    let mut leaving = Box::pin(semaphore.acquire(organization(2), 1));
    let mut staying = Box::pin(semaphore.acquire(organization(3), 1));
    assert!((&mut leaving).now_or_never().is_none() && (&mut staying).now_or_never().is_none());
    // Granted, but not polled again before it is dropped.
    drop(held);
    drop(leaving);
    assert!(staying.now_or_never().unwrap().is_ok());
    assert_eq!((semaphore.available(), semaphore.waiting()), (1, 0));
}

#[tokio::test]
async fn large_request_that_leaves_unblocks_the_others() {
    let semaphore = FairSemaphore::new(Limits::shared(2, 10, Duration::from_secs(60)));
    let _held = semaphore.acquire(organization(1), 1).await.unwrap();
    let mut large = Box::pin(semaphore.acquire(organization(2), 2));
    let mut small = Box::pin(semaphore.acquire(organization(3), 1));
    assert!((&mut large).now_or_never().is_none() && (&mut small).now_or_never().is_none());
    drop(large);
    assert!(small.now_or_never().unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn client_that_leaves_during_its_request_shortens_the_queue_too() {
    let semaphore = FairSemaphore::new(Limits::shared(1, 1_000, Duration::from_secs(2)));
    let mut held = Some(semaphore.acquire(organization(1), 1).await.unwrap());
    let mut waiting: Vec<_> = (0..60).map(|_| Box::pin(semaphore.acquire(organization(1), 1))).collect();
    waiting.iter_mut().for_each(|request| assert!(request.now_or_never().is_none()));
    for request in 0..24 {
        tokio::time::advance(Duration::from_millis(20)).await;
        let served = held.take().unwrap();
        match request < 20 {
            true => drop(served),
            false => served.abandon(),
        }
        held = Some(waiting.remove(0).now_or_never().unwrap().unwrap());
    }
    // 36 requests wait, for 20 ms each.
    let refused = semaphore.acquire(organization(1), 1).now_or_never().unwrap();
    assert!(refused.is_err(), "clients left after 0.4 s");
}

#[tokio::test(start_paused = true)]
async fn request_that_is_refused_after_its_wait_is_no_client_that_left() {
    let max_wait = Duration::from_secs(2);
    let semaphore = FairSemaphore::new(Limits::shared(1, 1_000, max_wait));
    let mut held = semaphore.try_acquire(organization(1), 1);
    let started = tokio::time::Instant::now();
    let refused = semaphore.acquire_within(organization(1), 1, max_wait).await.err().unwrap();
    assert_eq!((refused.retry_after, started.elapsed()), (max_wait, max_wait));
    assert_eq!(semaphore.waiting(), 0);
    let mut waiting: Vec<_> =
        (0..60).map(|_| Box::pin(semaphore.acquire_within(organization(1), 1, max_wait))).collect();
    waiting.iter_mut().for_each(|request| assert!(request.now_or_never().is_none()));
    for _ in 0..20 {
        tokio::time::advance(Duration::from_millis(20)).await;
        drop(held.take());
        held = Some(waiting.remove(0).now_or_never().unwrap().unwrap());
    }
    // 40 requests wait, for 20 ms each.
    assert_eq!(semaphore.check(organization(1)), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn large_request_that_is_refused_after_its_wait_unblocks_the_others() {
    let max_wait = Duration::from_secs(2);
    let semaphore = FairSemaphore::new(Limits::shared(2, 10, max_wait));
    let _held = semaphore.acquire(organization(1), 1).await.unwrap();
    let large = semaphore.acquire_within(organization(2), 2, max_wait);
    let small = semaphore.acquire_within(organization(3), 1, 2 * max_wait);
    let (large, small) = tokio::join!(large, small);
    assert!(large.is_err() && small.is_ok());
}
