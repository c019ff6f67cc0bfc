//! One list of the web and the workspace.

use std::sync::Arc;

use app::search::{SearchOutcome, SearchRequest, SecondStage, SourcePolicy};
use app::web::WebPage;
use model::{IndexName, RunMode};
use retrieval_core::site::Site;
use test_support::{Setup, Tenant, TestApp, TestReranker, page};

use crate::search::{urls, workspace_search};

/// An application with these pages, on `page-N.example`, and these files, `N.txt`.
async fn start(second_stage: SecondStage, pages: &[impl AsRef<str>], files: &[impl AsRef<str>]) -> (TestApp, Tenant) {
    let world = TestApp::with(Setup { second_stage, ..Setup::default() }).await;
    let tenant = world.tenant().await;
    let pages = pages.iter().enumerate();
    world.import(pages.map(|(n, text)| page(&format!("https://page-{n}.example/"), text.as_ref()))).await;
    for (n, text) in files.iter().enumerate() {
        world.upload(&tenant, &format!("{n}.txt"), text.as_ref()).await;
    }
    world.index_files(&tenant, RunMode::Incremental).await;
    (world, tenant)
}

fn both(tenant: &Tenant, query: &str) -> SearchRequest {
    SearchRequest { indexes: IndexName::ALL.to_vec(), ..workspace_search(tenant, query) }
}

async fn found((world, tenant): &(TestApp, Tenant), query: &str, max_results: usize) -> SearchOutcome {
    world.app.search(&tenant.viewer, SearchRequest { max_results, ..both(tenant, query) }).await.unwrap()
}

/// Index of each hit, best first: `p` for a page, `f` for a file.
fn kinds(outcome: &SearchOutcome) -> String {
    let kind = |index| if index == IndexName::Web { 'p' } else { 'f' };
    outcome.hits.iter().map(|hit| kind(hit.collection.index())).collect()
}

const QUERY: &str = "calibration of the tide gauge";
const PAGES: [&str; 8] = [
    "The tide rises twice a day.",
    "A gauge shows the level of the water, whatever the tide.",
    "Bread is baked from flour.",
    "Calibration is the comparison of an instrument with a standard. It is done every year.",
    "The tide gauge stands at the pier. It is painted red.",
    "The tide falls, too.",
    "A pressure gauge is round.",
    "The tide and the moon, and the calibration of clocks.",
];
const ANSWER: &str = "The calibration of the tide gauge is due in May.";

#[tokio::test]
async fn scores_never_rise_with_the_rank() {
    let stages = [
        SecondStage::Lexical,
        SecondStage::Model(Arc::new(TestReranker::preferring("moon"))),
        SecondStage::Model(Arc::new(TestReranker::unreachable())),
        SecondStage::None,
    ];
    for stage in stages {
        let (world, tenant) = start(stage, &PAGES, &["The tide.", ANSWER, "A gauge for wires."]).await;
        for preferred in [None, Some("page-5.example")] {
            for max_results in [1, 2, 3, 5, 20] {
                let include_domains = preferred.iter().map(|domain| Site::parse(domain).unwrap()).collect();
                let source_policy = SourcePolicy { include_domains, ..SourcePolicy::default() };
                let request = SearchRequest { max_results, source_policy, ..both(&tenant, QUERY) };
                let outcome = world.app.search(&tenant.viewer, request).await.unwrap();
                let scores: Vec<f64> = outcome.hits.iter().map(|hit| hit.score).collect();
                assert!(scores.is_sorted_by(|one, next| one >= next), "{}: {scores:?}", outcome.ranker_version);
                let kinds = kinds(&outcome);
                assert!(max_results == 1 || (kinds.contains('p') && kinds.contains('f')), "{kinds}");
            }
        }
    }
}

#[tokio::test]
async fn a_file_that_answers_word_for_word_comes_first() {
    for stage in [SecondStage::Lexical, SecondStage::None] {
        let started = start(stage, &PAGES, &[ANSWER, "The canteen opens at noon.", "The tide."]).await;
        for max_results in [1, 2, 10] {
            let outcome = found(&started, QUERY, max_results).await;
            assert!(outcome.hits[0].canonical_url.ends_with("/0.txt"), "{:?}", urls(&outcome));
        }
    }
}

#[tokio::test]
async fn a_page_that_answers_word_for_word_comes_first() {
    let files = ["The tide.", "A gauge, and the tide.", "Calibration of clocks."];
    let pages = [&PAGES[..], &[ANSWER]].concat();
    for stage in [SecondStage::Lexical, SecondStage::None] {
        let outcome = found(&start(stage, &pages, &files).await, QUERY, 1).await;
        assert_eq!(urls(&outcome), ["https://page-8.example/"]);
    }
}

