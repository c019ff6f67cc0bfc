use app::clock::from_date_time;
use app::search::SecondStage;
use app::web::WebPage;
use model::Timestamp;
use serde_json::{Value, json};
use test_support::{Setup, page};

use crate::api::{Api, NOW, PUBLIC_URL};
use crate::corpus::QUERY;

async fn search(api: &Api, body: Value) -> Value {
    let answer = api.search(body.clone()).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.json());
    answer.json()
}

/// Addresses of the results, in alphabetical order.
fn urls(body: &Value) -> Vec<&str> {
    let mut urls: Vec<_> =
        body["results"].as_array().unwrap().iter().map(|hit| hit["canonical_url"].as_str().unwrap()).collect();
    urls.sort_unstable();
    urls
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// It is shaped and serialized on another thread than short ones.
#[actix_web::test]
async fn a_large_answer_is_complete_and_states_its_length() {
    let api = Api::new().await;
    let text = |n: usize| format!("The {QUERY} of day {n} come and go.\n\n").repeat(200);
    api.world.import((0..50).map(|n| page(&format!("https://example.com/{n}"), &text(n)))).await;
    let request = json!({"query": QUERY, "max_results": 50, "response": {"verbosity": "full"}});
    let answer = api.search(request).await;
    assert!(answer.bytes.len() > 64 << 10, "{} bytes", answer.bytes.len());
    let body = answer.json();
    assert_eq!(body["results"].as_array().unwrap().len(), 50);
    assert_eq!(body["usage"]["bytes_returned"], answer.bytes.len());
}

#[actix_web::test]
async fn a_bare_query_has_the_documented_defaults() {
    let api = Api::new().await.with_pages(12).await.with_files(&["notes.txt"]).await;
    let body = search(&api, json!({"query": QUERY})).await;
    let results = body["results"].as_array().unwrap();
    assert_eq!(results.len(), 10);
    assert!(results.iter().all(|hit| hit["index"] == "web" && hit["passages"].is_array()));
    assert!(body.get("integration_results").is_none(), "the workspace was not searched");
    let asked = api.world.engine.requests();
    let [asked] = &asked[..] else { panic!("{asked:?}") };
    assert!(!asked.exact_phrase && asked.filters == engine::Filters::default());
    assert_eq!(asked.texts, [QUERY]);
}

/// A page that `filters` and `freshness_policy` find by every field, and one for each field that misses it.
fn filtered_pages() -> Vec<WebPage> {
    let fits = |name: &str| WebPage {
        language: Some("en".to_owned()),
        country: Some("de".to_owned()),
        published_at: Some(Timestamp::from_millis(1_769_904_000_000)), // 2026-02-01
        ..page(&format!("https://{name}.example.com/"), &format!("The neap tides of {name} are low."))
    };
    vec![
        fits("all"),
        WebPage { language: Some("de".to_owned()), ..fits("language") },
        WebPage { country: Some("fr".to_owned()), ..fits("country") },
        WebPage { published_at: Some(Timestamp::from_millis(1_767_000_000_000)), ..fits("old") },
        WebPage { published_at: None, ..fits("undated") },
        WebPage { markdown: "Tides of the neap kind.".to_owned(), ..fits("phrase") },
    ]
}

#[actix_web::test]
async fn every_filter_has_its_effect() {
    let api = Api::new().await;
    api.world.import(filtered_pages()).await;
    let all = search(&api, json!({"query": "neap tides"})).await;
    assert_eq!(urls(&all).len(), 6);
    for (field, value, missing) in [
        ("filters", json!({"country": "DE"}), vec!["country"]),
        ("filters", json!({"language": "En"}), vec!["language"]),
        ("filters", json!({"exact_match": true}), vec!["phrase"]),
        ("freshness_policy", json!({"published_after": "2026-01-05"}), vec!["old", "undated"]),
    ] {
        let body = search(&api, json!({"query": "neap tides", field: value, "client_model": "m"})).await;
        let found = urls(&body);
        assert_eq!(found.len(), 6 - missing.len(), "{field} {value}: {found:?}");
        assert!(!missing.iter().any(|name| found.iter().any(|url| url.contains(name))), "{field} {value}: {found:?}");
    }
}

#[actix_web::test]
async fn every_field_reaches_the_use_case() {
    let api = Api::new().await.with_files(&["notes.txt"]).await;
    let page = |host: &str, word: &str| page(&format!("https://{host}/"), &format!("The {word} tides of {host}."));
    let pages = [("www.example.com", "first"), ("xn--bcher-kva.example", "second"), ("other.example", "first")];
    api.world.import(pages.map(|(host, word)| page(host, word))).await;
    api.world.import([page("x.example", "first")]).await;
    let body = json!({
        "query": "unrelated",
        "max_results": 50,
        "response": {"verbosity": "compact"},
        "scope": {"indexes": ["web", "workspace"], "workspace_id": api.tenant.organization_id.to_string()},
        "search_queries": ["first", " ", "second"],
        "source_policy": {
            "include_domains": ["WWW.Example.com", "bücher.example", "x.example"],
            "exclude_domains": ["x.example"],
            "require_domain_match": true,
        },
    });
    let body = search(&api, body).await;
    assert_eq!(urls(&body), ["https://www.example.com/", "https://xn--bcher-kva.example/"]);
    assert_eq!(body["integration_results"]["total"], 0, "the workspace was searched for the rewrites");
    assert!(body["results"][0]["snippet"].is_string() && body["results"][0].get("passages").is_none());
    assert_eq!(body["warnings"][0]["details"], json!({"filtered_results": 2}));
    let asked = api.world.engine.requests();
    assert!(asked.iter().all(|asked| asked.texts == ["first", "second"]), "a blank rewrite is left out: {asked:?}");
}

/// Paths of all fields, in alphabetical order.
fn fields(value: &Value) -> std::collections::BTreeSet<String> {
    match value {
        Value::Object(object) => object
            .iter()
            .flat_map(|(name, below)| {
                let below = fields(below).into_iter().map(move |field| format!("{name}.{field}"));
                std::iter::once(name.clone()).chain(below)
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(fields).collect(),
        _ => Default::default(),
    }
}

#[actix_web::test]
async fn the_published_example_has_the_fields_of_the_default_verbosity() {
    let api = Api::new().await;
    let crawled = WebPage {
        title: Some("Tides".to_owned()),
        description: Some("Of the moon.".to_owned()),
        labels: vec!["topic:sea".to_owned()],
        mime: Some("text/html".to_owned()),
        published_at: Some(Timestamp::from_millis(1_767_000_000_000)),
        crawled_at: Some(Timestamp::from_millis(1_769_904_000_000)),
        ..page("https://example.com/", "# Tides\n\n## Neap\n\nThe neap tides are low.")
    };
    api.world.import(vec![crawled]).await;
    let answer = search(&api, json!({"query": "neap tides"})).await;
    let document = openapi::document();
    let content = &document["paths"]["/v1/search"]["post"]["responses"]["200"]["content"]["application/json"];
    assert_eq!(fields(&content["examples"]["results"]["value"]), fields(&answer));
}

#[actix_web::test]
async fn sixteen_rewrites_are_searched_and_more_are_refused() {
    let api = Api::new().await;
    let pages = (1..=16).map(|n| page(&format!("https://page-{n}.example/"), &format!("About word{n}.")));
    api.world.import(pages).await;
    let rewrites = |count: usize| (1..=count).map(|n| format!("word{n}")).collect::<Vec<_>>();
    let body = search(&api, json!({"query": "x", "search_queries": rewrites(16), "max_results": 50})).await;
    assert_eq!(body["results"].as_array().unwrap().len(), 16);
    let refused = api.search(json!({"query": "x", "search_queries": rewrites(17)})).await;
    assert_eq!(refused.expect_error(400, "validation_error")["field"], "search_queries");
}

#[actix_web::test]
async fn a_foreign_workspace_is_refused_whatever_is_searched() {
    let api = Api::new().await.with_pages(1).await;
    let foreign = uuid::Uuid::from_u128(1).to_string();
    for indexes in [Value::Null, json!(["web"]), json!(["workspace"]), json!(["web", "workspace"])] {
        let scope = json!({"indexes": indexes, "workspace_id": foreign});
        let refused = api.search(json!({"query": QUERY, "scope": scope})).await;
        assert_eq!(refused.expect_error(400, "validation_error")["field"], "scope.workspace_id");
    }
    let own = json!({"workspace_id": api.tenant.organization_id.to_string()});
    assert_eq!(urls(&search(&api, json!({"query": QUERY, "scope": own})).await).len(), 1);
}

#[actix_web::test]
async fn documents_dropped_for_lack_of_a_value_are_reported() {
    let api = Api::new().await;
    api.world.import(filtered_pages()).await;
    let body =
        search(&api, json!({"query": "neap tides", "freshness_policy": {"published_after": "2026-01-05"}})).await;
    let warning = &body["warnings"][0];
    assert_eq!((&warning["code"], &warning["details"]), (&json!("filter_unknown_values"), &json!({"published_at": 1})));
    let body = search(&api, json!({"query": "neap tides", "filters": {"country": "de", "language": "en"}})).await;
    assert_eq!(body["warnings"], Value::Null, "all pages have both values");
}

#[actix_web::test]
async fn an_empty_index_says_so() {
    let api = Api::new().await.with_files(&["notes.txt"]).await;
    let body = search(&api, json!({"query": QUERY})).await;
    let warning = &body["warnings"][0];
    assert_eq!((&warning["code"], &warning["details"]), (&json!("index_empty"), &json!({"indexes": ["web"]})));
    assert_eq!(body["results"], json!([]));
    let found = api.search_both(10, json!({})).await.json();
    assert_eq!((found["results"].as_array().unwrap().len(), &found["warnings"]), (1, &Value::Null));
}

#[actix_web::test]
async fn null_and_empty_scopes_mean_the_web() {
    let api = Api::new().await.with_pages(1).await.with_files(&["notes.txt"]).await;
    for indexes in [Value::Null, json!([]), json!(["web"]), json!(["web", "web"])] {
        let body = search(&api, json!({"query": QUERY, "search_queries": null, "scope": {"indexes": indexes}})).await;
        assert_eq!(urls(&body), ["https://example.com/1"]);
    }
    let scope = json!({"indexes": ["workspace"], "workspace_id": api.tenant.organization_id.to_string()});
    let body = search(&api, json!({"query": QUERY, "scope": scope})).await;
    assert_eq!(body["results"].as_array().unwrap().len(), 1);
    assert_eq!(body["results"][0]["index"], "workspace");
}

#[actix_web::test]
async fn freshness_is_measured_from_the_clock() {
    let api = Api::new().await;
    let published = |name: &str, days: f64| WebPage {
        published_at: Some(from_date_time(NOW - time::Duration::days(1) * days)),
        ..page(&format!("https://{name}.example/"), &format!("The tides of {name}."))
    };
    api.world.import([published("young", 6.9), published("old", 7.1)]).await;
    let body = search(&api, json!({"query": QUERY, "freshness_policy": {"freshness": "pw"}})).await;
    assert_eq!(urls(&body), ["https://young.example/"]);
}

#[actix_web::test]
async fn ids_only_shows_ids_and_no_access() {
    let api = Api::new().await.with_pages(3).await.with_files(&["a.txt", "b.txt"]).await;
    let body = api.search_both(4, json!({"verbosity": "ids_only"})).await.json();
    for hit in body["results"].as_array().unwrap() {
        assert_eq!(keys(hit), ["canonical_url", "doc_id", "rank", "title"]);
    }
    assert!(body.get("access").is_none());
    let selected = urls(&body).iter().filter(|url| url.starts_with("workspace:")).count();
    assert!((1..=2).contains(&selected));
    assert_eq!(body["integration_results"], json!({"total": 2, "selected": selected, "href": "/v1/files"}));
    let below = api.at("https://example.com/search/api");
    let body = below.search_both(4, json!({"verbosity": "ids_only"})).await.json();
    assert_eq!(body["integration_results"]["href"], "/search/api/v1/files");
}

#[actix_web::test]
async fn presets_add_to_each_other() {
    let api = Api::new().await.with_pages(1).await.with_files(&["notes.txt"]).await;
    let with = async |verbosity: &str| api.search_both(2, json!({"verbosity": verbosity})).await.json();
    let compact = with("compact").await;
    let hit = &compact["results"][0];
    assert!(hit["snippet"].is_string() && hit["score"]["value"].as_f64() > Some(0.0) && hit["metadata"].is_object());
    assert!(hit.get("passages").is_none() && hit.get("provenance").is_none());

    let standard = with("standard").await;
    let mut results = standard["results"].as_array().unwrap().clone();
    results.sort_by_key(|hit| hit["index"].as_str().unwrap().to_owned());
    let [web, workspace] = &results[..] else { panic!("{standard}") };
    assert_eq!((&web["index"], &workspace["index"]), (&json!("web"), &json!("workspace")));
    assert_eq!(workspace["labels"], json!(["kind:txt"]));
    assert!(workspace["source_uri"].as_str().unwrap().starts_with("s3://"));
    assert!(web.get("source_uri").is_none(), "absent values are left out");
    assert_eq!(web["labels"], Value::Null, "shown as null when there are none");
    assert!(web.as_object().unwrap().contains_key("labels"));
    assert_eq!(web["source_url"], "https://example.com/1?utm_source=x");
    assert_eq!((&web["mime"], &web["description"]), (&json!("text/html"), &json!("A description")));
    let passages = web["passages"].as_array().unwrap();
    assert_eq!(passages.len(), 3);
    let first = passages.iter().find(|passage| passage["ordinal"] == 0).unwrap();
    assert_eq!((&first["section_path"], first["char_start"].as_u64()), (&Value::Null, Some(0)));
    let last = passages.iter().find(|passage| passage["ordinal"] == 2).unwrap();
    assert_eq!(last["section_path"], json!(["Root", "Überschrift"]));
    assert_eq!(last["section_heading"], "Überschrift");
    assert!(web.get("provenance").is_none());

    let full = with("full").await;
    assert_eq!(keys(&full["results"][0]["provenance"]), ["capture_id", "capture_time"]);
}

#[actix_web::test]
async fn the_page_carries_its_identity_and_ranking() {
    let api = Api::new().await.with_pages(1).await;
    let answer = api.search(json!({"query": QUERY})).await;
    let body = answer.json();
    assert_eq!(body["$schema"], format!("{PUBLIC_URL}/schemas/SearchResponse.json"));
    let recorded = api.world.recorded_search(&api.tenant, body["search_id"].as_str().unwrap()).await;
    assert_eq!(recorded.query, QUERY);
    assert_eq!(body["ranking"], json!({"ranker_version": "lexical_v6", "score_scope": "response"}));
    assert_eq!(body["warnings"], Value::Null);
    assert!(body.get("truncated").is_none());
    assert_eq!(answer.header("Content-Type"), Some("application/json"));
}

#[actix_web::test]
async fn bytes_returned_is_the_length_of_the_body() {
    let api = Api::new().await.with_pages(11).await;
    for verbosity in ["ids_only", "compact", "standard", "full"] {
        let nothing = api.search(json!({"query": "nowhere", "response": {"verbosity": verbosity}})).await;
        assert_eq!(nothing.json()["results"], json!([]));
        assert_eq!(nothing.json()["usage"]["bytes_returned"], nothing.bytes.len());
        for hits in 1..12 {
            let body = json!({"query": QUERY, "max_results": hits, "response": {"verbosity": verbosity}});
            let answer = api.search(body).await;
            assert_eq!(answer.json()["results"].as_array().unwrap().len(), hits);
            assert_eq!(answer.json()["usage"], json!({"requests": 1, "bytes_returned": answer.bytes.len()}));
        }
    }
}

#[actix_web::test]
async fn no_results_are_an_empty_list() {
    let api = Api::new().await;
    let body = api.search_both(10, json!({})).await.json();
    assert_eq!(body["results"], json!([]));
    assert_eq!(body["integration_results"]["selected"], 0);
}

#[actix_web::test]
async fn warnings_name_every_deviation() {
    let setup = Setup { second_stage: SecondStage::None, ..Setup::default() };
    let api = Api::with(setup).await.with_pages(4).await;
    api.world.import_one(page("https://other.example/", "The tides.")).await;
    for verbosity in ["chatty", "ids_only"] {
        let body = json!({"query": QUERY, "response": {"verbosity": verbosity},
            "source_policy": {"exclude_domains": ["example.com"]}});
        let body = search(&api, body).await;
        let warnings = body["warnings"].as_array().unwrap();
        let codes: Vec<_> = warnings.iter().map(|warning| warning["code"].as_str().unwrap()).collect();
        if verbosity == "chatty" {
            assert_eq!(codes, ["unknown_field", "source_policy_filtered", "rerank_unavailable"]);
            assert_eq!(warnings[0]["details"], json!({"field": "response.verbosity", "value": "chatty"}));
            assert_eq!(warnings[1]["details"], json!({"filtered_results": 4}));
            assert!(warnings[2].get("details").is_none());
            assert!(body["results"][0]["passages"].is_array(), "answered as standard");
        } else {
            assert_eq!(codes, ["source_policy_filtered", "rerank_unavailable"]);
        }
        assert!(body.get("integration_results").is_none());
    }
}

#[actix_web::test]
async fn long_lists_of_domains_are_refused() {
    let api = Api::new().await;
    let domains: Vec<String> = (0..40_000).map(|n| format!("{n}.example")).collect();
    let answer = api.search(json!({"query": "tides", "source_policy": {"exclude_domains": domains}})).await;
    answer.expect_invalid("source_policy.exclude_domains");
    let message = answer.json()["error"]["message"].clone();
    assert_eq!(message, "source_policy.exclude_domains must have at most 1000 items, not 40000");
    assert_eq!(api.searches(), 0);
}

#[actix_web::test]
async fn number_of_passages_per_result_is_limited() {
    let api = Api::new().await.with_pages(3).await;
    for (verbosity, limit, expected) in
        [("standard", None, 3), ("standard", Some(1), 1), ("full", Some(2), 2), ("standard", Some(10), 3)]
    {
        let mut response = json!({"verbosity": verbosity});
        if let Some(limit) = limit {
            response["max_passages_per_result"] = json!(limit);
        }
        let body = search(&api, json!({"query": QUERY, "response": response})).await;
        for hit in body["results"].as_array().unwrap() {
            assert_eq!(hit["passages"].as_array().unwrap().len(), expected, "{verbosity} {limit:?}");
        }
    }
    let body = search(&api, json!({"query": QUERY, "response": {"max_passages_per_result": 0}})).await;
    assert!(body["results"].as_array().unwrap().iter().all(|hit| hit.get("passages").is_none()), "{body}");
    assert!(body["results"][0]["snippet"].is_string() && body["results"][0]["mime"].is_string());
}

#[actix_web::test]
async fn size_of_each_result_is_limited() {
    let api = Api::new().await.with_pages(3).await.with_files(&["notes.txt"]).await;
    for limit in [300, 450, 700, 1_000, 1_500] {
        let answer = api.search_both(5, json!({"max_chars_per_result": limit})).await;
        let body = answer.json();
        for hit in body["results"].as_array().unwrap() {
            assert!(hit.to_string().chars().count() <= limit, "{limit}: {hit}");
            assert!(limit < 700 || hit["passages"][0]["text"].is_string(), "{limit}: {hit}");
            for passage in hit["passages"].as_array().into_iter().flatten() {
                let length = passage["text"].as_str().unwrap().chars().count() as u64;
                assert_eq!(passage["char_end"].as_u64().unwrap() - passage["char_start"].as_u64().unwrap(), length);
            }
        }
        assert!(body.get("truncated").is_none() && body["warnings"].is_null(), "the caller asked for it");
    }
}

#[actix_web::test]
async fn files_are_named() {
    let api = Api::new().await.with_pages(1).await.with_files(&["meine notizen.txt"]).await;
    for verbosity in ["compact", "standard"] {
        let body = api.search_both(5, json!({"verbosity": verbosity})).await.json();
        for hit in body["results"].as_array().unwrap() {
            let name = (hit["index"] == "workspace").then_some("meine notizen.txt");
            assert_eq!(hit.get("name").and_then(Value::as_str), name, "{hit}");
        }
    }
}

#[actix_web::test]
async fn bounds_of_time_and_sites_reach_the_index() {
    let api = Api::new().await;
    api.world.import(filtered_pages()).await;
    let policy = json!({"published_after": "2025-12-01", "published_before": "2026-01-05"});
    let body = search(&api, json!({"query": "neap tides", "freshness_policy": policy})).await;
    assert_eq!(urls(&body), ["https://old.example.com/"]);
    let counts = &body["warnings"][0];
    assert_eq!((&counts["code"], &counts["details"]["published_at"]), (&json!("filter_unknown_values"), &json!(1)));
    let under = |path: &str| page(&format!("https://paths.example{path}"), "The neap tides of a path.");
    api.world.import([under("/docs/a"), under("/docsets"), under("/blog")]).await;
    let policy = json!({"include_domains": ["Paths.example/docs/"], "require_domain_match": true});
    let body = search(&api, json!({"query": "neap tides", "source_policy": policy})).await;
    assert_eq!(urls(&body), ["https://paths.example/docs/a"]);
    assert_eq!(body["warnings"][0]["message"], "8 results removed by source_policy");
}

#[actix_web::test]
async fn search_that_ran_out_of_time_says_so() {
    let api = Api::new().await.with_pages(2).await.with_files(&["notes.txt"]).await;
    let scope = json!({"indexes": ["web", "workspace"], "workspace_id": api.tenant.organization_id.to_string()});
    let body = |timeout: u64| json!({"query": QUERY, "scope": scope, "timeout_ms": timeout});
    assert!(search(&api, body(60_000)).await.get("degraded").is_none());
    api.world.engine.hold_index(model::IndexName::Workspace);
    let answer = search(&api, body(40)).await;
    assert_eq!((&answer["degraded"], urls(&answer).len()), (&json!(true), 2));
    api.world.engine.release();
}
