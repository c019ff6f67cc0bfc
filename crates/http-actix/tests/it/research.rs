use std::time::Duration;

use actix_web::test::TestRequest;
use model::Scope;
use serde_json::{Value, json};
use test_support::{Setup, page, until};
use uuid::Uuid;

use crate::api::{Answer, Api};

const QUESTION: &str = "Which grease does the X200 pump take?";

async fn api() -> Api {
    api_with(Setup::default()).await
}

async fn api_with(setup: Setup) -> Api {
    let api = Api::with(setup).await;
    let text = "# X200\n\nThe X200 pump takes lithium grease of class NLGI 2 at both bearings.\n";
    api.world.import([page("https://pumps.example/x200", text)]).await;
    api
}

async fn create(api: &Api) -> Value {
    let answer = api.post("/v1/research", &json!({"query": QUESTION, "depth": "quick"})).await;
    assert_eq!(answer.status, 202, "{}", answer.json());
    answer.json()
}

fn path(run: &Value) -> String {
    format!("/v1/research/{}", run["research_id"].as_str().unwrap())
}

async fn delete(api: &Api, path: &str) -> Answer {
    api.send(api.authorized(TestRequest::delete().uri(path))).await
}

async fn stream(api: &Api, path: &str, last: Option<&str>) -> Answer {
    let mut request = TestRequest::get().uri(path).insert_header(("Accept", "text/event-stream"));
    if let Some(last) = last {
        request = request.insert_header(("Last-Event-ID", last));
    }
    api.send(api.authorized(request)).await
}

/// Parses the events of a stream: id, type and data.
fn events(answer: &Answer) -> Vec<(i64, String, Value)> {
    assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("text/event-stream")));
    let text = String::from_utf8(answer.bytes.clone()).unwrap();
    let field = |block: &str, name: &str| block.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
    let event = |block: &str| {
        let data = serde_json::from_str(&field(block, "data: ")?).unwrap();
        Some((field(block, "id: ")?.parse().unwrap(), field(block, "event: ")?, data))
    };
    text.split("\n\n").filter_map(event).collect()
}

#[actix_web::test]
async fn run_is_created_followed_and_read() {
    let api = api().await;
    let request = json!({"query": QUESTION, "depth": "quick", "metadata": {"ticket": "7"}, "webhook": {"url": "https://a.example/"}});
    let created = api.post("/v1/research", &request).await;
    let location = created.header("Location").unwrap().to_owned();
    assert_eq!(created.status, 202);
    let created = created.json();
    assert_eq!((location.as_str(), &created["status"]), (path(&created).as_str(), &json!("queued")));
    assert!(created["webhook"]["secret"].as_str().unwrap().starts_with("whsec_"));
    assert!(created["poll_after_ms"].is_u64() && created["output"].is_null());

    let _working = api.world.work_on_research();
    let run = api.get(&format!("{location}?wait_seconds=30")).await.json();
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("completed"), &json!("answered")));
    assert_eq!((&run["metadata"], &run["plan"][0]["status"]), (&json!({"ticket": "7"}), &json!("done")));
    assert_eq!((&run["warnings"][0]["code"], &run["usage"]["searches"]), (&json!("synthesis_unavailable"), &json!(1)));
    assert!(run["webhook"].get("secret").is_none() && run.get("poll_after_ms").is_none());
    let output = &run["output"];
    assert_eq!(output["engine"], "extractive");
    let citation = &output["citations"][0];
    let text: Vec<char> = output["text"].as_str().unwrap().chars().collect();
    let place = |name: &str| citation[name].as_u64().unwrap() as usize;
    assert_eq!(text[place("output_start")..place("output_end")].iter().collect::<String>(), "[1]");

    let read = json!({"doc_id": citation["doc_id"], "content": {"selection": "full_document", "format": "markdown"}});
    let read = api.post("/v1/document", &read).await.json();
    let content: Vec<char> = read["content"]["text"].as_str().unwrap().chars().collect();
    let quote: String = content[place("char_start")..place("char_end")].iter().collect();
    assert_eq!(quote, citation["quote"].as_str().unwrap());

    let list = api.get("/v1/research?status=completed").await.json();
    assert_eq!((list["runs"].as_array().unwrap().len(), &list["runs"][0]["query"]), (1, &json!(QUESTION)));
    assert_eq!(delete(&api, &location).await.json()["deleted"], true);
    api.get(&location).await.expect_error(404, "research_not_found");
    delete(&api, &location).await.expect_error(404, "research_not_found");
}

