use std::time::Duration;

use app::Error;
use app::search::{Detail, SearchOutcome, SearchRequest, SourcePolicy, UnknownValues};
use app::web::WebPage;
use engine::EngineErrorKind;
use ingest::clock::from_date_time;
use model::{Collection, IndexName, RunMode, Timestamp};
use test_support::{EngineFault, Setup, Tenant, TestApp, page, search};
use time::macros::datetime;

/// Addresses of the hits, best first.
pub fn urls(outcome: &SearchOutcome) -> Vec<&str> {
    outcome.hits.iter().map(|hit| hit.canonical_url.as_str()).collect()
}

/// A search of the tenant's files alone.
pub fn workspace_search(tenant: &Tenant, query: &str) -> SearchRequest {
    SearchRequest { indexes: vec![IndexName::Workspace], workspace_id: Some(tenant.organization_id), ..search(query) }
}

async fn found(world: &TestApp, tenant: &Tenant, request: SearchRequest) -> SearchOutcome {
    world.app.search(&tenant.viewer, request).await.unwrap()
}

#[tokio::test]
async fn pages_are_ranked_by_relevance() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let titled = WebPage {
        title: Some("Spring tides".to_owned()),
        ..page("https://a.example/", "Spring tides are the highest tides. Spring tides follow the new moon.")
    };
    let mentioned =
        page("https://b.example/", "The harbour is closed in spring. Boats leave with the tides of the morning.");
    let unrelated = page("https://c.example/", "Bread is baked from flour.");
    world.import([unrelated, mentioned, titled]).await;
    let outcome = found(&world, &tenant, search("spring tides")).await;
    assert_eq!(urls(&outcome), ["https://a.example/", "https://b.example/"]);
    assert_eq!(outcome.hits.iter().map(|hit| hit.rank).collect::<Vec<_>>(), [1, 2]);
    assert!(outcome.hits[0].score > outcome.hits[1].score);
    assert_eq!(outcome.ranker_version, "lexical_v6");
    assert!(!outcome.rerank_unavailable && outcome.workspace_total.is_none());
}

#[tokio::test]
async fn a_hit_carries_what_is_stored_of_its_document() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let markdown = "A preface.\n\n# Moon\n\nThe moon raises the tides twice a day.\n";
    let imported = WebPage {
        title: Some("On tides".to_owned()),
        description: Some("A description".to_owned()),
        mime: Some("text/html".to_owned()),
        labels: vec!["science".to_owned()],
        published_at: Some(Timestamp::from_millis(1_767_225_600_000)),
        ..page("https://Example.com/tides?utm_source=x", markdown)
    };
    let doc_id = world.import_one(imported).await;
    let outcome = found(&world, &tenant, search("moon")).await;
    let [hit] = &outcome.hits[..] else { panic!("{outcome:?}") };
    assert_eq!(hit.doc_id, doc_id);
    assert_eq!(hit.canonical_url, "https://example.com/tides");
    assert_eq!(hit.source_url, "https://Example.com/tides?utm_source=x");
    assert_eq!((hit.title.as_deref(), hit.description.as_deref()), (Some("On tides"), Some("A description")));
    assert_eq!((hit.mime.as_deref(), hit.collection), (Some("text/html"), Collection::Web));
    assert_eq!(hit.labels, ["science"]);
    assert!(hit.snippet.contains("moon raises the tides"));
    let passage = &hit.passages[0];
    assert_eq!((&passage.section_path[..], passage.ordinal), (&["Moon".to_owned()][..], 1));
    let chars: String = markdown.chars().skip(passage.chars.start as usize).collect();
    assert!(chars.starts_with(&passage.text));
    assert_eq!(hit.published_at, Some(Timestamp::from_millis(1_767_225_600_000)));
    assert!(hit.content_digest.starts_with("sha256:"));
    let stored = world
        .store
        .read_document(tenant.organization_id, doc_id)
        .await
        .unwrap()
        .and_then(|(_, stored)| stored)
        .unwrap();
    assert_eq!(hit.capture_id, stored.capture.capture_id);
}

#[tokio::test]
async fn detail_bounds_what_is_prepared() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.import_one(page("https://a.example/", "The tides.")).await;
    for (detail, snippet, passages) in
        [(Detail::Ids, false, false), (Detail::Snippets, true, false), (Detail::Passages, true, true)]
    {
        let outcome = found(&world, &tenant, SearchRequest { detail, ..search("tides") }).await;
        let hit = &outcome.hits[0];
        assert_eq!((!hit.snippet.is_empty(), !hit.passages.is_empty()), (snippet, passages), "{detail:?}");
    }
}

