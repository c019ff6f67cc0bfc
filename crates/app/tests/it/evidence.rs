//! Captures that are kept as evidence, and citations of them.

use std::time::Duration;

use app::citations::{Citation, Comparison, Finding, Verification};
use app::documents::{ReadOutcome, ReadRequest};
use app::{Error, ReadLimits, accounts, removal};
use model::{CaptureId, Clock, DocId, RunMode};
use test_support::site::{Page, Site};
use test_support::{Setup, Tenant, TestApp, page, read_id, read_url, search};

use crate::search::workspace_search;

const DAY: Duration = Duration::from_hours(24);

async fn start() -> (TestApp, Tenant) {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    (world, tenant)
}

/// A quote of a document with its place.
fn citation(outcome: &ReadOutcome, quote: &str) -> Citation {
    let text = &outcome.content.as_ref().unwrap().text;
    let start = text[..text.find(quote).unwrap()].chars().count();
    Citation {
        doc_id: outcome.document.doc_id,
        capture_id: Some(outcome.capture.as_ref().unwrap().capture_id),
        quote: quote.to_owned(),
        char_start: Some(start),
        char_end: Some(start + quote.chars().count()),
    }
}

async fn verify(world: &TestApp, tenant: &Tenant, citation: &Citation) -> Verification {
    world.app.verify_citations(&tenant.viewer, vec![citation.clone()]).await.unwrap().remove(0)
}

fn of_capture(doc_id: DocId, capture_id: CaptureId) -> ReadRequest {
    ReadRequest { capture_id: Some(capture_id), ..read_id(doc_id) }
}

async fn read_capture(world: &TestApp, tenant: &Tenant, citation: &Citation) -> Result<ReadOutcome, Error> {
    let request = of_capture(citation.doc_id, citation.capture_id.unwrap());
    world.app.read_document(&tenant.viewer, request).await
}

fn is_gone(finding: &Finding) -> bool {
    finding.capture.is_none() && finding.comparison == Comparison::Missing
}

fn is_exact(finding: &Finding) -> bool {
    matches!(finding.comparison, Comparison::Exact(_))
}

fn text(outcome: &ReadOutcome) -> &str {
    &outcome.content.as_ref().unwrap().text
}

async fn refused(world: &TestApp, tenant: &Tenant, citation: &Citation) -> bool {
    matches!(read_capture(world, tenant, citation).await, Err(Error::DocumentNotFound))
}

#[tokio::test]
async fn changed_character_leaves_yesterdays_citation_verifiable() {
    let ((world, tenant), site) = (start().await, Site::start());
    let url = site.put("/a", Page::html("<h1>Tides</h1><p>Low tide is at 6.10 today.</p><p>High tide follows.</p>"));
    let first = world.app.read_document(&tenant.viewer, read_url(&url)).await.unwrap();
    let (changed, moved) = (citation(&first, "Low tide is at 6.10 today."), citation(&first, "High tide follows."));
    assert!(is_exact(&verify(&world, &tenant, &changed).await.cited));
    world.clock.advance(DAY);
    site.put("/a", Page::html("<h1>Tides</h1><p>Low tide is at 6.9 today.</p><p>High tide follows.</p>"));
    let second = world.app.read_document(&tenant.viewer, read_url(&url)).await.unwrap();
    let latest_id = second.capture.as_ref().unwrap().capture_id;
    assert_ne!(Some(latest_id), changed.capture_id);

    let verified = verify(&world, &tenant, &changed).await;
    assert_eq!(verified.cited.comparison, Comparison::Exact(changed.char_start.unwrap()..changed.char_end.unwrap()));
    assert_eq!(verified.cited.capture.unwrap().capture_id, changed.capture_id.unwrap());
    let Comparison::Changed(nearest) = &verified.latest.comparison else { panic!("{verified:?}") };
    assert_eq!(nearest.text, "Low tide is at 6.9 today.");
    assert_eq!((nearest.replacements[0].removed.as_str(), nearest.replacements[0].added.as_str()), ("10", "9"));
    assert_eq!(verified.latest.capture.unwrap().capture_id, latest_id);
    let verified = verify(&world, &tenant, &moved).await;
    let start = moved.char_start.unwrap();
    assert!(is_exact(&verified.cited));
    assert_eq!(verified.latest.comparison, Comparison::Moved(start - 1..start - 1 + moved.quote.chars().count()));

    let kept = read_capture(&world, &tenant, &changed).await.unwrap();
    assert_eq!((text(&kept), kept.capture.as_ref().unwrap().capture_id), (text(&first), changed.capture_id.unwrap()));
    let ids = |outcome: &ReadOutcome| -> Vec<_> {
        outcome.passages.iter().flatten().map(|passage| passage.passage_id).collect()
    };
    assert_eq!((ids(&kept), kept.warnings.len()), (ids(&first), 0));
    assert_eq!(kept.document.latest_capture_id, Some(latest_id));
    assert_eq!(kept.document.content_digest, second.document.content_digest);
    assert_eq!(kept.capture_history.unwrap()[0].capture_id, latest_id, "of the latest capture");
    let by_url = ReadRequest { capture_id: changed.capture_id, ..read_url(&url) };
    assert_eq!(text(&world.app.read_document(&tenant.viewer, by_url).await.unwrap()), text(&first));
    assert_eq!(site.hits("/a"), 2, "nothing is fetched for evidence");

    world.clock.advance(DAY * 30 - Duration::from_secs(1));
    assert!(is_exact(&verify(&world, &tenant, &changed).await.cited));
    world.clock.advance(Duration::from_secs(1));
    assert!(is_gone(&verify(&world, &tenant, &changed).await.cited));
    assert!(refused(&world, &tenant, &changed).await);
    assert_eq!(site.hits("/a"), 2);
}

