use std::sync::Arc;

use model::SystemClock;
use serde_json::{Value, json};
use test_support::{Setup, TestApp};

use crate::api::{Answer, Api};

const RESULTS: usize = 6;

/// Five pages and a file. The clock stands still, so that all requests of a test share one window.
async fn api() -> Api {
    let mut setup = Setup::default();
    setup.options.default_rps = 1_000_000;
    Api::with(setup).await.with_pages(5).await.with_files(&["notes.txt"]).await
}

async fn whole(api: &Api, verbosity: &str) -> Answer {
    api.search_both(RESULTS, json!({"verbosity": verbosity})).await
}

async fn within(api: &Api, verbosity: &str, budget: usize, on_exceed: &str) -> Answer {
    let budget = json!({"max_chars_total": budget, "on_exceed": on_exceed});
    api.search_both(RESULTS, json!({"verbosity": verbosity, "budget": budget})).await
}

fn codes(body: &Value) -> Vec<&str> {
    body["warnings"].as_array().map_or(vec![], |list| list.iter().map(|item| item["code"].as_str().unwrap()).collect())
}

fn chars(answer: &Answer) -> usize {
    std::str::from_utf8(&answer.bytes).unwrap().chars().count()
}

#[actix_web::test]
async fn a_budget_is_kept_to_the_character() {
    let api = api().await;
    for verbosity in ["ids_only", "compact", "standard", "full"] {
        let whole = whole(&api, verbosity).await;
        let length = chars(&whole);
        assert!(whole.bytes.len() > length, "the answer has characters of several bytes");
        let exact = within(&api, verbosity, length, "shed").await;
        assert_eq!(chars(&exact), length);
        assert!(exact.json().get("truncated").is_none(), "{verbosity}: what fits is whole");

        let mut shown = usize::MAX;
        for budget in (1..length).rev().step_by(197) {
            let answer = within(&api, verbosity, budget, "shed").await;
            let body = answer.json();
            assert_eq!(body["usage"]["bytes_returned"], answer.bytes.len());
            assert!(!body["results"].as_array().unwrap().is_empty(), "never below one result");
            assert!(body["truncated"] == true || codes(&body).contains(&"budget_unsatisfiable"));
            if !codes(&body).contains(&"budget_unsatisfiable") {
                assert!(chars(&answer) <= budget, "{verbosity}: {} of {budget}", chars(&answer));
                assert!(codes(&body).contains(&"response_truncated"));
            }
            let results = body["results"].as_array().unwrap().len();
            assert!(results <= shown, "less budget never shows more results");
            shown = results;
        }
    }
}

#[actix_web::test]
async fn shedding_names_the_parts_that_were_left_out() {
    let api = api().await;
    let whole = whole(&api, "standard").await;
    let body = within(&api, "standard", chars(&whole) - 1, "shed").await.json();
    let warning = &body["warnings"][0];
    assert_eq!(warning["code"], "response_truncated");
    assert_eq!(warning["details"], json!({"shed_levels": ["passages"]}));
    let passages = |body: &Value| body["results"][0]["passages"].as_array().unwrap().len();
    assert_eq!(passages(&body), passages(&whole.json()), "the tail gives first");

    let body = within(&api, "standard", 1, "shed").await.json();
    let levels = json!(["passages", "snippet_tails", "preset_extras", "tail_results"]);
    assert_eq!(body["warnings"][0]["details"]["shed_levels"], levels);
    assert_eq!(codes(&body), ["response_truncated", "budget_unsatisfiable"]);
    assert_eq!(body["results"].as_array().unwrap().len(), 1);
}

#[actix_web::test]
async fn an_error_is_given_only_when_shedding_does_not_help() {
    let api = api().await;
    let met = within(&api, "full", 2000, "error").await;
    assert_eq!(met.status, 200);
    assert!(chars(&met) <= 2000);
    assert_eq!(met.json()["truncated"], true);

    let unmet = within(&api, "full", 50, "error").await;
    let details = unmet.expect_error(400, "response_too_large");
    assert_eq!(details["field"], "response.budget.max_chars_total");
    assert_eq!(unmet.rate_headers(), 3);
}

#[actix_web::test]
async fn a_search_that_cannot_meet_its_budget_is_not_charged() {
    let mut setup = Setup::default();
    setup.options.search_cents = 3;
    let world = TestApp::with(setup).await;
    let tenant = world.billed_tenant(10).await;
    let api = Api::of(world, tenant, Arc::new(SystemClock)).with_pages(2).await;
    let search = async |budget: usize| {
        let budget = json!({"max_chars_total": budget, "on_exceed": "error"});
        api.search(json!({"query": crate::corpus::QUERY, "response": {"budget": budget}})).await
    };
    for _ in 0..5 {
        search(50).await.expect_error(400, "response_too_large");
    }
    assert_eq!(api.world.balance(&api.tenant).await, 10);
    assert_eq!(search(2000).await.status, 200);
    assert_eq!(api.world.balance(&api.tenant).await, 7);
    let charged: i64 = api.world.ledger(&api.tenant).await.iter().map(|(_, cents)| cents).sum();
    assert_eq!(charged, 7);
    api.world.app.close().await;
    let usage = api.get("/v1/usage").await.json();
    assert_eq!((&usage["headline"]["spend_cents"], &usage["headline"]["errors"]), (&json!(3), &json!(5)));
    assert_eq!(usage["products"][0]["spend_cents"], 3);
}

#[actix_web::test]
async fn titles_stay_and_snippets_go_last() {
    let api = api().await;
    for verbosity in ["compact", "standard", "full"] {
        let length = chars(&whole(&api, verbosity).await);
        for budget in (1..length).step_by(101) {
            let body = within(&api, verbosity, budget, "shed").await.json();
            let results = body["results"].as_array().unwrap();
            assert!(results.iter().all(|hit| hit["title"].is_string()), "{verbosity} {budget}: {body}");
            let links = results.iter().filter(|hit| hit.get("snippet").is_none()).count();
            assert!(links == 0 || results.len() == 1, "{verbosity} {budget}: {body}");
        }
    }
}

#[actix_web::test]
async fn warnings_survive_the_budget() {
    let api = api().await;
    let pages = ["https://other.example/1", "https://other.example/2"];
    api.world.import(pages.map(|url| test_support::page(url, &format!("The tides of {url}.")))).await;
    let body = json!({
        "query": crate::corpus::QUERY,
        "source_policy": {"exclude_domains": ["other.example"]},
        "response": {"verbosity": "chatty", "budget": {"max_chars_total": 1500}},
    });
    let body = api.search(body).await.json();
    assert_eq!(codes(&body), ["unknown_field", "source_policy_filtered", "response_truncated"]);
    assert_eq!(body["warnings"][1]["details"]["filtered_results"], 2);
}

#[actix_web::test]
async fn selected_counts_the_results_that_are_left() {
    let api = api().await;
    let mut counts_seen = 0;
    for budget in (1..3000).step_by(50) {
        let body = within(&api, "ids_only", budget, "shed").await.json();
        if let Some(counts) = body.get("integration_results") {
            let shown = body["results"].as_array().unwrap().iter();
            let workspace =
                shown.filter(|hit| hit["canonical_url"].as_str().unwrap().starts_with("workspace:")).count();
            assert_eq!(counts["selected"], workspace);
            counts_seen += 1;
        }
    }
    assert!(counts_seen > 0);
}