#[tokio::test]
async fn number_of_passages_is_limited() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let section = |n: usize| format!("# Part {n}\n\n{}\n\n", "The tides come and go. ".repeat(30));
    world.import_one(page("https://a.example/", &(0..12).map(section).collect::<String>())).await;
    for (passages_per_hit, expected) in [(0, 0), (1, 1), (3, 3), (10, 10)] {
        let outcome = found(&world, &tenant, SearchRequest { passages_per_hit, ..search("tides") }).await;
        assert_eq!(outcome.hits[0].passages.len(), expected);
        assert!(!outcome.hits[0].snippet.is_empty());
    }
}

#[tokio::test]
async fn filters_hold_for_every_hit() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let fits = |name: &str| WebPage {
        language: Some("en-US".to_owned()),
        country: Some("de".to_owned()),
        published_at: Some(Timestamp::from_millis(1_769_904_000_000)), // 2026-02-01
        ..page(&format!("https://{name}.example/"), &format!("The tides of {name}."))
    };
    world
        .import([
            fits("all"),
            WebPage { language: Some("de".to_owned()), ..fits("language") },
            WebPage { country: Some("fr".to_owned()), ..fits("country") },
            WebPage { published_at: Some(Timestamp::from_millis(1_767_000_000_000)), ..fits("old") },
            WebPage { published_at: None, ..fits("undated") },
        ])
        .await;
    assert_eq!(found(&world, &tenant, search("tides")).await.hits.len(), 5);
    let filtered = SearchRequest {
        language: Some("en".to_owned()),
        country: Some("de".to_owned()),
        published_after: Some(from_date_time(datetime!(2026-01-05 00:00 UTC))),
        ..search("tides")
    };
    assert_eq!(urls(&found(&world, &tenant, filtered).await), ["https://all.example/"]);
    let before =
        SearchRequest { published_before: Some(from_date_time(datetime!(2026-01-05 00:00 UTC))), ..search("tides") };
    assert_eq!(urls(&found(&world, &tenant, before).await), ["https://old.example/"]);
}

#[tokio::test]
async fn exact_match_requires_the_phrase() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world
        .import([
            page("https://phrase.example/", "A CAFÉ Noir in the morning."),
            page("https://apart.example/", "A noir film in the café."),
        ])
        .await;
    let exact = SearchRequest { exact_match: true, ..search("cafe noir") };
    assert_eq!(urls(&found(&world, &tenant, exact).await), ["https://phrase.example/"]);
    assert_eq!(found(&world, &tenant, search("cafe noir")).await.hits.len(), 2);
}

#[tokio::test]
async fn exact_match_quotes_the_phrase() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let apart = |n: usize| format!("# Part {n}\n\nThe noir of a cafe, a cafe of the noir, a noir in the cafe.\n\n");
    let phrase =
        format!("# End\n\nOne cafe noir among {}.\n\n# Note\n\nA quiet bay.\n", "many other words ".repeat(50));
    world.import_one(page("https://a.example/", &((0..4).map(apart).collect::<String>() + &phrase))).await;
    let quoted = async |request: SearchRequest| {
        let hit = found(&world, &tenant, SearchRequest { passages_per_hit: 1, ..request }).await.hits.remove(0);
        assert_eq!(hit.passages.len(), 1);
        (hit.passages[0].text.clone(), hit.snippet)
    };
    let (text, _) = quoted(search("cafe noir")).await;
    assert!(!text.contains("One cafe noir"), "{text}");
    let exact = SearchRequest { exact_match: true, ..search("cafe noir") };
    let (text, snippet) = quoted(exact.clone()).await;
    assert!(text.contains("One cafe noir") && snippet.contains("One cafe noir"), "{text} {snippet}");
    let (text, _) = quoted(SearchRequest { search_queries: vec!["quiet bay".to_owned()], ..exact.clone() }).await;
    assert!(text.contains("A quiet bay"), "a passage without the words of the query: {text}");
    let all = found(&world, &tenant, SearchRequest { passages_per_hit: 10, ..exact }).await.hits.remove(0).passages;
    let ordinals: Vec<u32> = all.iter().map(|passage| passage.ordinal).collect();
    assert_eq!(ordinals, [4, 0, 1, 2, 3]);
}