#[actix_web::test]
async fn finished_run_replays_and_resumes_at_each_event() {
    let api = api().await;
    let run = create(&api).await;
    let _working = api.world.work_on_research();
    let location = path(&run);
    let url = format!("{location}/events");
    let all = events(&stream(&api, &url, None).await);
    assert!(all.iter().zip(1..).all(|((id, ..), expected)| *id == expected));
    let (_, last, data) = all.last().unwrap();
    assert_eq!((last.as_str(), &data["research"]["status"]), ("research.completed", &json!("completed")));
    assert_eq!(data["research"]["output"]["citations"][0]["verified"], true);
    for (id, kind, data) in &all {
        assert_eq!((&data["type"], &data["sequence"]), (&json!(kind), &json!(id)));
        let rest = events(&stream(&api, &url, Some(&id.to_string())).await);
        assert_eq!(rest.len(), all.len() - *id as usize);
        assert_eq!(events(&stream(&api, &format!("{url}?after={id}"), None).await).len(), rest.len());
    }
    let page = api.get(&format!("{url}?limit=2")).await.json();
    assert_eq!(
        (page["events"].as_array().unwrap().len(), &page["next_after"], &page["is_complete"]),
        (2, &json!(2), &json!(false))
    );
    let rest = api.get(&format!("{url}?after=2&limit=1000")).await.json();
    assert_eq!((rest["events"].as_array().unwrap().len(), &rest["is_complete"]), (all.len() - 2, &json!(true)));
}

#[actix_web::test]
async fn waiting_stream_sends_comments() {
    let mut setup = Setup::default();
    setup.research.keep_alive = Duration::from_millis(5);
    let api = api_with(setup).await;
    api.world.engine.hold();
    let run = create(&api).await;
    let working = api.world.work_on_research();
    let (research, viewer) = (api.world.research.clone(), api.tenant.viewer.clone());
    let id = run["research_id"].as_str().unwrap().parse().unwrap();
    actix_web::rt::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        research.cancel(&viewer, id).await.unwrap();
    });
    let answer = stream(&api, &format!("{}/events", path(&run)), None).await;
    let text = String::from_utf8(answer.bytes.clone()).unwrap();
    assert!(text.contains("\n: keep-alive\n"), "{text}");
    assert_eq!(events(&answer).last().unwrap().1, "research.cancelled");
    api.world.engine.release();
    drop(working);
}

#[actix_web::test]
async fn stream_ends_when_its_key_is_revoked() {
    let api = api().await;
    let run = create(&api).await;
    let (app, viewer, key) = (api.world.app.clone(), api.tenant.viewer.clone(), api.tenant.key_id.to_string());
    let revoking = actix_web::rt::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        app.revoke_key(&viewer, &key).await.unwrap();
    });
    // No worker takes the run, so nothing else ends the stream.
    let url = format!("{}/events", path(&run));
    let answer = tokio::time::timeout(Duration::from_secs(5), stream(&api, &url, None)).await.unwrap();
    revoking.await.unwrap();
    assert!(events(&answer).iter().all(|(_, kind, _)| kind != "research.completed"));
    stream(&api, &url, None).await.expect_error(401, "invalid_api_key");
}

#[actix_web::test]
async fn poll_is_refused_if_its_key_is_revoked_while_it_waits() {
    let api = api().await;
    let run = create(&api).await;
    let (app, research) = (api.world.app.clone(), api.world.research.clone());
    let (viewer, key) = (api.tenant.viewer.clone(), api.tenant.key_id.to_string());
    let id = run["research_id"].as_str().unwrap().parse().unwrap();
    let revoking = actix_web::rt::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        app.revoke_key(&viewer, &key).await.unwrap();
        // The end of the run ends the wait.
        research.cancel(&viewer, id).await.unwrap();
    });
    let answer = api.get(&format!("{}?wait_seconds=30", path(&run))).await;
    revoking.await.unwrap();
    answer.expect_error(401, "invalid_api_key");
    assert_eq!(answer.rate_headers(), 0);
}

