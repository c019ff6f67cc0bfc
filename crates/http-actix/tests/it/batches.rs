//! Reads of several documents in one request.

use std::time::{Duration, Instant};

use actix_web::test::TestRequest;
use http_actix::MemoryLimits;
use model::Scope;
use serde_json::{Value, json};
use test_support::site::{Page, Site};
use test_support::{Setup, page};

use crate::api::{Answer, Api, stopped_clock};

const PATH: &str = "/v1/documents";

async fn read(api: &Api, body: Value) -> Answer {
    let answer = api.post(PATH, &body).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.json());
    answer
}

fn url(n: usize) -> String {
    format!("https://example.com/{n}")
}

/// Pages of these lengths in characters, with a heading and several passages each.
async fn with_pages(lengths: &[usize]) -> Api {
    let api = Api::new().await;
    for (n, length) in lengths.iter().enumerate() {
        let line = format!("Page {n} on \"tides\" 潮.\n\n");
        let text: String = format!("# Page {n}\n\n{}", line.repeat(length / 20 + 1)).chars().take(*length).collect();
        api.world.import_one(page(&url(n), &text)).await;
    }
    api
}

fn chars(text: &Value) -> usize {
    text.as_str().unwrap().chars().count()
}

fn body_chars(answer: &Answer) -> usize {
    std::str::from_utf8(&answer.bytes).unwrap().chars().count()
}

