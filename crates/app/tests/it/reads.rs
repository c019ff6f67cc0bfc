use std::sync::Arc;
use std::time::Duration;

use app::Error;
use app::documents::{
    ContentFormat, Include, Range, ReadOutcome, ReadRequest, ReadWarning, Selection, UnreadableReason,
};
use app::feedback::FeedbackRequest;
use app::web::WebPage;
use ingest::prepare::Extent;
use model::{CaptureId, FeedbackEvent, RunMode};
use test_support::site::{Page, Site};
use test_support::{Setup, Tenant, TestApp, feedback, page, read_id, read_url, search, until};
use uuid::Uuid;

use crate::accounts::refused_field;

const URL: &str = "https://example.com/tides";
const MARKDOWN: &str =
    "A preface on *tides*.\n\n# Moon\n\nThe moon raises the tides.\n\n# Sun\n\nThe sun helps a little.\n";

async fn start() -> (TestApp, Tenant, Site) {
    start_with(Setup::default()).await
}

async fn start_with(setup: Setup) -> (TestApp, Tenant, Site) {
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    (world, tenant, Site::start())
}

async fn read(world: &TestApp, tenant: &Tenant, request: ReadRequest) -> ReadOutcome {
    world.app.read_document(&tenant.viewer, request).await.unwrap()
}

fn text(outcome: &ReadOutcome) -> &str {
    &outcome.content.as_ref().unwrap_or_else(|| panic!("{outcome:?}")).text
}

mod access {
    use super::*;

    #[tokio::test]
    async fn a_document_is_read_by_id_once_it_is_granted() {
        let (world, tenant, _) = start().await;
        let doc_id = world.import_one(page(URL, MARKDOWN)).await;
        let refused = world.app.read_document(&tenant.viewer, read_id(doc_id)).await.unwrap_err();
        assert!(matches!(refused, Error::DocumentNotFound), "{refused:?}");
        world.app.search(&tenant.viewer, search("moon")).await.unwrap();
        assert_eq!(text(&read(&world, &tenant, read_id(doc_id)).await), MARKDOWN);
    }

    #[tokio::test]
    async fn reading_by_address_grants_the_document() {
        let (world, tenant, _) = start().await;
        let doc_id = world.import_one(page(URL, MARKDOWN)).await;
        let by_address = read(&world, &tenant, read_url("https://EXAMPLE.com/tides?utm_source=x#moon")).await;
        assert_eq!((by_address.document.doc_id, text(&by_address)), (doc_id, MARKDOWN));
        assert_eq!(text(&read(&world, &tenant, read_id(doc_id)).await), MARKDOWN);
        let other = world.tenant().await;
        let refused = world.app.read_document(&other.viewer, read_id(doc_id)).await.unwrap_err();
        assert!(matches!(refused, Error::DocumentNotFound), "{refused:?}");
    }

    #[tokio::test]
    async fn an_address_that_cannot_be_one_is_invalid() {
        let (world, tenant, _) = start().await;
        for url in ["", "tides", "ftp://example.com/", "https://"] {
            let outcome = world.app.read_document(&tenant.viewer, read_url(url)).await;
            assert_eq!(refused_field(outcome), "canonical_url", "{url}");
        }
    }

    #[tokio::test]
    async fn an_address_of_a_file_that_cannot_be_one_is_invalid() {
        let (world, tenant, _) = start().await;
        let own = tenant.organization_id;
        let read = async |url: &str, capture_id: Option<CaptureId>| {
            let request = ReadRequest { capture_id, ..read_url(url) };
            world.app.read_document(&tenant.viewer, request).await
        };
        let any_capture = Some(CaptureId(Uuid::from_u128(1)));
        for url in [
            "workspace://".to_owned(),
            "workspace://not-a-uuid/a.pdf".to_owned(),
            format!("workspace://{own}"),
            format!("workspace://{own}/"),
            format!("workspace://{own}/a/b.pdf"),
            format!("workspace://{}/a.pdf", own.0.simple()),
            format!("workspace://{own}/%ff"),
        ] {
            for capture_id in [None, any_capture] {
                assert_eq!(refused_field(read(&url, capture_id).await), "canonical_url", "{url}");
            }
        }
        for url in [format!("workspace://{own}/a.pdf"), format!("workspace://{}/a.pdf", Uuid::nil())] {
            for capture_id in [None, any_capture] {
                let outcome = read(&url, capture_id).await;
                assert!(matches!(outcome, Err(Error::DocumentNotFound)), "{url}: {outcome:?}");
            }
        }
    }
}

