//! Computation.

use std::sync::mpsc;
use std::time::Duration;

use admission::Compute;
use tokio::sync::oneshot;

use super::organization;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_future_stops_the_computation() {
    let compute = Compute::interactive(1);
    let (started, has_started) = oneshot::channel();
    let (stopped, has_stopped) = oneshot::channel();
    let running = compute.clone();
    let task = tokio::spawn(async move {
        let work = move |stop: &admission::Stop| {
            let _ = started.send(());
            while !stop.is_stopped() {
                std::thread::yield_now();
            }
            let _ = stopped.send(());
        };
        running.run(organization(1), work).await
    });
    has_started.await.unwrap();
    task.abort();
    has_stopped.await.unwrap();
    // The thread is free again.
    assert_eq!(compute.run(organization(2), |_| 7).await.unwrap(), 7);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn organizations_compute_in_turn() {
    let compute = Compute::interactive(1);
    let (sender, order) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let first = compute.run(organization(1), move |_| released.recv_timeout(Duration::from_secs(60)).is_ok());
    let mut first = Box::pin(first);
    assert!(futures_util::poll!(&mut first).is_pending());
    let queued: Vec<_> = [1, 1, 1, 2]
        .into_iter()
        .map(|number| {
            let sender = sender.clone();
            let mut work = Box::pin(compute.run(organization(number), move |_| sender.send(number).unwrap()));
            assert!(futures_util::FutureExt::now_or_never(&mut work).is_none());
            work
        })
        .collect();
    release.send(()).unwrap();
    assert!(first.await.unwrap());
    futures_util::future::try_join_all(queued).await.unwrap();
    assert_eq!(order.try_iter().collect::<Vec<u128>>(), [2, 1, 1, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panic_is_an_error() {
    for compute in [Compute::interactive(1), Compute::background(1)] {
        assert!(compute.run(organization(1), |_| panic!("of a test")).await.is_err());
        assert_eq!(compute.run(organization(1), |_| 1).await.unwrap(), 1);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn background_threads_have_a_low_priority() {
    let niceness = |_: &admission::Stop| rustix::process::nice(0).unwrap();
    let usual = Compute::interactive(1).run(organization(1), niceness).await.unwrap();
    let background = Compute::background(1).run(organization(1), niceness).await.unwrap();
    assert_eq!(background, (usual + 10).min(19));
}