#[tokio::test]
async fn exact_match_finds_a_file_by_its_name() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.upload(&tenant, "zephyr-runbook.md", "# Incident handling\n\nCall the duty officer.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    let exact = |query: &str| SearchRequest { exact_match: true, ..workspace_search(&tenant, query) };
    assert_eq!(found(&world, &tenant, exact("zephyr runbook")).await.hits.len(), 1);
    assert_eq!(found(&world, &tenant, exact("runbook zephyr")).await.hits.len(), 0);
}

#[tokio::test]
async fn copies_of_one_text_leave_room_for_others() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let copies = (0..60).map(|number| page(&format!("https://copies.example/{number}"), "Tides, tides and tides."));
    let others = (0..12).map(|number| {
        let text = format!("The harbour of place {number}, its boats, its bread, and the tides of a long day.");
        page(&format!("https://others.example/{number}"), &text)
    });
    world.import(copies.chain(others).collect::<Vec<_>>()).await;
    let outcome = found(&world, &tenant, SearchRequest { max_results: 10, ..search("tides") }).await;
    let found = urls(&outcome);
    assert_eq!(found.len(), 10);
    assert_eq!(found.iter().filter(|url| url.starts_with("https://copies.example/")).count(), 1);
}

#[tokio::test]
async fn exact_match_is_found_behind_many_documents_with_the_words_apart() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.engine.match_words_apart();
    let apart = (0..300).map(|number| {
        page(&format!("https://apart.example/{number}"), "The noir of a cafe, a cafe of the noir, a noir in the cafe.")
    });
    let body = format!("One cafe noir among {}.", "many other words ".repeat(50));
    world.import(apart.chain([page("https://phrase.example/", &body)]).collect::<Vec<_>>()).await;
    let exact = SearchRequest { exact_match: true, ..search("cafe noir") };
    assert_eq!(urls(&found(&world, &tenant, exact).await), ["https://phrase.example/"]);
    let limits: Vec<usize> = world.engine.requests().iter().map(|request| request.limit).collect();
    assert_eq!(limits, [40, 200, 1_000]);
}

#[tokio::test]
async fn exact_match_counts_no_files_with_the_words_apart() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.engine.match_words_apart();
    world.upload(&tenant, "a.txt", "A noir film in the café.").await;
    world.upload(&tenant, "b.txt", "The café of a noir film.").await;
    let exact = SearchRequest { exact_match: true, ..workspace_search(&tenant, "cafe noir") };
    for phrases in 0..2_usize {
        world.index_files(&tenant, RunMode::Incremental).await;
        let outcome = found(&world, &tenant, exact.clone()).await;
        assert_eq!((outcome.hits.len(), outcome.workspace_total), (phrases, Some(phrases as u64)));
        world.upload(&tenant, "phrase.txt", "A CAFÉ Noir in the morning.").await;
    }
}

#[tokio::test]
async fn exact_match_requires_a_phrase_of_the_texts_sent_to_the_index() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world
        .import([
            page("https://query.example/", "Neap tides are the lowest tides."),
            page("https://first.example/", "The tidal range is smallest at half moon."),
            page("https://second.example/", "A low water of springs."),
            page("https://apart.example/", "The range of a tidal gauge, and water that is low."),
        ])
        .await;
    let exact = |rewrites: &[&str]| SearchRequest {
        exact_match: true,
        search_queries: rewrites.iter().map(|text| (*text).to_owned()).collect(),
        ..search("neap tides")
    };
    for (rewrites, expected) in [
        (&[][..], &["https://query.example/"][..]),
        (&["tidal range"], &["https://first.example/"]),
        (&["tidal range", "low water"], &["https://first.example/", "https://second.example/"]),
        (&["unheard of", " "], &[]),
        (&[" "], &["https://query.example/"]),
    ] {
        let outcome = found(&world, &tenant, exact(rewrites)).await;
        let mut found = urls(&outcome);
        found.sort_unstable();
        assert_eq!(found, expected, "{rewrites:?}");
    }
}

