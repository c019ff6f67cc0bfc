use actix_web::test::TestRequest;
use serde_json::json;

use crate::api::{Answer, Api, PUBLIC_URL};

async fn get(api: &Api, path: &str) -> Answer {
    api.send(TestRequest::get().uri(path)).await
}

#[actix_web::test]
async fn skills_are_listed_and_read_without_a_key() {
    let api = Api::new().await;
    let index = get(&api, "/skills").await;
    assert_eq!(index.status, 200);
    let body = index.json();
    assert_eq!(body["request_id"].as_str(), index.header("X-Request-ID"));
    let skills = body["skills"].as_array().unwrap();
    assert_eq!(skills.len(), 4);
    for skill in skills {
        let url = skill["url"].as_str().unwrap();
        let answer = get(&api, url.strip_prefix(PUBLIC_URL).unwrap()).await;
        let text = String::from_utf8(answer.bytes.clone()).unwrap();
        assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("text/markdown; charset=utf-8")));
        assert!(text.starts_with(&format!("---\nname: {}\n", skill["name"].as_str().unwrap())), "{text}");
        assert!(text.contains(skill["description"].as_str().unwrap()));
    }
    let agent = get(&api, "/skills/agents/retrieval-researcher.md").await;
    assert!(agent.status == 200 && agent.bytes.starts_with(b"---\nname: retrieval-researcher\n"));
    let script = get(&api, "/skills/install.sh").await;
    let text = String::from_utf8(script.bytes.clone()).unwrap();
    assert!(script.status == 200 && text.starts_with("#!/bin/sh\n") && text.ends_with("\nmain \"$@\"\n"));
    assert!(text.contains(&format!("BASE_URL='{PUBLIC_URL}'")));
}

/// Descriptions of warnings begin with the operation that sends them.
#[test]
fn warnings_of_searches_and_documents_are_explained_by_their_skills() {
    let published = ::skills::Published::new(PUBLIC_URL).unwrap();
    let document = openapi::document();
    let codes = document["components"]["schemas"]["WarningCode"]["x-enumDescriptions"].as_object().unwrap();
    for (operation, skill) in [("Search: ", "retrieval-search"), ("Document: ", "retrieval-read")] {
        let text = &published.skill(skill).unwrap().text;
        let sent: Vec<_> =
            codes.iter().filter(|(_, meaning)| meaning.as_str().unwrap().starts_with(operation)).collect();
        assert!(!sent.is_empty(), "{operation}");
        for (code, _) in sent {
            assert!(text.contains(&format!("\n| `{code}` |")), "{skill} lacks {code}");
        }
    }
}

#[actix_web::test]
async fn an_unknown_name_has_a_hint() {
    let api = Api::new().await;
    for path in [
        "/skills/no-such-skill/SKILL.md",
        "/skills/..%2f..%2fetc/SKILL.md",
        "/skills/%2e%2e/SKILL.md",
        "/skills/RETRIEVAL-SEARCH/SKILL.md",
        "/skills/agents/no-such-agent.md",
        "/skills/agents/retrieval-researcher",
        "/skills/agents/retrieval-search.md",
    ] {
        let answer = get(&api, path).await;
        let body = answer.json();
        assert_eq!((answer.status, &body["error"]["code"]), (404, &json!("not_found")), "{path}");
        assert!(body["hint"].as_str().unwrap().contains("`retrieval-search`"), "{path}: {body}");
        assert!(body["error"].get("hint").is_none());
    }
    let other = get(&api, "/skills/retrieval-search/scripts/x.sh").await;
    assert_eq!((other.status, other.json().get("hint")), (404, None));
    let posted = api.send(TestRequest::post().uri("/skills")).await;
    assert_eq!((posted.status, posted.header("Allow")), (405, Some("GET, HEAD")));
}

#[actix_web::test]
async fn unknown_parameters_are_refused() {
    let api = Api::new().await;
    for path in [
        "/skills",
        "/skills/install.sh",
        "/skills/retrieval-search/SKILL.md",
        "/skills/agents/retrieval-researcher.md",
        "/.well-known/agent-skills/index.json",
    ] {
        let details = get(&api, &format!("{path}?x=1")).await.expect_error(400, "validation_error");
        assert_eq!(details["field"], "x", "{path}");
    }
}

#[actix_web::test]
async fn the_well_known_index_names_the_same_files() {
    let api = Api::new().await;
    let index = get(&api, "/.well-known/agent-skills/index.json").await.json();
    for skill in index["skills"].as_array().unwrap() {
        let answer = get(&api, skill["url"].as_str().unwrap()).await;
        assert_eq!((answer.status, &skill["type"]), (200, &json!("skill-md")));
        assert!(skill["digest"].as_str().unwrap().starts_with("sha256:"));
    }
}