#[actix_web::test]
async fn each_document_has_its_own_outcome_in_the_order_of_the_request() {
    let (api, site) = (with_pages(&[200]).await, Site::start());
    let fetched = site.put("/new", Page::html("<h1>New</h1><p>A page that nobody has read before.</p>"));
    let gone = site.url("/gone");
    let unknown = "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d";
    let documents = json!([
        {"canonical_url": gone},
        {"doc_id": unknown},
        {"canonical_url": url(0)},
        {"canonical_url": "no url"},
        {"canonical_url": fetched},
        {"canonical_url": url(0)},
    ]);
    let answer = read(&api, json!({"documents": documents})).await;
    let body = answer.json();
    let results = body["results"].as_array().unwrap();
    let statuses: Vec<&str> = results.iter().map(|result| result["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["ok", "error", "ok", "error", "ok", "ok"]);
    assert_eq!(results[0]["document"]["warnings"][0]["code"], "content_unavailable");
    assert_eq!(results[1]["error"]["code"], "document_not_found");
    let error = &results[3]["error"];
    let expected = (&json!("validation_error"), &json!("documents[3].canonical_url"));
    assert_eq!((&error["code"], &error["details"]["field"]), expected);
    assert!(results[4]["document"]["content"]["text"].as_str().unwrap().contains("nobody"));
    assert_eq!(results[2], results[5]);
    assert_eq!(body["usage"], json!({"requests": 1, "bytes_returned": answer.bytes.len()}));
    assert!(body.get("truncated").is_none() && body.get("warnings").is_none());

    let single = api.post("/v1/document", &json!({"canonical_url": url(0)})).await.json();
    for field in ["doc", "content", "passages", "capture_history", "provenance"] {
        assert_eq!(results[2]["document"][field], single[field], "{field}");
    }
    let recorded = api.recorded().await;
    assert_eq!(recorded.iter().filter(|(route, status)| route == "POST /v1/documents" && *status == 200).count(), 1);
}

#[actix_web::test]
async fn documents_beyond_the_memory_of_answers_are_errors_of_their_entries() {
    // One large answer at a time.
    let max_wait = Duration::from_millis(500);
    let memory = MemoryLimits { large_response: 16, responses: 64, max_wait, ..MemoryLimits::default() };
    let api = with_pages(&[200, 60_000, 60_000]).await.with_memory(memory);
    let single = TestRequest::post().uri("/v1/document").set_payload(json!({"canonical_url": url(1)}).to_string());
    let unread = api.send_unread(api.authorized(single)).await;
    let documents = json!({"documents": (0..3).map(|n| json!({"canonical_url": url(n)})).collect::<Vec<_>>()});
    let body = read(&api, documents.clone()).await.json();
    let statuses = |body: &Value| -> Vec<String> {
        let results = body["results"].as_array().unwrap().iter();
        results.map(|result| result["status"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(statuses(&body), ["ok", "error", "error"]);
    assert_eq!(body["results"][1]["error"]["code"], "overloaded");
    drop(unread);
    assert_eq!(statuses(&read(&api, documents).await.json()), ["ok", "ok", "ok"]);
}

#[actix_web::test]
async fn unknown_passage_ids_are_not_repeated_in_full() {
    let api = with_pages(&[200]).await;
    let content = json!({"selection": "passage_ids", "passage_ids": ["潮".repeat(300_000), "x"]});
    let documents = vec![json!({"canonical_url": url(0)}); 20];
    let answer = read(&api, json!({"documents": documents, "content": content})).await;
    assert!(answer.bytes.len() < 100_000, "{}", answer.bytes.len());
    for result in answer.json()["results"].as_array().unwrap() {
        let warning = &result["document"]["warnings"][0];
        assert_eq!(warning["code"], "stale_passage_id");
        assert_eq!(warning["details"]["passage_ids"], json!(["潮".repeat(100), "x"]));
    }
}

#[actix_web::test]
async fn documents_share_the_time_of_their_request() {
    let mut setup = Setup::default();
    setup.options.request_timeout = Duration::from_secs(2);
    let (api, site) = (Api::with(setup).await, Site::start());
    api.world.import_one(page(&url(0), "A text that is stored.")).await;
    site.hold();
    let silent = (1..20).map(|n| json!({"canonical_url": site.url(&format!("/{n}"))}));
    let documents: Vec<Value> = [json!({"canonical_url": url(0)})].into_iter().chain(silent).collect();
    let started = Instant::now();
    let body = read(&api, json!({"documents": documents})).await.json();
    let late = api.post(PATH, &json!({"documents": documents[1..]})).await;
    // One after the other, eight at a time, would take twelve seconds.
    assert!(started.elapsed() < Duration::from_secs(9), "{:?}", started.elapsed());
    site.release();
    let results = body["results"].as_array().unwrap();
    assert_eq!((results.len(), &results[0]["status"]), (20, &json!("ok")));
    assert!(results[1..].iter().all(|late| late["error"]["code"] == "overloaded"), "{results:?}");
    late.expect_error(503, "overloaded");
}

#[actix_web::test]
async fn a_slow_page_does_not_keep_the_others_waiting() {
    let (api, site) = (Api::new().await, Site::start());
    let text = |n: usize| Page::html(&format!("<h1>Page {n}</h1><p>The tides of the moon on day {n}.</p>"));
    let slow = site.put("/0", text(0).after(Duration::from_secs(6)));
    let quick = (1..20).map(|n| site.put(&format!("/{n}"), text(n)));
    let documents: Vec<Value> = [slow].into_iter().chain(quick).map(|url| json!({"canonical_url": url})).collect();
    let body = read(&api, json!({"documents": documents, "timeout_ms": 3_000})).await.json();
    let results = body["results"].as_array().unwrap();
    let is_unread = |result: &Value| result["document"]["warnings"][0]["code"] == "content_unavailable";
    assert_eq!((results.len(), is_unread(&results[0])), (20, true), "{}", results[0]);
    for (n, result) in results.iter().enumerate().skip(1) {
        let text = result["document"]["content"]["text"].as_str().unwrap_or_default();
        assert!(text.contains(&format!("day {n}.")), "{n}: {result}");
    }
}

#[actix_web::test]
async fn all_fields_apply_to_each_document() {
    let api = with_pages(&[2_000, 2_000]).await;
    let body = json!({
        "documents": [{"canonical_url": url(0)}, {"canonical_url": url(1)}],
        "include": ["passages", "content"],
        "query": "page",
        "content": {"selection": "query_relevant", "format": "text", "max_passages": 1, "include_offsets": true},
        "cache_only": true,
    });
    let body = read(&api, body).await.json();
    for result in body["results"].as_array().unwrap() {
        let document = &result["document"];
        assert_eq!(document["passages"].as_array().unwrap().len(), 1, "{document}");
        assert_eq!(document["passages"][0]["char_start"], 0);
        assert_eq!((&document["content"]["format"], document.get("capture_history")), (&json!("text"), None));
    }
}

#[actix_web::test]
async fn outline_is_that_of_the_text_however_few_passages_are_listed() {
    let api = Api::new().await;
    let markdown = "A preface.\n\n# Moon\n\nThe moon raises the tides.\n\n# Sun\n\nThe sun helps a little.\n";
    api.world.import_one(page(&url(0), markdown)).await;
    for most in [0, 1] {
        // The text is limited in three ways: by the request, by the share of each document, and not at all.
        let content = json!({"format": "text", "max_passages": most});
        let limited = json!({"format": "text", "max_passages": most, "max_chars": 1_000_000});
        let single = api.post("/v1/document", &json!({"canonical_url": url(0), "content": content})).await.json();
        let capped = api.post("/v1/document", &json!({"canonical_url": url(0), "content": limited})).await.json();
        let several = read(&api, json!({"documents": [{"canonical_url": url(0)}], "content": content})).await.json();
        for document in [&single, &capped, &several["results"][0]["document"]] {
            assert_eq!(document["doc"]["headings"], json!(["Moon", "Sun"]), "{document}");
            assert_eq!(document["content"]["text"], single["content"]["text"]);
            assert_eq!(document["passages"].as_array().unwrap().len(), most);
        }
    }
}

#[actix_web::test]
async fn one_budget_covers_all_documents() {
    let api = with_pages(&[300, 9_000, 6_000]).await;
    let documents: Vec<Value> = (0..3).map(|n| json!({"canonical_url": url(n)})).collect();
    let whole = read(&api, json!({"documents": documents})).await;
    let length = body_chars(&whole);
    let within = async |budget: usize| {
        let shape = json!({"budget": {"max_chars_total": budget}});
        read(&api, json!({"documents": documents, "response": shape})).await
    };
    assert_eq!(within(length).await.json()["results"], whole.json()["results"], "what fits is whole");
    let mut shown = usize::MAX;
    for budget in (6_000..length).rev().step_by(1_999) {
        let answer = within(budget).await;
        let body = answer.json();
        assert!(body_chars(&answer) <= budget, "{} of {budget}", body_chars(&answer));
        assert_eq!((&body["truncated"], &body["warnings"][0]["code"]), (&json!(true), &json!("response_truncated")));
        assert_eq!(body["usage"]["bytes_returned"], answer.bytes.len());
        let texts: Vec<usize> =
            body["results"].as_array().unwrap().iter().map(|one| chars(&one["document"]["content"]["text"])).collect();
        assert_eq!(texts[0], 300, "a short text is not cut: {texts:?}");
        assert!(texts[1] >= texts[2] && texts[2] > 500, "{texts:?}");
        for (n, result) in body["results"].as_array().unwrap().iter().enumerate() {
            let content = &result["document"]["content"];
            assert_eq!(content["char_count"], texts[n]);
            let is_cut = texts[n] < [300, 9_000, 6_000][n];
            assert_eq!(content["truncated"], is_cut);
            let warning = &result["document"]["warnings"][0];
            assert_eq!(warning["code"] == "content_truncated", is_cut, "{warning}");
            assert!(!is_cut || warning["details"]["field"] == "response.budget.max_chars_total", "{warning}");
        }
        assert!(texts.iter().sum::<usize>() <= shown, "less budget never shows more");
        shown = texts.iter().sum();
    }
    let levels = &within(3_500).await.json()["warnings"][0]["details"]["shed_levels"];
    assert_eq!(*levels, json!(["passages", "preset_extras", "content"]));
}

#[actix_web::test]
async fn texts_shorter_than_the_warning_about_their_cut_stay_whole() {
    let lengths: Vec<usize> = [24; 19].into_iter().chain([100_000]).collect();
    let api = with_pages(&lengths).await;
    let documents: Vec<Value> = (0..20).map(|n| json!({"canonical_url": url(n)})).collect();
    let body = |documents: &[Value], budget: Value| {
        let response = json!({"budget": budget});
        json!({"documents": documents, "include": ["metadata", "content"], "response": response})
    };
    let short = body_chars(&read(&api, body(&documents[..19], json!({}))).await);
    for (room, on_exceed) in [(1_500, "error"), (1_500, "shed"), (2_500, "error")] {
        let budget = json!({"max_chars_total": short + room, "on_exceed": on_exceed});
        let answer = read(&api, body(&documents, budget)).await;
        let left = (short + room).checked_sub(body_chars(&answer)).unwrap();
        assert!(left < 40, "{left} more characters of text");
        let answer = answer.json();
        let codes: Vec<Value> =
            answer["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].clone()).collect();
        assert_eq!(codes, ["response_truncated"]);
        let results = answer["results"].as_array().unwrap();
        for result in &results[..19] {
            let document = &result["document"];
            assert_eq!((chars(&document["content"]["text"]), document.get("warnings")), (24, None), "{document}");
        }
        let long = &results[19]["document"];
        assert_eq!(long["warnings"][0]["code"], "content_truncated");
        assert!(chars(&long["content"]["text"]) > 100, "{long}");
    }
}

#[actix_web::test]
async fn a_cut_text_names_the_limit_that_cut_it() {
    let api = with_pages(&[10_000, 400_100]).await;
    // The other documents are unknown, and have their share.
    let cut = async |n: usize, count: usize, content: Value, response: Value| {
        let other = json!({"doc_id": "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d"});
        let mut documents = vec![other; count];
        documents[0] = json!({"canonical_url": url(n)});
        let body = json!({"documents": documents, "include": ["content"], "content": content, "response": response});
        let document = read(&api, body).await.json()["results"][0]["document"].clone();
        assert_eq!(document["warnings"][0]["code"], "content_truncated", "{}", document["warnings"]);
        document["warnings"][0]["details"].clone()
    };
    let budget = |max_chars: u64| json!({"budget": {"max_chars_total": max_chars}});
    let cut_to_budget = |max_chars: u64| json!({"field": "response.budget.max_chars_total", "max_chars": max_chars});
    assert_eq!(cut(0, 1, json!({"max_chars": 20_000}), budget(6_000)).await, cut_to_budget(6_000));
    assert_eq!(cut(0, 1, json!({"range": {"max_chars": 9_000}}), budget(6_000)).await, cut_to_budget(6_000));
    let own = json!({"field": "content.max_chars", "max_chars": 50});
    assert_eq!(cut(0, 1, json!({"max_chars": 50}), budget(6_000)).await, own);
    let share = json!({"max_chars": 400_000});
    assert_eq!(cut(1, 20, json!({}), budget(20_000_000)).await, share);
    assert_eq!(cut(1, 20, json!({"max_chars": 500_000}), json!({})).await, share);
    // Cut for the answer after they were cut by their reads.
    assert_eq!(cut(1, 20, json!({}), budget(400_100)).await, cut_to_budget(400_100));
    assert_eq!(cut(0, 1, json!({"max_chars": 5_900}), budget(6_000)).await, cut_to_budget(6_000));
}

#[actix_web::test]
async fn budget_of_passages_alone_keeps_the_first_ones() {
    let api = with_pages(&[9_000, 9_000]).await;
    let documents: Vec<Value> = (0..2).map(|n| json!({"canonical_url": url(n)})).collect();
    let shape = json!({"budget": {"max_chars_total": 6_000}});
    let answer = read(&api, json!({"documents": documents, "include": ["passages"], "response": shape})).await;
    assert!(body_chars(&answer) <= 6_000);
    for result in answer.json()["results"].as_array().unwrap() {
        let ordinals: Vec<u64> = result["document"]["passages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|passage| passage["ordinal"].as_u64().unwrap())
            .collect();
        assert!(!ordinals.is_empty() && ordinals.iter().copied().eq(0..ordinals.len() as u64), "{ordinals:?}");
    }
}

#[actix_web::test]
async fn budget_that_cannot_be_met_is_a_warning_or_an_error() {
    let api = with_pages(&[300]).await;
    let body = |on_exceed: &str| {
        let budget = json!({"max_chars_total": 10, "on_exceed": on_exceed});
        json!({"documents": [{"canonical_url": url(0)}], "response": {"budget": budget}})
    };
    let answer = read(&api, body("shed")).await.json();
    assert_eq!(answer["warnings"][1]["code"], "budget_unsatisfiable");
    assert_eq!(answer["results"][0]["document"]["content"]["text"], "");
    let details = api.post(PATH, &body("error")).await.expect_error(400, "response_too_large");
    assert_eq!(details["field"], "response.budget.max_chars_total");
}

#[actix_web::test]
async fn a_response_without_texts_says_only_that_it_exceeds_the_budget() {
    let api = Api::new().await;
    let unknown = json!({"doc_id": "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d"});
    let response = json!({"budget": {"max_chars_total": 10}});
    let answer = read(&api, json!({"documents": [unknown], "response": response})).await.json();
    let codes: Vec<&Value> = answer["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
    assert_eq!((codes, answer.get("truncated")), (vec![&json!("budget_unsatisfiable")], None));
}

#[actix_web::test]
async fn documents_need_their_scope_and_belong_to_their_organization() {
    let api = with_pages(&[300]).await.with_files(&["notes.txt"]).await;
    let file = format!("workspace://{}/notes.txt", api.tenant.organization_id);
    let body = json!({"documents": [{"canonical_url": file}]});
    let own = read(&api, body.clone()).await.json();
    assert_eq!(own["results"][0]["document"]["doc"]["name"], "notes.txt");
    let tenant = api.world.tenant().await;
    let other = Api::of(api.world, tenant, stopped_clock());
    assert_eq!(read(&other, body.clone()).await.json()["results"][0]["error"]["code"], "document_not_found");
    let bearer = other.bearer_with(&[Scope::SearchRead]).await;
    let request = actix_web::test::TestRequest::post().uri(PATH).insert_header(("Authorization", bearer));
    other.send(request.set_payload(body.to_string())).await.expect_error(403, "insufficient_scope");
}
