//! Document reads, passages, continuation reads, and feedback.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Client, Database, Server};

on_both_databases!(
    document_is_read_by_id_and_by_url,
    passages_are_slices_of_content,
    continuation_reads_return_the_whole_content,
    feedback_requires_ids_seen_by_the_organization,
);

/// Returns content with headings, several scripts, characters of one to four bytes, a combining accent and joined emoji.
fn many_scripts() -> String {
    let sections = [
        ("Überblick", "Größe und Maß des Flußes: naïve Façade, ½ Ähre. "),
        ("概要", "東京の天気は晴れです。明日は雨が降るでしょう。"),
        ("Обзор", "Быстрая лиса перепрыгнула через ленивую собаку. "),
        ("Emoji", "Family 👨‍👩‍👧‍👦 and flags 🇩🇪🇯🇵, e\u{301} and 𝒜𝒷. "),
    ];
    let section = |(heading, sentence): (&str, &str)| format!("## {heading}\n\n{}\n\n", sentence.repeat(30).trim_end());
    format!("# Mixed scripts\n\n{}", sections.map(section).concat())
}

/// Returns a client with one indexed file, and its `doc_id`.
fn with_file(server: &Server, name: &str, content: &str) -> (Client, String) {
    let client = server.tenant("acme");
    client.upload(name, content);
    assert_eq!(client.index()["stats"]["indexed"], 1);
    let doc_id = Uuid::new_v5(&Uuid::NAMESPACE_URL, client.workspace_url(name).as_bytes());
    (client, doc_id.to_string())
}

fn document_is_read_by_id_and_by_url(database: Database) {
    let server = Server::start(database);
    let (client, doc_id) = with_file(&server, "guide.md", "# Turbine\n\nIntro.\n\n## Bearings\n\nEvery 400 hours.\n");
    // No grant yet: the document was neither found nor read by its URL.
    client.document(json!({ "doc_id": doc_id })).error(404, "document_not_found");

    let by_url = client.document(json!({ "canonical_url": client.workspace_url("guide.md") }));
    let read = by_url.ok();
    assert_eq!(read["doc"]["doc_id"], doc_id);
    assert_eq!(read["doc"]["title"], "Turbine");
    assert_eq!(read["doc"]["headings"], json!(["Turbine", "Bearings"]));
    assert_eq!(read["content"]["selection"], "full_document");
    assert_eq!(read["content"]["truncated"], false);
    assert_eq!(read["usage"]["bytes_returned"], by_url.text.len());
    assert_eq!(read["provenance"]["capture_id"], read["doc"]["latest_capture_id"]);
    assert_eq!(read["capture_history"][0]["content_format"], "markdown");
    assert!(read.get("warnings").is_none(), "{read:#}");

    let by_id = client.document(json!({ "doc_id": doc_id, "canonical_url": "https://elsewhere.example/" })).ok();
    assert_eq!((&by_id["doc"], &by_id["content"]), (&read["doc"], &read["content"]));

    let metadata = client.document(json!({ "doc_id": doc_id, "include": ["metadata"] })).ok();
    assert_eq!(metadata["doc"], read["doc"]);
    for left_out in ["content", "passages", "capture_history", "warnings"] {
        assert!(metadata.get(left_out).is_none(), "{metadata:#}");
    }
    let text = client.document(json!({ "doc_id": doc_id, "content": { "format": "text" } })).ok();
    let text = text["content"]["text"].as_str().unwrap();
    assert!(text.contains("Bearings") && !text.contains('#'), "{text:?}");
    let relevant = json!({ "doc_id": doc_id, "query": "hours", "content": { "selection": "query_relevant" } });
    assert!(client.document(relevant).ok()["content"]["text"].as_str().unwrap().contains("400 hours"));
}

fn passages_are_slices_of_content(database: Database) {
    let server = Server::start(database);
    let (client, _) = with_file(&server, "scripts.md", &many_scripts());
    let request =
        json!({ "canonical_url": client.workspace_url("scripts.md"), "content": { "include_offsets": true } });
    let read = client.document(request).ok();
    let content: Vec<char> = read["content"]["text"].as_str().unwrap().chars().collect();
    assert_eq!(read["content"]["char_count"], content.len());
    let passages = read["passages"].as_array().unwrap();
    assert!(passages.len() > 3, "{} passages", passages.len());
    let mut end = 0;
    for (ordinal, passage) in passages.iter().enumerate() {
        let offset = |name: &str| usize::try_from(passage[name].as_u64().unwrap()).unwrap();
        assert_eq!((&passage["ordinal"], offset("char_start")), (&ordinal.into(), end));
        end = offset("char_end");
        let slice: String = content[offset("char_start")..end].iter().collect();
        assert_eq!(passage["text"], slice);
    }
    assert_eq!(end, content.len(), "passages cover all content");

    let without = client.document(json!({ "canonical_url": client.workspace_url("scripts.md") })).ok();
    assert!(without["passages"][0].get("char_start").is_none());

    // Passages can be read by id; an unknown id is a warning, not an error.
    let unknown = Uuid::new_v4();
    let ids = [passages[2]["passage_id"].clone(), json!(unknown)];
    let cited = client.document(json!({
        "canonical_url": client.workspace_url("scripts.md"),
        "content": { "selection": "passage_ids", "passage_ids": ids },
    }));
    let cited = cited.ok();
    assert_eq!(cited["passages"].as_array().unwrap().len(), 1);
    assert_eq!(cited["passages"][0]["text"], passages[2]["text"]);
    assert_eq!(cited["warnings"][0]["code"], "stale_passage_id");
    assert_eq!(cited["warnings"][0]["details"]["passage_ids"], json!([unknown]));
}

