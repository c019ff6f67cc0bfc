//! Confinement of real workers, on systems that lack parts of it.

use bytes::Bytes;
use extract::{ExtractRequest, Extracted, FileKind};
use extract_worker::{Input, Lane, SandboxReport, WorkError, WorkerOptions, WorkerPool};

use crate::lacking::{Lacking, on_a_system};
use crate::worker::{options, turn};

/// Reads a document with workers that require the sandbox, or do not.
async fn read(sandbox_required: bool) -> (SandboxReport, Result<Extracted, WorkError>) {
    let pool = WorkerPool::new(WorkerOptions { sandbox_required, ..options() });
    let report = pool.sandbox_report().await.expect("a report");
    let request = ExtractRequest::new(FileKind::Txt, "a.txt");
    let input = Input::Bytes(Bytes::from_static(b"some words"));
    (report, pool.extract(&turn("one", 1, Lane::Pages), request, input).await)
}

fn read_on(lacking: Lacking, sandbox_required: bool) -> (SandboxReport, Result<Extracted, WorkError>) {
    on_a_system(lacking, move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(read(sandbox_required))
    })
}

#[tokio::test]
async fn workers_are_confined() {
    let (report, read) = read(true).await;
    assert!(report.is_confined(), "{report}");
    assert_eq!(read.expect("a reading").markdown, "some words");
}

/// Many containers have no landlock.
#[test]
fn filter_of_system_calls_confines_without_landlock() {
    let (report, read) = read_on(Lacking::Landlock, true);
    assert_eq!((report.is_confined(), report.missing_layers()), (true, vec!["landlock"]), "{report}");
    assert_eq!(read.expect("a reading").markdown, "some words");
}

#[test]
fn worker_without_protection_refuses_to_run_where_it_is_required() {
    let (report, read) = read_on(Lacking::LandlockAndSeccomp, true);
    assert_eq!(report.open, ["files", "network", "programs"]);
    assert_eq!(report.missing_layers(), ["landlock", "seccomp"]);
    read.expect_err("no worker runs");
    let (report, read) = read_on(Lacking::LandlockAndSeccomp, false);
    assert!(!report.is_confined());
    assert_eq!(read.expect("a reading").markdown, "some words");
}
