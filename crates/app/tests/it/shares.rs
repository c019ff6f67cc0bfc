use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use app::{Error, Work};
use futures_util::FutureExt;
use test_support::{Setup, TestApp, search};
use tokio::sync::Notify;

fn retry_after(error: Error) -> Duration {
    match error {
        Error::Overloaded { retry_after, .. } => retry_after,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn one_organization_cannot_take_the_turns_of_another() {
    let mut setup = Setup::default();
    (setup.options.shares.searches, setup.options.shares.max_waiting) = (2, 3);
    let world = TestApp::with(setup).await;
    let (heavy, bystander) = (world.tenant().await, world.tenant().await);
    let (end, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let wait = || {
        let end = Arc::clone(&end);
        async move {
            end.notified().await;
            Ok(())
        }
    };
    let mut running: Vec<_> =
        (0..5).map(|_| Box::pin(world.app.within_share(&heavy.viewer, Work::Search, wait()))).collect();
    running.iter_mut().for_each(|request| assert!(request.now_or_never().is_none()));
    // Two run and three wait.
    let refused = world.app.within_share(&heavy.viewer, Work::Search, wait()).await.unwrap_err();
    assert!(retry_after(refused) >= Duration::from_secs(1));
    let mut next = Box::pin(world.app.within_share(&bystander.viewer, Work::Search, async {
        ended.notify_one();
        Ok(())
    }));
    assert!((&mut next).now_or_never().is_none());
    drop(running.remove(0));
    next.await.unwrap();
    ended.notified().await;
    // Other kinds of work have their own permits.
    world.app.within_share(&heavy.viewer, Work::Read, async { Ok(()) }).await.unwrap();
}

/// Also on a machine with one core.
#[tokio::test]
async fn reports_of_one_organization_leave_a_place_for_another() {
    for reports in [1, 2, 4] {
        let mut setup = Setup::default();
        setup.options.shares.reports = reports;
        let world = TestApp::with(setup).await;
        let (heavy, bystander) = (world.tenant().await, world.tenant().await);
        let begun = AtomicU32::new(0);
        let report = || {
            world.app.within_share(&heavy.viewer, Work::Report, async {
                begun.fetch_add(1, Ordering::Relaxed);
                std::future::pending::<()>().await;
                Ok(())
            })
        };
        let mut running: Vec<_> = (0..=reports).map(|_| Box::pin(report())).collect();
        running.iter_mut().for_each(|report| assert!(report.now_or_never().is_none()));
        assert_eq!(begun.load(Ordering::Relaxed), reports.max(2) - 1);
        let other = Box::pin(world.app.within_share(&bystander.viewer, Work::Report, async { Ok(()) }));
        assert!(other.now_or_never().is_some_and(|outcome| outcome.is_ok()), "{reports}");
    }
}

#[tokio::test]
async fn request_that_takes_too_long_ends_and_costs_nothing() {
    let mut setup = Setup::default();
    setup.options.request_timeout = Duration::from_millis(50);
    let world = TestApp::with(setup).await;
    let tenant = world.billed_tenant(10).await;
    world.engine.hold();
    let searching = world.app.search(&tenant.viewer, search("tides"));
    let error = world.app.within_share(&tenant.viewer, Work::Search, searching).await.unwrap_err();
    assert_eq!(error.to_string(), "the request took longer than 0.05 seconds");
    retry_after(error);
    test_support::until("the refund", async || (world.balance(&tenant).await == 10).then_some(())).await;
}
