//! Reads that demand an age of their content.

use std::time::Duration;

use app::Deadline;
use app::documents::{ReadOutcome, ReadRequest, ReadWarning, Unread, UnreadableReason};
use app::web::WebPage;
use ingest::prepare::Extent;
use test_support::site::{Page, Site};
use test_support::{Tenant, TestApp, page, read_url};

async fn start() -> (TestApp, Tenant, Site) {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    (world, tenant, Site::start())
}

async fn read(world: &TestApp, tenant: &Tenant, request: ReadRequest) -> ReadOutcome {
    world.app.read_document(&tenant.viewer, request).await.unwrap()
}

fn text(outcome: &ReadOutcome) -> &str {
    outcome.content.as_ref().map_or("", |content| &content.text)
}

fn aged(url: &str, seconds: u64) -> ReadRequest {
    ReadRequest { max_age: Some(Duration::from_secs(seconds)), ..read_url(url) }
}

fn cached(url: &str) -> ReadRequest {
    ReadRequest { cache_only: true, ..read_url(url) }
}

#[tokio::test]
async fn requested_age_decides_if_a_page_is_fetched() {
    let (world, tenant, site) = start().await;
    let url = site.put("/a", Page::html("<p>Low tide at six.</p>"));
    read(&world, &tenant, read_url(&url)).await;
    site.put("/a", Page::html("<p>Low tide at seven.</p>"));
    assert!(text(&read(&world, &tenant, aged(&url, 60)).await).contains("six"));
    assert!(text(&read(&world, &tenant, aged(&url, 0)).await).contains("seven"));
    assert_eq!(site.hits("/a"), 2);
    world.clock.advance(Duration::from_secs(100));
    site.put("/a", Page::html("<p>Low tide at eight.</p>"));
    assert!(
        text(&read(&world, &tenant, read_url(&url)).await).contains("seven"),
        "the server's own lifetime is longer"
    );
    assert!(text(&read(&world, &tenant, aged(&url, 100)).await).contains("eight"));
    world.clock.advance(Duration::from_hours(48));
    assert!(text(&read(&world, &tenant, aged(&url, 1_000_000)).await).contains("eight"), "an old copy is permitted");
    assert_eq!(site.hits("/a"), 3);
}

#[tokio::test]
async fn copy_that_is_too_old_is_marked_if_the_page_cannot_be_read() {
    let (world, tenant, site) = start().await;
    let url = site.put("/a", Page::html("<p>Low tide at six.</p>"));
    read(&world, &tenant, read_url(&url)).await;
    site.put("/a", Page::status(500));
    let outcome = read(&world, &tenant, aged(&url, 0)).await;
    assert!(text(&outcome).contains("six"));
    let capture_time = outcome.capture.unwrap().capture_time;
    let reason = UnreadableReason::HttpStatus(500).into();
    assert_eq!(outcome.warnings, [ReadWarning::StaleContent { capture_time, reason }]);
}

#[tokio::test]
async fn reading_now_tries_a_failed_page_again_unless_its_host_asked_for_time() {
    let (world, tenant, site) = start().await;
    let url = site.put("/a", Page::status(500));
    let busy = site.put("/busy", Page::status(503).with("Retry-After", "60"));
    for url in [&url, &busy] {
        assert!(read(&world, &tenant, read_url(url)).await.content.is_none());
    }
    site.put("/a", Page::html("<p>Low tide at six.</p>"));
    site.put("/busy", Page::html("<p>High tide at noon.</p>"));
    for url in [&url, &busy] {
        assert!(read(&world, &tenant, read_url(url)).await.content.is_none(), "the failure is remembered");
    }
    assert!(text(&read(&world, &tenant, aged(&url, 0)).await).contains("six"));
    assert!(read(&world, &tenant, aged(&busy, 0)).await.content.is_none());
    world.clock.advance(Duration::from_secs(61));
    assert!(text(&read(&world, &tenant, aged(&busy, 0)).await).contains("noon"));
}

#[tokio::test]
async fn stored_copies_alone_are_read_without_a_fetch() {
    let (world, tenant, site) = start().await;
    let url = site.put("/a", Page::html("<p>Low tide at six.</p>"));
    let outcome = read(&world, &tenant, cached(&url)).await;
    assert_eq!(outcome.warnings, [ReadWarning::ContentUnavailable { reason: Some(Unread::NotStored) }]);
    assert_eq!((outcome.content.is_none(), site.hits("/a")), (true, 0));

    read(&world, &tenant, read_url(&url)).await;
    let outcome = read(&world, &tenant, cached(&url)).await;
    assert_eq!((text(&outcome).contains("six"), outcome.warnings.len()), (true, 0));
    world.clock.advance(Duration::from_hours(25));
    let outcome = read(&world, &tenant, cached(&url)).await;
    assert!(text(&outcome).contains("six"));
    assert!(matches!(outcome.warnings[..], [ReadWarning::StaleContent { reason: Unread::NotStored, .. }]));
    assert_eq!(site.hits("/a"), 1);

    let url = site.put("/b", Page::html("<p>The whole page.</p>"));
    world.import_one(WebPage { extent: Extent::Snippet, ..page(&url, "A snippet.") }).await;
    let outcome = read(&world, &tenant, cached(&url)).await;
    assert_eq!(outcome.warnings, [ReadWarning::ContentUnavailable { reason: Some(Unread::NotStored) }]);
    assert_eq!(site.hits("/b"), 0);
}

#[tokio::test]
async fn fetch_beyond_the_deadline_leaves_the_stored_copy() {
    let (world, tenant, site) = start().await;
    let url = site.put("/a", Page::html("<p>Low tide at six.</p>"));
    read(&world, &tenant, read_url(&url)).await;
    let other = site.put("/b", Page::html("<p>Unknown.</p>"));
    site.hold();
    let limited = |url: &str| ReadRequest { deadline: Deadline::after(Duration::from_millis(30)), ..aged(url, 0) };
    let outcome = read(&world, &tenant, limited(&url)).await;
    assert!(text(&outcome).contains("six"));
    assert!(matches!(outcome.warnings[..], [ReadWarning::StaleContent { reason: Unread::TIMEOUT, .. }]));
    let outcome = read(&world, &tenant, limited(&other)).await;
    assert_eq!(outcome.warnings, [ReadWarning::ContentUnavailable { reason: Some(Unread::TIMEOUT) }]);
    site.release();
    assert!(text(&read(&world, &tenant, read_url(&other)).await).contains("Unknown"), "the timeout is not remembered");
}