#[tokio::test]
async fn the_same_text_has_the_same_score_in_either_index() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let texts = ["The gauge of the tide.", "A tide, a gauge and their calibration.", "Tides, tides and tides."];
    let mut titles = Vec::new();
    for (n, text) in texts.iter().enumerate() {
        world.upload(&tenant, &format!("{n}.txt"), text).await;
    }
    world.index_files(&tenant, RunMode::Incremental).await;
    for hit in world.app.search(&tenant.viewer, workspace_search(&tenant, "tides")).await.unwrap().hits {
        titles.push((hit.canonical_url, hit.title));
    }
    titles.sort();
    let twins = texts.iter().zip(&titles).map(|(text, (_, title))| WebPage {
        title: title.clone(),
        ..page(&format!("https://{}.example/", title.as_deref().unwrap_or_default().replace(['.', ' '], "-")), text)
    });
    world.import(twins.collect::<Vec<_>>()).await;
    // Other pages make the statistics of the two collections different.
    let others = PAGES.iter().enumerate().map(|(n, text)| page(&format!("https://page-{n}.example/"), text));
    world.import(others).await;
    let outcome = found(&(world, tenant), QUERY, 20).await;
    for hit in outcome.hits.iter().filter(|hit| hit.collection.index() == IndexName::Workspace) {
        let twin =
            outcome.hits.iter().find(|other| other.content_digest == hit.content_digest && other.rank != hit.rank);
        let twin = twin.unwrap_or_else(|| panic!("{:?}", urls(&outcome)));
        assert!((twin.score - hit.score).abs() < 1e-9, "{} and {}", twin.score, hit.score);
        assert_eq!(twin.rank, hit.rank + 1, "between equals the file comes first");
    }
}

fn texts(count: usize, text: &str) -> Vec<String> {
    (0..count).map(|n| format!("{text} Part {n}.")).collect()
}

#[tokio::test]
async fn neither_index_starves() {
    let strong = texts(40, "The tide gauge and its calibration.");
    let weak = texts(6, "A gauge for wires.");
    let unrelated = texts(100, "Bread is baked from flour.");
    let many_pages = start(SecondStage::Lexical, &[&strong[..], &unrelated].concat(), &weak).await;
    assert_eq!(kinds(&found(&many_pages, QUERY, 10).await), "pppppppppf");
    assert_eq!(kinds(&found(&many_pages, QUERY, 2).await), "pf");
    assert_eq!(kinds(&found(&many_pages, QUERY, 1).await), "p");
    let many_files = start(SecondStage::Lexical, &[&weak[..], &unrelated].concat(), &strong).await;
    assert_eq!(kinds(&found(&many_files, QUERY, 10).await), "fffffffffp");
}

#[tokio::test]
async fn an_index_without_relevant_documents_gets_no_places() {
    let pages = [texts(12, "Zirconium cladding of fuel rods, a report."), texts(60, "A report about water.")].concat();
    let started = start(SecondStage::Lexical, &pages, &["Report: canteen.", "Bread."]).await;
    assert_eq!(kinds(&found(&started, "zirconium cladding of fuel rods report", 10).await), "pppppppppp");
}

#[tokio::test]
async fn an_empty_workspace_leaves_the_web_list_as_it_is() {
    let (world, tenant) = start(SecondStage::Lexical, &PAGES, &["Bread."]).await;
    let alone = world.app.search(&tenant.viewer, test_support::search(QUERY)).await.unwrap();
    let blended = world.app.search(&tenant.viewer, both(&tenant, QUERY)).await.unwrap();
    let scored = |outcome: &SearchOutcome| -> Vec<(String, f64)> {
        outcome.hits.iter().map(|hit| (hit.canonical_url.clone(), hit.score)).collect()
    };
    assert_eq!(scored(&alone), scored(&blended));
}

#[tokio::test]
async fn a_model_scores_both_lists_in_one_call() {
    let model = Arc::new(TestReranker::preferring("May"));
    let started = start(SecondStage::Model(Arc::clone(&model) as _), &PAGES, &[ANSWER, "The tide."]).await;
    let outcome = found(&started, QUERY, 10).await;
    let calls = model.calls();
    let [texts] = &calls[..] else { panic!("{calls:?}") };
    assert!(texts.iter().any(|text| text.contains(ANSWER)) && texts.iter().any(|text| text.contains(PAGES[4])));
    assert!(outcome.hits[0].canonical_url.ends_with("/0.txt"), "{:?}", urls(&outcome));
}