fn continuation_reads_return_the_whole_content(database: Database) {
    let server = Server::start(database);
    let (client, doc_id) = with_file(&server, "scripts.md", &many_scripts());
    let whole = client.document(json!({ "canonical_url": client.workspace_url("scripts.md") })).ok();
    let whole = whole["content"]["text"].as_str().unwrap();
    let length = whole.chars().count();
    // Single characters only in the last section, which has all the difficult ones.
    let last_section = length - 200;
    for (step, first) in [(1, last_section), (7, length - 1_400), (700, 0)] {
        let rest: String = whole.chars().skip(first).collect();
        assert_eq!(read_continuations(&client, &doc_id, first, step), rest, "in steps of {step}");
    }

    let past = range(&client, &doc_id, json!({ "start_char": length + 1, "max_chars": 5 }));
    assert_eq!((&past["content"]["text"], &past["content"]["char_count"]), (&"".into(), &0.into()));
    let first = range(&client, &doc_id, json!({ "start_char": 0, "max_chars": 5 }));
    assert!(first["content"].get("start_char").is_none() && first["content"]["truncated"] == true, "{first:#}");
    assert_eq!(first["warnings"][0]["code"], "content_truncated");
    let other_capture = json!({ "start_char": 3, "max_chars": 5, "capture_id": Uuid::new_v4() });
    let codes: Vec<Value> = range(&client, &doc_id, other_capture)["warnings"].as_array().unwrap().clone();
    assert!(codes.iter().any(|warning| warning["code"] == "stale_range"), "{codes:#?}");
}

fn read_continuations(client: &Client, doc_id: &str, first: usize, step: usize) -> String {
    let mut text = String::new();
    let mut start = first as u64;
    loop {
        let part = range(client, doc_id, json!({ "start_char": start, "max_chars": step }));
        let content = &part["content"];
        if content["char_count"] == 0 {
            return text;
        }
        text += content["text"].as_str().unwrap();
        start = content["start_char"].as_u64().unwrap_or(0) + content["char_count"].as_u64().unwrap();
    }
}

fn range(client: &Client, doc_id: &str, range: Value) -> Value {
    let content = json!({ "selection": "full_document", "range": range });
    client.document(json!({ "doc_id": doc_id, "include": ["content"], "content": content })).ok()
}

fn feedback_requires_ids_seen_by_the_organization(database: Database) {
    let server = Server::start(database);
    let (client, doc_id) = with_file(&server, "a.txt", "The walrus eats clams.");
    let found = client.search_workspace("walrus");
    let hit = &found["results"][0];
    let complete = json!({
        "event_type": "passage_used", "search_id": found["search_id"], "doc_id": doc_id, "rank": 1,
        "passage_id": hit["passages"][0]["passage_id"], "session_id": found["session_id"],
        "comment": "answered the question", "query": "walrus", "agent_context": { "client_model": "some-model" },
    });
    let reply = client.post("/v1/feedback", &complete);
    let response = reply.ok();
    assert_eq!(response["accepted"], true);
    assert_eq!(response["session_id"], found["session_id"]);
    assert!(Uuid::parse_str(response["feedback_id"].as_str().unwrap()).is_ok());
    assert_eq!(response["usage"]["bytes_returned"], reply.text.len());
    client.post("/v1/feedback", &json!({ "event_type": "missing_expected_source" })).ok();

    let exported = server.command(&["admin", "feedback", "export"]).lines();
    assert_eq!(exported.len(), 2);
    assert_eq!((&exported[0]["event_type"], &exported[0]["query"]), (&json!("passage_used"), &json!("walrus")));
    assert_eq!((&exported[0]["ranked_list"], &exported[0]["doc_id"]), (&json!([doc_id]), &json!(doc_id)));
    assert_eq!(
        (&exported[0]["canonical_url"], &exported[0]["rank"]),
        (&json!(client.workspace_url("a.txt")), &json!(1))
    );
    assert_eq!(
        (&exported[0]["comment"], &exported[0]["client_model"]),
        (&json!("answered the question"), &json!("some-model"))
    );
    assert_eq!(
        (&exported[1]["event_type"], &exported[1]["ranked_list"]),
        (&json!("missing_expected_source"), &Value::Null)
    );

    let refused = |field: &str, value: Value| {
        let mut body = complete.clone();
        body[field] = value;
        client.post("/v1/feedback", &body)
    };
    refused("search_id", json!(Uuid::new_v4())).error(404, "search_not_found");
    refused("doc_id", json!(Uuid::new_v4())).error(404, "document_not_found");
    for field in ["search_id", "doc_id", "passage_id", "session_id"] {
        refused(field, json!("not-a-uuid")).error(400, "validation_error");
    }
    for (field, value) in [("event_type", json!("applause")), ("rank", json!(0)), ("comment", json!("x".repeat(4097)))]
    {
        let error = refused(field, value).error(400, "validation_error");
        assert_eq!(error["details"]["field"], field, "{error:#}");
    }
}