#[tokio::test]
async fn documents_that_lack_a_filtered_value_are_counted() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let of = |name: &str, country: Option<&str>, published_at: Option<i64>| WebPage {
        country: country.map(str::to_owned),
        language: Some("en".to_owned()),
        published_at: published_at.map(Timestamp::from_millis),
        ..page(&format!("https://{name}.example/"), &format!("The tides of {name}."))
    };
    let unmatched = WebPage { markdown: "Bread.".to_owned(), ..of("bread", None, None) };
    world
        .import([
            of("known", Some("de"), Some(1_000)),
            of("other", Some("fr"), None),
            of("nowhere", None, Some(1_000)),
            of("unknown", None, None),
            unmatched,
        ])
        .await;
    world.upload(&tenant, "file.txt", "The tides of a file.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    let both = SearchRequest { indexes: IndexName::ALL.to_vec(), ..workspace_search(&tenant, "tides") };

    let unfiltered = found(&world, &tenant, both.clone()).await;
    assert_eq!((unfiltered.hits.len(), unfiltered.unknown_values), (5, UnknownValues::default()));
    let country = SearchRequest { country: Some("de".to_owned()), ..both.clone() };
    let outcome = found(&world, &tenant, country.clone()).await;
    let own = format!("workspace://{}/file.txt", tenant.organization_id);
    let mut shown = urls(&outcome);
    shown.sort_unstable();
    assert_eq!(shown, ["https://known.example/", &own], "files have no country");
    assert_eq!(outcome.unknown_values, UnknownValues { country: 2, ..UnknownValues::default() });

    let recent = SearchRequest { published_after: Some(Timestamp::from_millis(10)), ..country };
    let outcome = found(&world, &tenant, recent).await;
    assert_eq!(outcome.unknown_values, UnknownValues { country: 2, published_at: 2, ..UnknownValues::default() });
}

#[tokio::test]
async fn a_search_that_finds_nothing_names_the_empty_indexes() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let both = |tenant: &Tenant, query: &str| SearchRequest {
        indexes: IndexName::ALL.to_vec(),
        ..workspace_search(tenant, query)
    };
    assert_eq!(found(&world, &tenant, search("tides")).await.empty_indexes, [IndexName::Web]);
    assert_eq!(found(&world, &tenant, both(&tenant, "tides")).await.empty_indexes, IndexName::ALL);
    world.upload(&tenant, "a.txt", "The tides.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    assert_eq!(found(&world, &tenant, both(&tenant, "tides")).await.empty_indexes, [], "something was found");
    assert_eq!(found(&world, &tenant, both(&tenant, "bread")).await.empty_indexes, [IndexName::Web]);
    assert_eq!(found(&world, &other, workspace_search(&other, "tides")).await.empty_indexes, [IndexName::Workspace]);
    world.import_one(page("https://a.example/", "Flour.")).await;
    assert_eq!(found(&world, &tenant, both(&tenant, "bread")).await.empty_indexes, []);
    let elsewhere = SourcePolicy { require_domain_match: true, ..SourcePolicy::default() };
    let request = SearchRequest { source_policy: elsewhere, ..search("flour") };
    assert_eq!(found(&world, &tenant, request).await.empty_indexes, [], "the policy left nothing, not the index");
}

#[tokio::test]
async fn rewrites_replace_the_query_in_the_first_stage() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world
        .import([
            page("https://one.example/", "Flood is another word."),
            page("https://two.example/", "Ebb is a third word."),
            page("https://three.example/", "The tides themselves."),
        ])
        .await;
    let rewritten = SearchRequest { search_queries: vec!["flood".to_owned(), "ebb".to_owned()], ..search("tides") };
    let outcome = found(&world, &tenant, rewritten).await;
    let mut found = urls(&outcome);
    found.sort_unstable();
    assert_eq!(found, ["https://one.example/", "https://two.example/"]);
}

#[tokio::test]
async fn at_most_max_results_are_returned() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.import((0..60).map(|n| page(&format!("https://example.com/{n}"), &format!("The tides, part {n}.")))).await;
    for max_results in [1, 10, 50] {
        let outcome = found(&world, &tenant, SearchRequest { max_results, ..search("tides") }).await;
        assert_eq!(outcome.hits.len(), max_results);
    }
}

#[tokio::test]
async fn equal_pages_are_one_result_and_equal_files_are_not() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.import([page("https://a.example/", "The same tides."), page("https://b.example/", "The same tides.")]).await;
    assert_eq!(found(&world, &tenant, search("tides")).await.hits.len(), 1);
    for name in ["a.txt", "b.txt"] {
        world.upload(&tenant, name, "The same tides.").await;
    }
    world.index_files(&tenant, RunMode::Incremental).await;
    assert_eq!(found(&world, &tenant, workspace_search(&tenant, "tides")).await.hits.len(), 2);
}