#[tokio::test]
async fn capture_of_a_search_result_is_kept() {
    let (world, tenant) = start().await;
    let url = "https://example.com/tides";
    let doc_id = world.import_one(page(url, "The tide rises at six.")).await;
    world.import_one(page(url, "The tide rises at seven.")).await;
    let shown = world.app.search(&tenant.viewer, search("tide")).await.unwrap().hits.remove(0).capture_id;
    world.import_one(page(url, "The tide rises at eight.")).await;
    world.import_one(page(url, "The tide rises at nine.")).await;
    let read = world.app.read_document(&tenant.viewer, of_capture(doc_id, shown)).await.unwrap();
    assert_eq!(text(&read), "The tide rises at seven.");
    let contents = world.store.count_contents().await.unwrap();
    assert_eq!(contents.captures, 2, "nobody saw the others");
    // A later search shows the newest, and what was shown before stays.
    let newest = world.app.search(&tenant.viewer, search("tide")).await.unwrap().hits.remove(0).capture_id;
    world.import_one(page(url, "The tide rises at ten.")).await;
    for (capture_id, hour) in [(shown, "seven"), (newest, "nine")] {
        let read = world.app.read_document(&tenant.viewer, of_capture(doc_id, capture_id)).await.unwrap();
        assert_eq!(text(&read), format!("The tide rises at {hour}."));
    }
}

#[tokio::test]
async fn nothing_is_kept_if_the_operator_wants_so() {
    let mut setup = Setup::default();
    setup.options.retention.evidence = Duration::ZERO;
    let (world, site) = (TestApp::with(setup).await, Site::start());
    let tenant = world.tenant().await;
    let url = site.put("/a", Page::html("<p>Low tide at six.</p>"));
    let first = world.app.read_document(&tenant.viewer, read_url(&url)).await.unwrap();
    let cited = citation(&first, "Low tide at six.");
    site.put("/a", Page::html("<p>Low tide at seven.</p>"));
    let again = ReadRequest { max_age: Some(Duration::ZERO), ..read_url(&url) };
    world.app.read_document(&tenant.viewer, again).await.unwrap();
    assert!(refused(&world, &tenant, &cited).await);
    let verified = verify(&world, &tenant, &cited).await;
    assert!(is_gone(&verified.cited) && matches!(verified.latest.comparison, Comparison::Changed(_)), "{verified:?}");
}

