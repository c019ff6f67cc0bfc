//! Refusal of requests that would wait too long.

use std::time::Duration;

use admission::{FairSemaphore, Limits, Overloaded};
use futures_util::FutureExt;
use tokio::time::{advance, sleep, timeout};

use super::organization;

#[tokio::test]
async fn queue_of_an_organization_is_bounded_and_others_have_their_own() {
    let semaphore = FairSemaphore::new(Limits::shared(1, 2, Duration::from_secs(60)));
    let _held = semaphore.acquire(organization(1), 1).await.unwrap();
    let mut waiting: Vec<_> = (0..2).map(|_| Box::pin(semaphore.acquire(organization(1), 1))).collect();
    waiting.iter_mut().for_each(|request| assert!(request.now_or_never().is_none()));
    let refused = semaphore.acquire(organization(1), 1).now_or_never().unwrap().err().unwrap();
    assert_eq!(refused, Overloaded { retry_after: Duration::from_secs(1) });
    assert_eq!(semaphore.check(organization(1)), Err(refused));
    assert_eq!(semaphore.check(organization(2)), Ok(()));
    assert!(semaphore.acquire(organization(2), 1).now_or_never().is_none(), "the other organization waits");
}

#[tokio::test]
async fn queue_of_an_organization_is_bounded_by_the_permits_that_it_needs() {
    let semaphore = FairSemaphore::new(Limits::shared(10, 10, Duration::from_secs(60)));
    let held = semaphore.acquire(organization(1), 10).await.unwrap();
    let queue = |weights: &[u32]| -> Vec<_> {
        let mut waiting: Vec<_> =
            weights.iter().map(|weight| Box::pin(semaphore.acquire(organization(1), *weight))).collect();
        waiting.iter_mut().for_each(|request| assert!(request.now_or_never().is_none()));
        waiting
    };
    let mut waiting = queue(&[9, 5]);
    assert!(semaphore.check(organization(1)).is_err());
    drop(waiting.remove(0));
    waiting.extend(queue(&[4, 1]));
    assert!(semaphore.check(organization(1)).is_err());
    drop(held);
    let granted: Vec<_> = waiting.into_iter().map(|request| request.now_or_never().unwrap()).collect();
    assert!(granted.iter().all(Result::is_ok));
    let mut waiting = queue(&[9]);
    assert_eq!(semaphore.check(organization(1)), Ok(()));
    waiting.extend(queue(&[1]));
    assert!(semaphore.check(organization(1)).is_err());
}

/// Serves requests that each hold the only permit for `service`, sent by `clients` that give up after `patience` and try
/// again, also after a refusal. Returns the answered, abandoned and refused requests of `seconds`.
async fn closed_loop(clients: usize, service: Duration, patience: Duration, seconds: u64) -> (u64, u64, u64) {
    let semaphore = FairSemaphore::new(Limits::shared(1, 10_000, Duration::from_secs(2)));
    let clients = (0..clients).map(|_| {
        let semaphore = semaphore.clone();
        async move {
            let (mut answered, mut abandoned, mut refused) = (0, 0, 0);
            let until = tokio::time::Instant::now() + Duration::from_secs(seconds);
            while tokio::time::Instant::now() < until {
                let request = async {
                    let permit = semaphore.acquire(organization(1), 1).await?;
                    sleep(service).await;
                    drop(permit);
                    Ok::<(), Overloaded>(())
                };
                match timeout(patience, request).await {
                    Ok(Ok(())) => answered += 1,
                    Ok(Err(_)) => {
                        refused += 1;
                        sleep(Duration::from_millis(50)).await;
                    }
                    Err(_) => abandoned += 1,
                }
            }
            (answered, abandoned, refused)
        }
    });
    let counts = futures_util::future::join_all(clients).await;
    counts.into_iter().fold((0, 0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2))
}

#[tokio::test(start_paused = true)]
async fn throughput_holds_when_impatient_clients_are_three_times_too_many() {
    let service = Duration::from_millis(2);
    let (best, _, _) = closed_loop(100, service, Duration::from_secs(60), 30).await;
    let (answered, abandoned, refused) = closed_loop(750, service, Duration::from_millis(500), 30).await;
    assert!(answered * 10 >= best * 9, "{answered} answers, at best {best}; {abandoned} abandoned, {refused} refused");
}

#[tokio::test(start_paused = true)]
async fn patient_clients_are_refused_beyond_the_longest_wait() {
    let semaphore = FairSemaphore::new(Limits::shared(1, 10_000, Duration::from_secs(1)));
    let mut held = semaphore.try_acquire(organization(1), 1);
    let mut waiting: Vec<_> = (0..50).map(|_| Box::pin(semaphore.acquire(organization(1), 1))).collect();
    waiting.iter_mut().for_each(|request| assert!(request.now_or_never().is_none()));
    for _ in 0..10 {
        advance(Duration::from_millis(100)).await;
        drop(held.take());
        held = Some(waiting.remove(0).now_or_never().unwrap().unwrap());
    }
    let refused = semaphore.acquire(organization(1), 1).now_or_never().unwrap().err().unwrap();
    assert!(refused.retry_after >= Duration::from_secs(3), "40 requests of 100 ms wait: {refused:?}");
}
