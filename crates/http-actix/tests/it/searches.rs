use app::search::Detail;
use model::{IndexName, OrganizationId, Timestamp};
use retrieval_core::domain::Domain;
use serde_json::{Value, json};
use time::macros::datetime;
use uuid::Uuid;

use crate::api::{Api, NOW, PUBLIC_URL};
use crate::fake::{ORGANIZATION, outcome};

async fn asked(api: &Api, body: Value) -> app::search::SearchRequest {
    let answer = api.search(body.clone()).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.json());
    api.service.searches.lock().unwrap().pop().unwrap()
}

#[actix_web::test]
async fn a_bare_query_has_the_documented_defaults() {
    let request = asked(&Api::new(), json!({"query": "x"})).await;
    assert_eq!((request.max_results, request.indexes), (10, vec![IndexName::Web]));
    assert_eq!((request.detail, request.exact_match), (Detail::Passages, false));
    assert_eq!((request.published_after, request.language, request.country), (None, None, None));
    assert!(request.search_queries.is_empty() && request.workspace_id.is_none());
}

#[actix_web::test]
async fn every_field_reaches_the_use_case() {
    let request = asked(
        &Api::new(),
        json!({
            "query": "x",
            "client_model": "m",
            "filters": {"country": "DE", "language": "En", "exact_match": true},
            "freshness_policy": {"published_after": "2026-01-05", "freshness": "pd"},
            "max_results": 50,
            "response": {"verbosity": "compact"},
            "scope": {"indexes": ["web", "workspace"], "workspace_id": ORGANIZATION.0},
            "search_queries": ["first", " ", "second"],
            "source_policy": {
                "include_domains": ["WWW.Example.com", "bücher.example"],
                "exclude_domains": ["x.example"],
                "require_domain_match": true,
            },
        }),
    )
    .await;
    assert_eq!((request.country.as_deref(), request.language.as_deref()), (Some("de"), Some("en")));
    assert!(request.exact_match);
    assert_eq!(request.indexes, [IndexName::Web, IndexName::Workspace]);
    assert_eq!(request.published_after, Some(timestamp(datetime!(2026-01-05 00:00 UTC))));
    assert_eq!((request.max_results, request.detail), (50, Detail::Snippets));
    assert_eq!(request.workspace_id, Some(OrganizationId(ORGANIZATION)));
    assert_eq!(request.search_queries, ["first", "second"], "a blank rewrite is none");
    let names = |domains: &[Domain]| domains.iter().map(|domain| domain.as_str().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&request.source_policy.include_domains), ["example.com", "xn--bcher-kva.example"]);
    assert_eq!(names(&request.source_policy.exclude_domains), ["x.example"]);
    assert!(request.source_policy.require_domain_match);
}

#[actix_web::test]
async fn null_and_empty_scopes_mean_the_web() {
    let api = Api::new();
    for indexes in [Value::Null, json!([]), json!(["web"]), json!(["web", "web"])] {
        let request = asked(&api, json!({"query": "x", "search_queries": null, "scope": {"indexes": indexes}})).await;
        assert!(request.indexes.iter().all(|index| *index == IndexName::Web) && !request.indexes.is_empty());
    }
    let request = asked(&api, json!({"query": "x", "scope": {"indexes": ["workspace"]}})).await;
    assert_eq!(request.indexes, [IndexName::Workspace]);
}

#[actix_web::test]
async fn freshness_is_measured_from_the_clock() {
    let request = asked(&Api::new(), json!({"query": "x", "freshness_policy": {"freshness": "pw"}})).await;
    assert_eq!(request.published_after, Some(timestamp(NOW - time::Duration::days(7))));
}

fn timestamp(time: time::OffsetDateTime) -> Timestamp {
    Timestamp::from_millis((time.unix_timestamp_nanos() / 1_000_000) as i64)
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[actix_web::test]
async fn ids_only_shows_ids_and_no_access() {
    let api = Api::new();
    let body = api.search_with("response", json!({"verbosity": "ids_only"})).await.json();
    assert_eq!(keys(&body["results"][0]), ["canonical_url", "doc_id", "rank", "title"]);
    assert!(body.get("access").is_none());
    assert_eq!(api.service.searches.lock().unwrap()[0].detail, Detail::Ids);
    assert_eq!(body["integration_results"], json!({"total": 9, "selected": 1, "href": "/v1/files"}));
}

#[actix_web::test]
async fn presets_add_to_each_other() {
    let api = Api::new();
    let compact = api.search_with("response", json!({"verbosity": "compact"})).await.json();
    let hit = &compact["results"][0];
    assert!(hit["snippet"].is_string() && hit["score"]["value"] == 1.0 && hit["metadata"].is_object());
    assert!(hit.get("passages").is_none() && hit.get("provenance").is_none());

    let standard = api.search(json!({"query": "x"})).await.json();
    let hit = &standard["results"][1];
    assert_eq!(hit["index"], "workspace");
    assert_eq!(hit["labels"], json!(["kind:txt"]));
    assert_eq!(hit["passages"].as_array().unwrap().len(), 2);
    assert_eq!(hit["passages"][0]["section_path"], Value::Null);
    assert!(hit.get("provenance").is_none());
    assert_eq!(standard["results"][0]["labels"], Value::Null, "shown as null when there are none");
    assert!(standard["results"][0].as_object().unwrap().contains_key("labels"));
    assert_eq!(standard["results"][0]["index"], "web");
    assert!(standard["results"][0].get("source_uri").is_none(), "absent values are left out");

    let full = api.search_with("response", json!({"verbosity": "full"})).await.json();
    assert_eq!(keys(&full["results"][0]["provenance"]), ["capture_id", "capture_time"]);
}

#[actix_web::test]
async fn the_page_carries_its_identity_and_ranking() {
    let answer = Api::new().search(json!({"query": "x"})).await;
    let body = answer.json();
    assert_eq!(body["$schema"], format!("{PUBLIC_URL}/schemas/SearchResponse.json"));
    assert_eq!(body["search_id"], Uuid::from_u128(7).to_string());
    assert_eq!(body["ranking"], json!({"ranker_version": "lexical_v1", "score_scope": "response"}));
    assert_eq!(body["warnings"], Value::Null);
    assert!(body.get("truncated").is_none());
    assert_eq!(answer.header("Content-Type"), Some("application/json"));
}

#[actix_web::test]
async fn bytes_returned_is_the_length_of_the_body() {
    let api = Api::new();
    for verbosity in ["ids_only", "compact", "standard", "full"] {
        for hits in 0..12 {
            api.service.on_search(move || Ok(outcome(hits, 1)));
            let answer = api.search_with("response", json!({"verbosity": verbosity})).await;
            assert_eq!(answer.json()["usage"], json!({"requests": 1, "bytes_returned": answer.bytes.len()}));
        }
    }
}

#[actix_web::test]
async fn no_results_are_an_empty_list() {
    let api = Api::new();
    api.service.on_search(|| Ok(outcome(0, 0)));
    let body = api.search(json!({"query": "x"})).await.json();
    assert_eq!(body["results"], json!([]));
    assert_eq!(body["integration_results"]["selected"], 0);
}

#[actix_web::test]
async fn warnings_say_what_was_done_differently() {
    let api = Api::new();
    api.service.on_search(|| {
        let mut outcome = outcome(1, 1);
        outcome.rerank_unavailable = true;
        outcome.filtered_results = 4;
        outcome.workspace_total = None;
        Ok(outcome)
    });
    for verbosity in ["chatty", "ids_only"] {
        let body = api.search_with("response", json!({"verbosity": verbosity})).await.json();
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
