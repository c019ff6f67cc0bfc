//! A disk that is almost full: uploads, indexing and fetches are refused, everything else continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use app::disk::FreeSpace;
use app::documents::{ReadRequest, ReadWarning, Unread};
use app::files::PresignRequest;
use app::search::SearchRequest;
use app::{Error, Quota};
use model::RunMode;
use test_support::site::{Page, Site};
use test_support::{Setup, TestApp, page, read_url, search};

#[tokio::test]
async fn uploads_and_runs_are_refused_and_searches_continue() {
    let checks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&checks);
    let check = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        Err("7 bytes are free".to_owned())
    };
    let setup = Setup { free_space: Arc::new(FreeSpace::new(Arc::new(check))), ..Setup::default() };
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    for _ in 0..10 {
        let request = PresignRequest { filename: "a.txt".to_owned(), size: 1, content_type: None, labels: None };
        let error = world.app.presign_file(&tenant.viewer, request).await.unwrap_err();
        assert!(matches!(error, Error::QuotaExceeded(Quota::Disk)), "{error:?}");
    }
    let error = world.app.start_run(&tenant.viewer, RunMode::Full).await.unwrap_err();
    assert!(matches!(error, Error::QuotaExceeded(Quota::Disk)), "{error:?}");
    assert!(checks.load(Ordering::Relaxed) <= 3, "the check is cached");
    world.import_one(page("https://example.com/", "The tides.")).await;
    let request = SearchRequest { original: Some(r#"{"query":"tides"}"#.to_owned()), ..search("tides") };
    let outcome = world.app.search(&tenant.viewer, request).await.unwrap();
    assert_eq!(outcome.hits.len(), 1);
    let recorded = world.app.recorded_search(&tenant.viewer, &outcome.search_id.to_string()).await.unwrap();
    assert_eq!((recorded.query.as_str(), recorded.request), ("tides", None), "little is written");
    assert!(!world.app.delete_file(&tenant.viewer, "a.txt").await.unwrap());
}

#[tokio::test]
async fn no_page_is_fetched_and_stored_ones_answer() {
    let check = || Err("7 bytes are free".to_owned());
    let setup = Setup { free_space: Arc::new(FreeSpace::new(Arc::new(check))), ..Setup::default() };
    let world = TestApp::with(setup).await;
    let (tenant, site) = (world.tenant().await, Site::start());
    let unknown = site.put("/a", Page::html("<p>Low tide at six.</p>"));
    let known = site.put("/b", Page::html("<p>Low tide at seven.</p>"));
    world.import_one(page(&known, "Low tide at noon.")).await;
    let now = |url: &str| ReadRequest { max_age: Some(Duration::ZERO), ..read_url(url) };
    let outcome = world.app.read_document(&tenant.viewer, now(&unknown)).await.unwrap();
    assert_eq!(outcome.warnings, [ReadWarning::ContentUnavailable { reason: Some(Unread::DiskFull) }]);
    let outcome = world.app.read_document(&tenant.viewer, now(&known)).await.unwrap();
    assert!(outcome.content.is_some_and(|content| content.text.contains("noon")));
    assert!(matches!(outcome.warnings[..], [ReadWarning::StaleContent { reason: Unread::DiskFull, .. }]));
    assert_eq!((site.hits("/a"), site.hits("/b")), (0, 0));
}