/// An organization with a file of two versions, of which the first was read.
async fn with_replaced_file(world: &TestApp) -> (Tenant, Citation) {
    let tenant = world.tenant().await;
    world.upload(&tenant, "a.txt", "The notice period is 30 days.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    let found = world.app.search(&tenant.viewer, workspace_search(&tenant, "notice")).await.unwrap().hits.remove(0);
    let read = world.app.read_document(&tenant.viewer, read_id(found.doc_id)).await.unwrap();
    let cited = citation(&read, "notice period is 30 days");
    world.upload(&tenant, "a.txt", "The notice period is 60 days, from July on.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    (tenant, cited)
}

#[tokio::test]
async fn replaced_file_keeps_what_was_cited() {
    let (world, stranger) = start().await;
    let (tenant, cited) = with_replaced_file(&world).await;
    let verified = verify(&world, &tenant, &cited).await;
    assert!(is_exact(&verified.cited) && matches!(verified.latest.comparison, Comparison::Changed(_)), "{verified:?}");
    assert_eq!(text(&read_capture(&world, &tenant, &cited).await.unwrap()), "The notice period is 30 days.");

    assert!(refused(&world, &stranger, &cited).await);
    let theirs = verify(&world, &stranger, &cited).await;
    assert!(is_gone(&theirs.cited) && is_gone(&theirs.latest), "{theirs:?}");
    let url = format!("workspace://{}/a.txt", tenant.organization_id);
    let by_url = ReadRequest { capture_id: cited.capture_id, ..read_url(&url) };
    assert_eq!(world.app.read_document(&tenant.viewer, by_url.clone()).await.unwrap().warnings, []);
    assert!(world.app.read_document(&stranger.viewer, by_url).await.is_err());
    // A capture of another document of the organization.
    world.upload(&tenant, "b.txt", "Other words.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    let other = world.app.search(&tenant.viewer, workspace_search(&tenant, "other")).await.unwrap().hits.remove(0);
    let mixed = Citation { doc_id: other.doc_id, ..cited };
    assert!(refused(&world, &tenant, &mixed).await);
    let verified = verify(&world, &tenant, &mixed).await;
    assert!(is_gone(&verified.cited) && verified.latest.capture.is_some());
}

#[tokio::test]
async fn deleted_file_is_gone_with_what_was_cited() {
    let (world, _) = start().await;
    let (tenant, cited) = with_replaced_file(&world).await;
    world.app.delete_file(&tenant.viewer, "a.txt").await.unwrap();
    let verified = verify(&world, &tenant, &cited).await;
    assert!(is_gone(&verified.cited) && is_gone(&verified.latest), "{verified:?}");
    assert!(refused(&world, &tenant, &cited).await);
    world.clock.advance(Duration::from_secs(5));
    world.upload(&tenant, "a.txt", "A new beginning.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    let found = world.app.search(&tenant.viewer, workspace_search(&tenant, "beginning")).await.unwrap().hits.remove(0);
    assert_eq!(found.doc_id, cited.doc_id);
    assert!(refused(&world, &tenant, &cited).await, "the old content does not return");
}

#[tokio::test]
async fn deleted_organization_leaves_no_capture() {
    let (world, other) = start().await;
    let (tenant, _) = with_replaced_file(&world).await;
    let site = Site::start();
    let url = site.put("/a", Page::html("<p>Low tide at six.</p>"));
    for tenant in [&tenant, &other] {
        world.app.read_document(&tenant.viewer, read_url(&url)).await.unwrap();
    }
    site.put("/a", Page::html("<p>Low tide at seven.</p>"));
    let again = ReadRequest { max_age: Some(Duration::ZERO), ..read_url(&url) };
    world.app.read_document(&tenant.viewer, again).await.unwrap();
    assert_eq!(world.store.count_contents().await.unwrap().captures, 5);
    let id = tenant.organization_id;
    accounts::delete_organization(&world.store, "test", world.clock.now(), id).await.unwrap();
    removal::remove_organization(&world.store, world.blobs.as_ref(), world.clock.as_ref(), id).await.unwrap();
    assert_eq!(world.store.count_contents().await.unwrap().captures, 1, "that of the other organization");
}

/// Sentences, each with a word of its own.
fn filler(name: &str, count: usize) -> String {
    (0..count).map(|number| format!("The pump {name}{number} is painted blué and moves water every day.\n\n")).collect()
}

/// Imports a document that is compared in parts.
async fn with_long_document(content: &str) -> (TestApp, Tenant, DocId) {
    let mut setup = Setup::default();
    setup.options.read_limits = ReadLimits { search_bytes: 100_000, selection_bytes: 100_000 };
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    let url = "https://long.example/";
    world.import_one(page(url, content)).await;
    let doc_id = world.app.read_document(&tenant.viewer, read_url(url)).await.unwrap().document.doc_id;
    (world, tenant, doc_id)
}

/// A quote of the latest capture of a document.
fn of_latest(doc_id: DocId, quote: &str, char_start: Option<usize>) -> Citation {
    Citation { doc_id, capture_id: None, quote: quote.to_owned(), char_start, char_end: None }
}

#[tokio::test]
async fn quotes_of_long_documents_are_found_in_the_parts_that_have_their_words() {
    let content = filler("a", 6_000) + "The walrus sleeps on the pump until noon.\n\n" + &filler("b", 3_000);
    let (world, tenant, doc_id) = with_long_document(&content).await;
    let quote = "he walrus sleeps on the pump until noon.\n\nThe pump b0 is paint";
    let place = content[..content.find(quote).unwrap()].chars().count();
    let range = place..place + quote.chars().count();
    let check = async |quote: &str, char_start| {
        let verified = verify(&world, &tenant, &of_latest(doc_id, quote, char_start)).await;
        assert_eq!(verified.cited, verified.latest);
        verified.cited.comparison
    };
    assert_eq!(check(quote, Some(place)).await, Comparison::Exact(range.clone()));
    assert_eq!(check(quote, None).await, Comparison::Exact(range.clone()));
    assert_eq!(check(quote, Some(7)).await, Comparison::Moved(range.clone()));
    assert_eq!(check(quote, Some(usize::MAX)).await, Comparison::Moved(range));
    let Comparison::Changed(nearest) = check("The walrus slept on the pump until noon.", None).await else { panic!() };
    assert_eq!((nearest.text.as_str(), nearest.chars.start), ("The walrus sleeps on the pump until noon.", place - 1));
    assert_eq!(check("Bicycles need two brakes and a bell.", None).await, Comparison::Missing);
    // Words that are in every part.
    assert!(matches!(check("is painted", Some(place)).await, Comparison::Moved(_)));
}

#[tokio::test]
async fn quotes_of_common_words_are_found_in_all_of_a_long_document() {
    let middle = "Of pumps that are painted, the day is water.\n\n";
    let content = filler("a", 6_000) + middle + &filler("b", 3_000) + "水の中で眠る。\n\n" + &filler("c", 2_000);
    let (world, tenant, doc_id) = with_long_document(&content).await;
    let citation = |quote: &str, char_start| of_latest(doc_id, quote, char_start);
    let quotes = [
        // A rare word at an end names the part.
        "that are painted",
        // All words are in every part, and their order is in one of them.
        "the day is water",
        "y is w",
        "中で眠",
    ];
    let citations = quotes.iter().flat_map(|quote| [citation(quote, None), citation(quote, Some(7))]).collect();
    let verified = world.app.verify_citations(&tenant.viewer, citations).await.unwrap();
    for (quote, verified) in quotes.iter().zip(verified.chunks(2)) {
        let place = content[..content.find(quote).unwrap()].chars().count();
        let range = place..place + quote.chars().count();
        assert_eq!(verified[0].cited.comparison, Comparison::Exact(range.clone()), "{quote}");
        assert_eq!(verified[1].cited.comparison, Comparison::Moved(range), "{quote}");
    }
    let changed = verify(&world, &tenant, &citation("the water is painted", None)).await.cited.comparison;
    assert!(matches!(changed, Comparison::Changed(_)), "{changed:?}");
}

#[tokio::test]
async fn quotes_of_cut_words_are_found_in_all_of_a_long_document() {
    let filler = |name: &str, count| filler(name, count).replace("pump", "Quarterly pump");
    let content = filler("a", 6_000) + "The Quarterly report of the walrus.\n\n" + &filler("b", 3_000);
    let (world, tenant, doc_id) = with_long_document(&content).await;
    let quotes = ["Quarterly repor", "uarterly report", "uarterly repor", "repor", "alru", "Quarterly repair", "camel"];
    let citations = quotes.iter().map(|quote| of_latest(doc_id, quote, None)).collect();
    let verified = world.app.verify_citations(&tenant.viewer, citations).await.unwrap();
    for (quote, verified) in quotes.iter().zip(verified) {
        match content.find(quote) {
            Some(place) => {
                let place = content[..place].chars().count();
                let range = place..place + quote.chars().count();
                assert_eq!(verified.cited.comparison, Comparison::Exact(range), "{quote}");
            }
            None => assert!(!is_exact(&verified.cited), "{quote}"),
        }
    }
}

#[tokio::test]
async fn hostile_citations_are_compared_in_bounded_time() {
    let (world, tenant) = start().await;
    let url = "https://long.example/";
    world.import_one(page(url, &("a".repeat(70) + " ").repeat(40_000))).await;
    let doc_id = world.app.read_document(&tenant.viewer, read_url(url)).await.unwrap().document.doc_id;
    let quotes = [
        "a ".repeat(4_096),
        "a".repeat(8_192),
        "e\u{301}".repeat(4_096),
        "\u{0}\u{202e}".repeat(4_096),
        " ".repeat(8_192),
    ];
    let starts = [None, Some(0), Some(1_000_000), Some(usize::MAX)];
    // Each quote with each start.
    let count = quotes.len() * starts.len();
    let citations: Vec<Citation> = (0..count)
        .map(|number| Citation {
            doc_id,
            capture_id: None,
            quote: quotes[number % quotes.len()].clone(),
            char_start: starts[number % starts.len()],
            char_end: None,
        })
        .collect();
    let verified = world.app.verify_citations(&tenant.viewer, citations).await.unwrap();
    assert_eq!(verified.len(), count);
    assert!(verified.iter().all(|one| one.cited.capture.is_some()));
}