mod freshness {
    use super::*;

    #[tokio::test]
    async fn an_unknown_page_is_fetched_once_and_stored() {
        let (world, tenant, site) = start().await;
        let url = site.put("/a", Page::html("<h1>Tides</h1><p>The tides come twice a day.</p>"));
        for _ in 0..2 {
            let outcome = read(&world, &tenant, read_url(&url)).await;
            assert!(text(&outcome).contains("twice a day"));
            assert_eq!((outcome.document.title.as_deref(), outcome.warnings.len()), (Some("Tides"), 0));
        }
        assert_eq!(site.hits("/a"), 1);
        let found = world.app.search(&tenant.viewer, search("tides")).await.unwrap();
        assert!(found.hits.is_empty(), "a page that was only read is not listed");
    }

    #[tokio::test]
    async fn a_fresh_import_is_not_fetched() {
        let (world, tenant, site) = start().await;
        let url = site.put("/a", Page::html("<p>Other words.</p>"));
        world.import_one(page(&url, MARKDOWN)).await;
        assert_eq!(text(&read(&world, &tenant, read_url(&url)).await), MARKDOWN);
        assert_eq!(site.hits("/a"), 0);
    }

    #[tokio::test]
    async fn an_expired_capture_is_replaced() {
        let mut setup = Setup::default();
        setup.options.capture_lifetimes.document = Duration::ZERO;
        let (world, tenant, site) = start_with(setup).await;
        let url = site.put("/a", Page::html("<p>Low tide at six.</p>"));
        let before = read(&world, &tenant, read_url(&url)).await;
        site.put("/a", Page::html("<p>Low tide at seven.</p>"));
        let after = read(&world, &tenant, read_url(&url)).await;
        assert!(text(&before).contains("six") && text(&after).contains("seven"));
        assert_ne!(before.document.latest_capture_id, after.document.latest_capture_id);
        assert_eq!(after.capture_history.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn an_expired_capture_that_has_not_changed_is_confirmed() {
        let mut setup = Setup::default();
        setup.options.capture_lifetimes.document = Duration::ZERO;
        let (world, tenant, site) = start_with(setup).await;
        let url = site.put("/a", Page::html("<p>Low tide at six.</p>").with("ETag", "\"v1\""));
        let before = read(&world, &tenant, read_url(&url)).await;
        let after = read(&world, &tenant, read_url(&url)).await;
        assert_eq!(site.hits("/a"), 2);
        let (before, after) = (before.capture.unwrap(), after.capture.unwrap());
        assert_eq!(before.capture_id, after.capture_id);
        assert!(after.capture_time > before.capture_time);
    }

    #[tokio::test]
    async fn a_stale_result_is_fetched_again() {
        let (world, tenant, site) = start().await;
        let url = site.put("/a", Page::html("<p>Low tide at six.</p>"));
        let doc_id = read(&world, &tenant, read_url(&url)).await.document.doc_id;
        site.put("/a", Page::html("<p>Low tide at seven.</p>"));
        let stale = FeedbackRequest { doc_id: Some(doc_id), ..feedback(FeedbackEvent::StaleResult) };
        world.app.submit_feedback(&tenant.viewer, stale).await.unwrap();
        assert!(text(&read(&world, &tenant, read_id(doc_id)).await).contains("seven"));
    }

    #[tokio::test]
    async fn a_snippet_is_enough_for_passages_but_not_for_the_full_document() {
        let (world, tenant, site) = start().await;
        let url = site.put("/a", Page::html("<p>The whole page about tides.</p>"));
        world.import_one(WebPage { extent: Extent::Snippet, ..page(&url, "A snippet.") }).await;
        let part = ReadRequest { selection: Selection::TopPassages, ..read_url(&url) };
        assert_eq!((text(&read(&world, &tenant, part).await), site.hits("/a")), ("A snippet.", 0));
        assert!(text(&read(&world, &tenant, read_url(&url)).await).contains("The whole page"));
        assert_eq!(site.hits("/a"), 1);
    }

    #[tokio::test]
    async fn a_snippet_of_an_unreadable_page_is_no_full_document() {
        let (world, tenant, site) = start().await;
        let url = site.put("/a", Page::status(500));
        world.import_one(WebPage { extent: Extent::Snippet, ..page(&url, "A snippet.") }).await;
        let outcome = read(&world, &tenant, read_url(&url)).await;
        let reason = Some(UnreadableReason::HttpStatus(500).into());
        assert_eq!(outcome.warnings, [ReadWarning::ContentUnavailable { reason }]);
        assert!(outcome.content.is_none());
        assert_eq!(outcome.passages.unwrap().len(), 1, "the passages of the snippet remain");
    }

    #[tokio::test]
    async fn the_last_good_capture_outlives_an_unreadable_page() {
        let mut setup = Setup::default();
        setup.options.capture_lifetimes.document = Duration::ZERO;
        let (world, tenant, site) = start_with(setup).await;
        let url = site.put("/a", Page::html("<p>Low tide at six.</p>"));
        read(&world, &tenant, read_url(&url)).await;
        site.put("/a", Page::status(500));
        for _ in 0..2 {
            let outcome = read(&world, &tenant, read_url(&url)).await;
            assert!(text(&outcome).contains("six"));
            let capture_time = outcome.capture.unwrap().capture_time;
            let reason = UnreadableReason::HttpStatus(500).into();
            assert_eq!(outcome.warnings, [ReadWarning::StaleContent { capture_time, reason }]);
        }
        assert_eq!(site.hits("/a"), 2, "the failure and its reason are remembered");
    }

    #[tokio::test]
    async fn expired_import_that_cannot_be_read_again_is_stale() {
        let (world, tenant, site) = start().await;
        let url = site.url("/gone");
        world.import_one(page(&url, MARKDOWN)).await;
        assert_eq!(read(&world, &tenant, read_url(&url)).await.warnings, []);
        world.clock.advance(Duration::from_hours(25));
        let outcome = read(&world, &tenant, read_url(&url)).await;
        assert_eq!(text(&outcome), MARKDOWN);
        let capture_time = outcome.capture.unwrap().capture_time;
        let reason = UnreadableReason::HttpStatus(404).into();
        assert_eq!(outcome.warnings, [ReadWarning::StaleContent { capture_time, reason }]);
    }

    #[tokio::test]
    async fn an_unreadable_page_is_left_alone_for_a_while() {
        let (world, tenant, site) = start().await;
        let url = site.url("/missing");
        for _ in 0..2 {
            let outcome = read(&world, &tenant, read_url(&url)).await;
            let reason = Some(UnreadableReason::HttpStatus(404).into());
            assert_eq!(outcome.warnings, [ReadWarning::ContentUnavailable { reason }]);
            assert!(outcome.content.is_none() && outcome.capture.is_none());
        }
        assert_eq!(site.hits("/missing"), 1);
    }

    #[tokio::test]
    async fn concurrent_reads_of_a_page_share_one_fetch() {
        let (world, tenant, site) = start().await;
        let url = site.put("/a", Page::html("<p>The tides.</p>"));
        site.hold();
        let reads: Vec<_> = (0..8)
            .map(|_| {
                let (app, viewer, request) = (Arc::clone(&world.app), tenant.viewer.clone(), read_url(&url));
                tokio::spawn(async move { app.read_document(&viewer, request).await.unwrap() })
            })
            .collect();
        until("the fetch", async || (site.hits("/a") > 0).then_some(())).await;
        site.release();
        for read in reads {
            assert!(text(&read.await.unwrap()).contains("tides"));
        }
        assert_eq!(site.hits("/a"), 1);
    }

    /// A site that does not answer has a queue, and a page for which it is full counts as neither read nor failed.
    #[tokio::test]
    async fn reads_beyond_the_queue_of_a_site_are_refused_and_not_remembered() {
        let (world, tenant, site) = start().await;
        site.hold();
        let urls: Vec<String> = (0..80).map(|n| site.put(&format!("/{n}"), Page::html("<p>The tides.</p>"))).collect();
        let (ended, mut ends) = tokio::sync::mpsc::unbounded_channel();
        for url in urls {
            let (app, viewer, ended) = (Arc::clone(&world.app), tenant.viewer.clone(), ended.clone());
            tokio::spawn(async move {
                let outcome = app.read_document(&viewer, read_url(&url)).await;
                let _ = ended.send((url, outcome));
            });
        }
        let (url, refused) = ends.recv().await.unwrap();
        assert!(matches!(refused, Err(app::Error::Overloaded { .. })), "{refused:?}");
        site.release();
        until("a later read", async || {
            let outcome = world.app.read_document(&tenant.viewer, read_url(&url)).await;
            outcome.is_ok_and(|outcome| text(&outcome).contains("tides")).then_some(())
        })
        .await;
    }

    #[tokio::test]
    async fn metadata_alone_fetches_nothing() {
        let (world, tenant, site) = start().await;
        let url = site.put("/a", Page::html("<p>The tides.</p>"));
        let include = Include { metadata: true, passages: false, capture_history: false, content: false };
        let outcome = read(&world, &tenant, ReadRequest { include, ..read_url(&url) }).await;
        assert_eq!((outcome.warnings.len(), outcome.content.is_none(), site.hits("/a")), (0, true, 0));
        assert_eq!(outcome.document.canonical_url, url);
    }

    #[tokio::test]
    async fn reason_of_an_unreadable_page_is_that_of_its_host() {
        let (world, tenant, site) = start().await;
        for (url, reason) in [
            (site.put("/status", Page::status(418)), UnreadableReason::HttpStatus(418)),
            (site.put("/type", Page::of("video/mp4", "x")), UnreadableReason::UnsupportedType),
            (site.put("/large", Page::of("text/plain", "words ".repeat(3 << 20))), UnreadableReason::TooLarge),
            (site.put("/nothing", Page::html("")), UnreadableReason::NoText),
            (site.put("/damaged", Page::of("application/pdf", "%PDF-1.7 and no more")), UnreadableReason::NoText),
            (site.put("/inward", Page::redirect("http://10.0.0.1/")), UnreadableReason::Unreachable),
            (site.put("/loop", Page::redirect("/loop")), UnreadableReason::Unreachable),
            ("http://10.0.0.1/".to_owned(), UnreadableReason::Unreachable),
            ("http://no-such-host.invalid/".to_owned(), UnreadableReason::Unreachable),
            ("https://127.0.0.1:1/".to_owned(), UnreadableReason::Unreachable),
        ] {
            for _ in 0..2 {
                let warnings = read(&world, &tenant, read_url(&url)).await.warnings;
                assert_eq!(warnings, [ReadWarning::ContentUnavailable { reason: Some(reason.into()) }], "{url}");
            }
        }
    }
}

mod content {
    use super::*;

    /// A tenant that may read a page with [`MARKDOWN`], and the request for it.
    async fn with_page() -> (TestApp, Tenant, ReadRequest) {
        let (world, tenant, _) = start().await;
        world.import_one(page(URL, MARKDOWN)).await;
        (world, tenant, read_url(URL))
    }

    #[tokio::test]
    async fn text_is_markdown_without_its_marks() {
        let (world, tenant, request) = with_page().await;
        let outcome = read(&world, &tenant, ReadRequest { format: ContentFormat::Text, ..request }).await;
        let text = text(&outcome);
        assert!(text.starts_with("A preface on tides.") && !text.contains(['*', '#']), "{text}");
    }

    const CODE: &str = "def __init__(self):\n    a*b*c\n\n\n\tsee [docs](https://x.example/)\n# no heading\n";

    #[tokio::test]
    async fn plain_text_is_returned_unchanged() {
        let (world, tenant, site) = start().await;
        let fetched = site.put("/code.txt", Page::of("text/plain", CODE));
        let json = site.put("/data.json", Page::of("application/json", CODE));
        let imported = "https://example.com/code";
        world.import_one(WebPage { mime: Some("text/plain".to_owned()), ..page(imported, CODE) }).await;
        world.upload(&tenant, "code.txt", CODE).await;
        world.index_files(&tenant, RunMode::Incremental).await;
        let file = format!("workspace://{}/code.txt", tenant.organization_id);
        for url in [&fetched, &json, imported, &file] {
            for format in [ContentFormat::Text, ContentFormat::Markdown] {
                let outcome = read(&world, &tenant, ReadRequest { format, ..read_url(url) }).await;
                assert_eq!(text(&outcome), CODE, "{url} {format:?}");
                let passages: String = outcome.passages.unwrap().into_iter().map(|passage| passage.text).collect();
                assert_eq!(passages, CODE, "{url}");
                let selection = Selection::TopPassages;
                let selected = read(&world, &tenant, ReadRequest { format, selection, ..read_url(url) }).await;
                assert!(
                    text(&selected).starts_with("def __init__(self):\n    a*b*c\n\n\n\tsee [docs](https://x.example/)")
                );
            }
        }
    }

    #[tokio::test]
    async fn code_in_markdown_survives_as_text() {
        let (world, tenant, _) = start().await;
        let markdown = "# A *guide*\n\n```py\ndef __init__(self):\n    return a*b*c\n```\n\n    indented __code__\n\nAnd __bold__.\n";
        world.import_one(page(URL, markdown)).await;
        let format = ContentFormat::Text;
        for selection in [Selection::FullDocument, Selection::TopPassages] {
            let outcome = read(&world, &tenant, ReadRequest { format, selection, ..read_url(URL) }).await;
            let expected = "A guide\n\ndef __init__(self):\n    return a*b*c\n\n    indented __code__\n\nAnd bold.";
            assert_eq!(text(&outcome), expected, "{selection:?}");
        }
    }

    #[tokio::test]
    async fn markdown_served_as_plain_text_is_known_by_its_name() {
        let (world, tenant, site) = start().await;
        let url = site.put("/README.md", Page::of("text/plain", "# Some *words*\n"));
        let outcome = read(&world, &tenant, ReadRequest { format: ContentFormat::Text, ..read_url(&url) }).await;
        assert_eq!(text(&outcome), "Some words");
    }

    /// Sections of about 600 characters, so that each is a passage; only some contain the words.
    fn sections(words: &[&str]) -> String {
        let filler = "It is about something else entirely. ".repeat(16);
        words.iter().enumerate().map(|(n, word)| format!("# Part {n}\n\n{word} {filler}\n\n")).collect()
    }

    #[tokio::test]
    async fn limited_text_holds_the_best_passages() {
        let (world, tenant, _) = start().await;
        let best = "The walrus eats clams. The walrus dives for clams.";
        let weak = "A walrus.";
        world.import_one(page(URL, &sections(&[weak, weak, "Nothing.", weak, weak, weak, weak, best]))).await;
        let query = Some("walrus clams".to_owned());
        let request = ReadRequest { selection: Selection::QueryRelevant, query, ..read_url(URL) };
        let limited =
            async |max_chars, format| read(&world, &tenant, ReadRequest { max_chars, format, ..request.clone() }).await;
        let ordinals = |outcome: &ReadOutcome| {
            outcome.passages.as_ref().unwrap().iter().map(|passage| passage.ordinal).collect::<Vec<_>>()
        };
        let five = limited(None, ContentFormat::Markdown).await;
        assert_eq!(ordinals(&five).len(), 5);
        for format in [ContentFormat::Markdown, ContentFormat::Text] {
            let two = limited(Some(1_400), format).await;
            assert!(text(&two).contains(best) && text(&two).contains(weak));
            assert_eq!((ordinals(&two).len(), two.warnings.len()), (2, 0), "whole passages, in order");
            assert_eq!(ordinals(&two)[1], 7);
            assert!(two.content.unwrap().char_count <= 1_400);
            let all = limited(Some(10_000), format).await;
            assert_eq!((ordinals(&all), all.warnings.len()), (vec![0, 1, 3, 4, 5, 6, 7], 0), "more than five");
            let part = limited(Some(40), format).await;
            assert!(text(&part).contains("The walrus eats"), "{}", text(&part));
            assert_eq!(part.warnings, [ReadWarning::ContentTruncated { field: "content.max_chars", max_chars: 40 }]);
        }
        let range = Some(Range { start_char: 0, max_chars: Some(700), capture_id: None });
        let ranged = read(&world, &tenant, ReadRequest { range, ..request.clone() }).await;
        assert_eq!(ordinals(&ranged), [7]);
    }

    #[tokio::test]
    async fn limited_text_of_a_document_holds_passages_that_marks_span() {
        let (world, tenant, _) = start().await;
        let bold = format!("**{}end.**\n\nThe rest.", "The walrus dives for clams. ".repeat(150));
        world.import_one(page(URL, &bold)).await;
        let (selection, format) = (Selection::FullDocument, ContentFormat::Text);
        let limited = async |max_chars| {
            let max_chars = Some(max_chars);
            let outcome = read(&world, &tenant, ReadRequest { selection, format, max_chars, ..read_url(URL) }).await;
            outcome.passages.unwrap().iter().map(|passage| passage.ordinal).collect::<Vec<_>>()
        };
        assert_eq!(limited(10_000).await, [0, 1, 2, 3]);
        assert_eq!(limited(1_500).await, [0]);
    }

    #[tokio::test]
    async fn query_without_a_match_is_a_warning() {
        let (world, tenant, request) = with_page().await;
        for selection in [Selection::QueryRelevant, Selection::TopPassages] {
            for max_chars in [None, Some(100)] {
                let query = Some("submarine".to_owned());
                let request = ReadRequest { selection, query, max_chars, ..request.clone() };
                let outcome = read(&world, &tenant, request).await;
                assert_eq!(outcome.warnings, [ReadWarning::NoMatch]);
                assert!(outcome.content.is_none() && outcome.passages.unwrap().is_empty());
            }
        }
    }

    #[tokio::test]
    async fn nothing_is_selected_for_an_answer_without_text() {
        let (world, tenant, short) = with_page().await;
        let long = "https://example.com/long";
        world.import_one(page(long, &sections(&["Tides."; 200]))).await;
        let metadata = Include { metadata: true, passages: false, capture_history: false, content: false };
        for request in [short, read_url(long)] {
            let stored = read(&world, &tenant, request.clone()).await;
            for selection in [Selection::PassageIds, Selection::QueryRelevant, Selection::TopPassages] {
                for include in [metadata, Include { capture_history: true, ..metadata }] {
                    let query = Some("submarine".to_owned());
                    let passage_ids = vec!["not an id".to_owned()];
                    let request = ReadRequest { include, selection, query, passage_ids, ..request.clone() };
                    let outcome = read(&world, &tenant, request).await;
                    assert_eq!(outcome.warnings, [], "{selection:?} {include:?}");
                    assert_eq!(outcome.document.headings, stored.document.headings, "{selection:?} {include:?}");
                }
            }
        }
    }

    #[tokio::test]
    async fn a_range_is_cut_in_characters() {
        let (world, tenant, _) = with_page().await;
        world.import_one(page("https://example.com/wide", "日本語のテキスト🦀 and more")).await;
        let request = read_url("https://example.com/wide");
        let range = |start_char, max_chars| Some(Range { start_char, max_chars, capture_id: None });
        for (range, max_chars, expected, truncated) in [
            (range(3, Some(2)), None, "のテ", true),
            (range(8, Some(1)), Some(100), "🦀", true),
            (range(9, None), Some(4), " and", true),
            (range(9, None), None, " and more", false),
            (range(1_000, Some(5)), None, "", false),
            (None, Some(2), "日本", true),
            (None, Some(18), "日本語のテキスト🦀 and more", false),
        ] {
            let request = ReadRequest { range: range.clone(), max_chars, ..request.clone() };
            let outcome = read(&world, &tenant, request).await;
            let content = outcome.content.unwrap();
            assert_eq!((content.text.as_str(), content.truncated), (expected, truncated), "{range:?} {max_chars:?}");
            assert_eq!(content.char_count, expected.chars().count() as u64);
            assert_eq!(content.start_char, range.map_or(0, |range| range.start_char));
            let warned = matches!(outcome.warnings[..], [ReadWarning::ContentTruncated { .. }]);
            assert_eq!(warned, truncated, "{:?}", outcome.warnings);
        }
    }

    #[tokio::test]
    async fn each_selection_has_its_content() {
        let (world, tenant, request) = with_page().await;
        let selected = async |selection, query: Option<&str>| {
            let query = query.map(str::to_owned);
            let outcome = read(&world, &tenant, ReadRequest { selection, query, ..request.clone() }).await;
            let ordinals: Vec<_> = outcome.passages.unwrap().iter().map(|passage| passage.ordinal).collect();
            (outcome.content.map(|content| content.text), ordinals)
        };
        let moon = "# Moon\n\nThe moon raises the tides.";
        assert_eq!(selected(Selection::None, None).await, (None, vec![0, 1, 2]));
        assert_eq!(selected(Selection::FullDocument, None).await, (Some(MARKDOWN.to_owned()), vec![0, 1, 2]));
        assert_eq!(selected(Selection::QueryRelevant, Some("moon")).await, (Some(moon.to_owned()), vec![1]));
        assert_eq!(selected(Selection::TopPassages, Some("moon")).await, (Some(moon.to_owned()), vec![1]));
        assert_eq!(selected(Selection::TopPassages, Some(" ")).await.1, [0, 1, 2], "the first ones without a query");
        assert_eq!(selected(Selection::PassageIds, None).await, (Some(String::new()), vec![]));
    }

    #[tokio::test]
    async fn offsets_are_given_when_asked_for() {
        let (world, tenant, request) = with_page().await;
        let without = read(&world, &tenant, request.clone()).await.passages.unwrap();
        assert!(without.iter().all(|passage| passage.chars.is_none()));
        let with = read(&world, &tenant, ReadRequest { include_offsets: true, ..request }).await.passages.unwrap();
        for passage in with {
            let (start, end) = passage.chars.unwrap();
            let slice: String = MARKDOWN.chars().skip(start as usize).take((end - start) as usize).collect();
            assert_eq!(slice, passage.text);
        }
    }

    #[tokio::test]
    async fn passages_and_ranges_of_an_earlier_capture_are_stale() {
        let (world, tenant, request) = with_page().await;
        let before = read(&world, &tenant, request.clone()).await;
        let passage_id = before.passages.unwrap()[0].passage_id.to_string();
        let requested = before.capture.unwrap().capture_id;
        let by_id = ReadRequest {
            selection: Selection::PassageIds,
            passage_ids: vec![passage_id.clone(), "not an id".to_owned()],
            ..request.clone()
        };
        let range = Some(Range { start_char: 2, max_chars: None, capture_id: Some(requested) });
        let by_range = ReadRequest { range, ..request };
        let expected = [ReadWarning::StalePassageIds { passage_ids: vec!["not an id".to_owned()] }];
        assert_eq!(read(&world, &tenant, by_id.clone()).await.warnings, expected);
        assert_eq!(read(&world, &tenant, by_range.clone()).await.warnings, []);

        world.import_one(page(URL, "Other words about the sea.")).await;
        let passage_ids = vec![passage_id, "not an id".to_owned()];
        assert_eq!(read(&world, &tenant, by_id).await.warnings, [ReadWarning::StalePassageIds { passage_ids }]);
        let outcome = read(&world, &tenant, by_range).await;
        let latest = outcome.capture.unwrap().capture_id;
        assert_eq!(outcome.warnings, [ReadWarning::StaleRange { requested, latest }]);
        assert_eq!(outcome.content.unwrap().text, "her words about the sea.");
    }

    #[tokio::test]
    async fn only_included_sections_are_filled() {
        let (world, tenant, request) = with_page().await;
        let include = Include { metadata: true, passages: false, capture_history: true, content: false };
        let outcome = read(&world, &tenant, ReadRequest { include, ..request }).await;
        assert!(outcome.content.is_none() && outcome.passages.is_none());
        let capture = outcome.capture.unwrap();
        assert_eq!(outcome.capture_history.unwrap()[0].capture_id, capture.capture_id);
        assert_eq!(outcome.document.headings, ["Moon", "Sun"]);
        assert_eq!(outcome.document.content_digest, Some(capture.content_digest));
    }
}