#[actix_web::test]
async fn cancel_is_idempotent() {
    let api = api().await;
    let run = create(&api).await;
    for _ in 0..2 {
        let cancelled = api.post_raw(&format!("{}/cancel", path(&run)), "").await;
        assert_eq!((cancelled.status, &cancelled.json()["status"]), (202, &json!("cancelled")));
    }
}

#[actix_web::test]
async fn invalid_requests_are_refused_by_field() {
    let api = api().await;
    let many: serde_json::Map<String, Value> = (0..17).map(|n| (n.to_string(), "x".into())).collect();
    for (request, field) in [
        (json!({}), "query"),
        (json!({"query": ""}), "query"),
        (json!({"query": " \n"}), "query"),
        (json!({"query": "x".repeat(8001)}), "query"),
        (json!({"query": "q", "depth": "abyssal"}), "depth"),
        (json!({"query": "q", "depth": null}), "depth"),
        (json!({"query": "q", "instructions": "x".repeat(4001)}), "instructions"),
        (json!({"query": "q", "scope": {"indexes": ["workspace"]}}), "scope.workspace_id"),
        (
            json!({"query": "q", "scope": {"indexes": ["workspace"], "workspace_id": Uuid::new_v4()}}),
            "scope.workspace_id",
        ),
        (json!({"query": "q", "filters": {"language": "english"}}), "filters.language"),
        (json!({"query": "q", "freshness_policy": {"published_after": "soon"}}), "freshness_policy.published_after"),
        (
            json!({"query": "q", "source_policy": {"include_domains": ["no domain"]}}),
            "source_policy.include_domains[0]",
        ),
        (json!({"query": "q", "output": {"format": "pdf"}}), "output.format"),
        (json!({"query": "q", "output": {"format": "structured"}}), "output.schema"),
        (json!({"query": "q", "output": {"schema": {"type": "object"}}}), "output.schema"),
        (
            json!({"query": "q", "output": {"format": "structured", "schema": {"$ref": "https://a.example/"}}}),
            "output.schema",
        ),
        (json!({"query": "q", "output": {"max_chars": 10}}), "output.max_chars"),
        (json!({"query": "q", "budget": {"max_searches": 0}}), "budget.max_searches"),
        (json!({"query": "q", "budget": {"max_seconds": 3601}}), "budget.max_seconds"),
        (json!({"query": "q", "budget": {"max_tokens": -1}}), "budget.max_tokens"),
        (json!({"query": "q", "budget": {"max_documents": 1.5}}), "budget.max_documents"),
        (json!({"query": "q", "budget": {"on_exceed": "explode"}}), "budget.on_exceed"),
        (json!({"query": "q", "previous_research_id": "x"}), "previous_research_id"),
        (json!({"query": "q", "metadata": many}), "metadata"),
        (json!({"query": "q", "metadata": {"": "x"}}), "metadata"),
        (json!({"query": "q", "metadata": {"k": 1}}), "metadata.k"),
        (json!({"query": "q", "session_id": "x"}), "session_id"),
        (json!({"query": "q", "webhook": {"event_types": []}}), "webhook"),
        (json!({"query": "q", "webhook": {"url": "https://a.example/", "event_types": []}}), "webhook.event_types"),
        (
            json!({"query": "q", "webhook": {"url": "https://a.example/", "event_types": ["run.failed"]}}),
            "webhook.event_types[0]",
        ),
        (json!({"query": "q", "webhook": {"url": "http://10.0.0.1/"}}), "webhook.url"),
        (json!({"query": "q", "webhook": {"url": "https://a.example/\0"}}), "webhook.url"),
        (json!({"query": "q", "tools": []}), "tools"),
    ] {
        let details = api.post("/v1/research", &request).await.expect_error(400, "validation_error");
        let named = details["field"].as_str().or(details["error"].as_str()).unwrap();
        assert!(named.starts_with(field), "{request}: {details}");
    }
    assert_eq!(api.get("/v1/research").await.json()["runs"], json!([]));
    let unknown = json!({"query": "q", "previous_research_id": Uuid::new_v4()});
    api.post("/v1/research", &unknown).await.expect_error(404, "research_not_found");
    for (query, field) in
        [("status=done", "status"), ("limit=0", "limit"), ("limit=101", "limit"), ("cursor=x", "cursor")]
    {
        api.get(&format!("/v1/research?{query}")).await.expect_invalid(field);
    }
    let location = path(&create(&api).await);
    for (query, field) in [
        ("?wait_seconds=31", "wait_seconds"),
        ("?wait_seconds=-1", "wait_seconds"),
        ("/events?after=-1", "after"),
        ("/events?limit=x", "limit"),
    ] {
        api.get(&format!("{location}{query}")).await.expect_invalid(field);
    }
    stream(&api, &format!("{location}/events"), Some("x")).await.expect_invalid("Last-Event-ID");
}

