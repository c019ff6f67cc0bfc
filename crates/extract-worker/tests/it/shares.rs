//! Shares of the workers: slow documents of some organizations and quick documents of others.

use std::path::PathBuf;
use std::time::Duration;

use extract::{ExtractErrorKind, Extracted};
use extract_worker::{Lane, WorkError, WorkerOptions, WorkerPool};
use tokio::task::JoinHandle;

use crate::worker::{kind, options, text, turn};

/// Time within which quick documents are read, far below the wall time of slow ones.
const SOON: Duration = Duration::from_secs(20);

/// A pool with one worker of each kind. A document with the word "slow" computes without end, any other takes no time.
fn pool(change: impl FnOnce(&mut WorkerOptions)) -> WorkerPool {
    pool_of("case \"$line\" in *slow*) while :; do :; done;; esac; text=ok", change)
}

/// A pool with one worker of each kind, which runs `script` for each `$line` and returns the two characters of `$text`.
fn pool_of(script: &str, change: impl FnOnce(&mut WorkerOptions)) -> WorkerPool {
    let header = r#"{"read":{"extracted":{"markdown":"","title":null,"author":null,"description":null,"language":null,"published_at":null,"canonical_link":null,"labels":[]},"bytes":2}}"#;
    let length: String = header.len().to_le_bytes()[..4].iter().map(|byte| format!("\\{byte:03o}")).collect();
    let script = format!("while read -r line; do {script}; printf '{length}%s%s' '{header}' \"$text\"; done");
    let mut options = WorkerOptions {
        program: PathBuf::from("/bin/sh"),
        args: vec!["-c".into(), script.into()],
        workers: 1,
        slow_workers: 1,
        quick_time: Duration::from_millis(50),
        wall: Duration::from_secs(600),
        ..options()
    };
    change(&mut options);
    WorkerPool::new(options)
}

async fn read(pool: &WorkerPool, organization: u128, lane: Lane, content: &str) -> Result<Extracted, WorkError> {
    let (request, input) = text(&format!("{content}\n"));
    pool.extract(&turn(&organization.to_string(), organization, lane), request, input).await
}

fn start(
    pool: &WorkerPool,
    organization: u128,
    lane: Lane,
    content: &'static str,
) -> JoinHandle<Result<Extracted, WorkError>> {
    let pool = pool.clone();
    tokio::spawn(async move { read(&pool, organization, lane, content).await })
}

async fn soon<T>(outcome: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, outcome).await.expect("an outcome soon")
}

#[tokio::test]
async fn slow_pages_delay_no_page_of_another_organization() {
    let pool = pool(|_| {});
    let slow: Vec<_> = (0..8).map(|_| start(&pool, 1, Lane::Pages, "slow")).collect();
    for _ in 0..3 {
        assert_eq!(soon(read(&pool, 2, Lane::Pages, "quick")).await.expect("a reading").markdown, "ok");
    }
    slow.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
async fn slow_files_of_two_organizations_delay_no_file_of_a_third() {
    let pool = pool(|_| {});
    let slow: Vec<_> = (0..6).map(|n| start(&pool, 1 + n % 2, Lane::Runs, "slow")).collect();
    for _ in 0..3 {
        assert_eq!(soon(read(&pool, 3, Lane::Runs, "quick")).await.expect("a reading").markdown, "ok");
    }
    slow.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
async fn postponed_file_is_read_to_the_end() {
    let pool = pool(|options| options.cpu_seconds = 1);
    let first = start(&pool, 1, Lane::Runs, "slow");
    let second = start(&pool, 1, Lane::Runs, "slow");
    let (first, second) = (first.await.expect("no panic"), second.await.expect("no panic"));
    let outcomes = [first, second].map(|outcome| outcome.expect_err("slow"));
    // One has the slow worker. The other uses the quick one, since nobody else does. Beside other tests, they may starve.
    assert!(outcomes.iter().all(|error| !matches!(error, WorkError::Postponed)));

    let slow: Vec<_> = (0..3).map(|_| start(&pool, 1, Lane::Runs, "slow")).collect();
    let mut postponed = 0;
    for outcome in slow {
        postponed += usize::from(matches!(outcome.await.expect("no panic"), Err(WorkError::Postponed)));
    }
    assert!(postponed > 0, "the third waits, so one of the others gives way");
    let error = read(&pool, 1, Lane::PostponedRuns, "slow").await.expect_err("slow");
    assert!(!matches!(error, WorkError::Postponed));
}

#[tokio::test]
async fn pages_and_runs_have_workers_of_their_own() {
    let pool = pool(|_| {});
    let slow: Vec<_> = (0..4).map(|_| start(&pool, 1, Lane::Runs, "slow")).collect();
    assert!(soon(read(&pool, 1, Lane::Pages, "quick")).await.is_ok());
    slow.iter().for_each(JoinHandle::abort);
    let slow: Vec<_> = (0..4).map(|_| start(&pool, 1, Lane::Pages, "slow")).collect();
    assert!(soon(read(&pool, 1, Lane::Runs, "quick")).await.is_ok());
    slow.iter().for_each(JoinHandle::abort);
}

/// A wait for a worker says nothing about the page.
#[tokio::test]
async fn page_without_a_worker_is_refused() {
    let pool = pool(|options| options.max_page_wait = Duration::from_millis(300));
    let slow: Vec<_> = (0..3).map(|_| start(&pool, 1, Lane::Pages, "slow")).collect();
    let mut refused = 0;
    for outcome in slow.into_iter().skip(1) {
        let outcome = tokio::time::timeout(Duration::from_secs(5), outcome).await;
        refused += usize::from(matches!(outcome, Ok(Ok(Err(WorkError::Overloaded { .. })))));
    }
    assert!(refused > 0);
}

#[tokio::test]
async fn page_has_the_time_limit_of_its_caller() {
    let pool = pool(|options| options.quick_time = SOON);
    let limited = extract_worker::Turn { time_limit: Some(Duration::from_millis(500)), ..turn("one", 1, Lane::Pages) };
    let (request, input) = text("slow\n");
    let error = soon(pool.extract(&limited, request, input)).await.expect_err("slow");
    assert_eq!(kind(error), ExtractErrorKind::TimedOut);
}

/// The worker of a document that computes has low priority, and ends with it. That of one that waits keeps its own.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn slow_documents_leave_the_cores_to_others() {
    let script = "normal=${normal:-$(nice)}
        case \"$line\" in
            *slow*) until [ \"$(nice)\" -gt \"$normal\" ]; do i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done; done;;
            *wait*) sleep 0.5;;
        esac
        [ \"$(nice)\" -eq \"$normal\" ] && text=== || text=lo";
    let pool = pool_of(script, |options| (options.quick_time, options.wall) = (Duration::from_millis(200), SOON));
    for (content, priority) in [("quick", "=="), ("wait", "=="), ("slow", "lo"), ("quick", "==")] {
        let read = soon(read(&pool, 1, Lane::Pages, content)).await.expect("a reading");
        assert_eq!(read.markdown, priority, "{content}");
    }
}

/// Whoever computes until the wall time is over has had too little of the cores.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn lack_of_cores_is_no_failure_of_the_document() {
    let pool = pool(|options| options.wall = Duration::from_secs(2));
    for lane in [Lane::Pages, Lane::Runs] {
        let error = soon(read(&pool, 1, lane, "slow")).await.expect_err("slow");
        assert!(matches!(error, WorkError::Overloaded { .. }), "{error}");
    }
    assert_eq!(pool.idle_workers(), 0);
}