#[tokio::test]
async fn the_workspace_total_counts_all_matches() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.import((0..3).map(|n| page(&format!("https://example.com/{n}"), &format!("The tides, part {n}.")))).await;
    for name in ["a.txt", "b.txt"] {
        world.upload(&tenant, name, &format!("The tides of {name}.")).await;
    }
    world.index_files(&tenant, RunMode::Incremental).await;
    let both = SearchRequest { indexes: IndexName::ALL.to_vec(), ..workspace_search(&tenant, "tides") };
    let outcome = found(&world, &tenant, both.clone()).await;
    assert_eq!(outcome.hits.len(), 5);
    assert_eq!(outcome.workspace_total, Some(2));
    let shorter = found(&world, &tenant, SearchRequest { max_results: 3, ..both }).await;
    assert_eq!(shorter.workspace_total, Some(2), "all matches, not those shown");
}

#[tokio::test]
async fn the_ranked_list_is_recorded_and_its_documents_are_granted() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let doc_ids =
        world.import((0..3).map(|n| page(&format!("https://example.com/{n}"), &"The tides. ".repeat(n + 1)))).await;
    let request = SearchRequest { max_results: 2, ..search("ti\0des") };
    let session_id = request.session_id;
    let outcome = found(&world, &tenant, SearchRequest { search_queries: vec!["tides".to_owned()], ..request }).await;
    let shown: Vec<_> = outcome.hits.iter().map(|hit| hit.doc_id).collect();
    assert_eq!(shown.len(), 2);

    let recorded = world.recorded_search(&tenant, &outcome.search_id.to_string()).await;
    assert_eq!(recorded.results, shown);
    assert_eq!(recorded.query, "tides", "NUL cannot be stored");
    assert_eq!(recorded.session_id.to_string(), session_id.to_string());
    assert_eq!(recorded.identity, tenant.viewer.identity.rate_key());
    for doc_id in doc_ids {
        let granted = world.store.is_granted(tenant.organization_id, doc_id).await.unwrap();
        assert_eq!(granted, shown.contains(&doc_id));
        assert!(!world.store.is_granted(other.organization_id, doc_id).await.unwrap());
    }
}

#[tokio::test]
async fn a_changed_page_is_ranked_and_shown_by_its_new_content() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let steady = page("https://b.example/", "The tides rise, and so do the prices of fish.");
    world.import([page("https://a.example/", "Tides, tides and tides."), steady]).await;
    assert_eq!(urls(&found(&world, &tenant, search("tides")).await)[0], "https://a.example/");
    let changed = page("https://a.example/", "A long text about bread, flour, salt, ovens and at its very end tides.");
    world.import_one(changed).await;
    let outcome = found(&world, &tenant, search("tides")).await;
    assert_eq!(urls(&outcome), ["https://b.example/", "https://a.example/"]);
    assert!(outcome.hits[1].snippet.contains("bread"));
}

#[tokio::test]
async fn engine_failures_are_told_apart() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    for kind in [EngineErrorKind::Unavailable, EngineErrorKind::Corrupt] {
        world.engine.fail(EngineFault::Error(kind));
        let error = world.app.search(&tenant.viewer, search("tides")).await.unwrap_err();
        assert!(matches!(error, Error::Unavailable { backend: "search", .. }), "{kind:?}: {error:?}");
    }
    world.engine.fail(EngineFault::Error(EngineErrorKind::Rejected));
    let error = world.app.search(&tenant.viewer, search("tides")).await.unwrap_err();
    assert!(matches!(error, Error::Internal(_)), "{error:?}");
}

#[tokio::test]
async fn an_engine_that_does_not_answer_in_time_counts_as_down() {
    let mut setup = Setup::default();
    setup.options.engine_timeout = Duration::from_millis(20);
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    world.engine.hold();
    let error = world.app.search(&tenant.viewer, search("tides")).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { backend: "search", .. }), "{error:?}");
}

#[tokio::test]
async fn a_search_that_cannot_read_its_results_fails() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.import_one(page("https://example.com/", "The tides.")).await;
    world.break_database().await;
    let error = world.app.search(&tenant.viewer, search("tides")).await.unwrap_err();
    assert!(matches!(error, Error::Internal(_)), "{error:?}");
}

#[tokio::test]
async fn without_an_index_there_is_no_retrieval() {
    let world = TestApp::with(Setup { retrieval: false, ..Setup::default() }).await;
    let tenant = world.tenant().await;
    let error = world.app.search(&tenant.viewer, search("tides")).await.unwrap_err();
    assert!(matches!(error, Error::NoRetrieval), "{error:?}");
}