#[actix_web::test]
async fn runs_need_their_scopes_and_stay_within_their_organization() {
    let api = api().await;
    let run = create(&api).await;
    let location = path(&run);
    let requests = |location: &str| {
        vec![
            (Scope::ResearchRead, TestRequest::get().uri(location)),
            (Scope::ResearchRead, TestRequest::get().uri(&format!("{location}?wait_seconds=30"))),
            (Scope::ResearchRead, TestRequest::get().uri(&format!("{location}/events"))),
            (Scope::ResearchWrite, TestRequest::post().uri(&format!("{location}/cancel"))),
            (Scope::ResearchWrite, TestRequest::delete().uri(location)),
        ]
    };
    for (scope, request) in requests(&location) {
        let others: Vec<Scope> = Scope::ALL.iter().copied().filter(|other| *other != scope).collect();
        let bearer = api.bearer_with(&others).await;
        api.send(request.insert_header(("Authorization", bearer))).await.expect_error(403, "insufficient_scope");
    }
    let other = api.world.tenant().await;
    for location in [location.as_str(), "/v1/research/x", &format!("/v1/research/{}", Uuid::new_v4())] {
        for (_, request) in requests(location) {
            let request = request.insert_header(("Authorization", format!("Bearer {}", other.key)));
            api.send(request).await.expect_error(404, "research_not_found");
        }
    }
    assert_eq!(api.get(&location).await.json()["status"], "queued");
}

#[actix_web::test]
async fn runs_and_readers_are_limited() {
    let mut setup = Setup::default();
    setup.research.runs_per_organization = 1;
    setup.research.waiting_per_organization = 0;
    let api = api_with(setup).await;
    let location = path(&create(&api).await);
    let unstarted = api.post("/v1/research", &json!({"query": QUESTION})).await;
    let details = unstarted.expect_error(429, "rate_limited");
    assert_eq!((&details["limit"], &details["max"]), (&json!("research_concurrency"), &json!(1)));
    let unread = stream(&api, &format!("{location}/events"), None).await;
    let details = unread.expect_error(429, "rate_limited");
    assert_eq!(details["limit"], "research_readers");
    for answer in [unstarted, unread] {
        assert_eq!((answer.header("X-RateLimit-Remaining"), answer.rate_headers()), (Some("0"), 3));
    }
    assert_eq!(api.get(&format!("{location}?wait_seconds=30")).await.json()["status"], "queued", "answered at once");
}

#[actix_web::test]
async fn deployment_without_retrieval_refuses_runs() {
    let api = Api::with(Setup { retrieval: false, ..Setup::default() }).await;
    api.post("/v1/research", &json!({"query": QUESTION})).await.expect_error(503, "provider_unavailable");
}

#[actix_web::test]
async fn stream_ends_when_its_run_is_deleted() {
    let api = api().await;
    let run = create(&api).await;
    let location = path(&run);
    let (research, viewer) = (api.world.research.clone(), api.tenant.viewer.clone());
    let id = run["research_id"].as_str().unwrap().parse().unwrap();
    let deleting = actix_web::rt::spawn(async move { research.delete(&viewer, id).await.unwrap() });
    let answer = stream(&api, &format!("{location}/events"), None).await;
    assert!(matches!(answer.status, 200 | 404));
    deleting.await.unwrap();
    until("the run is gone", async || (api.get(&location).await.status == 404).then_some(())).await;
}
