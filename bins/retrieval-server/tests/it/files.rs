//! Upload, indexing and search of files.

use serde_json::Value;
use uuid::Uuid;

use crate::support::{Client, Database, Server, files, uuid_of};

on_both_databases!(files_of_every_type_are_searchable, workspace_hit_has_all_fields_of_the_contract);

/// Returns names, contents, and a phrase that occurs in one file only.
fn sample_files() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let page = |sentence: &str| {
        format!("<!doctype html><html><head><title>A page</title></head><body><h1>Heading</h1><p>{sentence}</p></body></html>")
            .into_bytes()
    };
    vec![
        ("notes.txt", "The walrus eats clams at midnight.".into(), "walrus eats clams"),
        ("guide.md", "# Guide\n\nGrease the turbine with NLGI 2.".into(), "Grease the turbine"),
        ("hours.html", page("The observatory opens after sunset."), "observatory opens after sunset"),
        ("old.htm", page("The lighthouse keeper counts passing ships."), "lighthouse keeper counts"),
        ("prices.csv", "part,price\nrotor,1200\nflywheel,3300\n".into(), "flywheel"),
        ("crew.tsv", "name\trole\nIngrid\thelmsman\n".into(), "helmsman"),
        ("memo.docx", files::docx("The committee adopted the saffron proposal."), "adopted the saffron proposal"),
        ("paper.pdf", files::pdf("Basalt columns cool from the outside."), "Basalt columns cool"),
    ]
}

fn files_of_every_type_are_searchable(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let uploads = sample_files();
    for (name, bytes, _) in &uploads {
        assert_eq!(client.upload(name, bytes), *name);
    }

    let run = client.index();
    assert_eq!(run["state"], "completed", "{run:#}");
    assert!(run["started_at"].is_string() && run["completed_at"].is_string() && run["error"].is_null(), "{run:#}");
    let bytes: usize = uploads.iter().map(|(_, bytes, _)| bytes.len()).sum();
    let stats = serde_json::json!({
        "enumerated": 8, "fetched": 8, "indexed": 8, "failed": 0, "skipped_unsupported": 0, "deleted": 0, "bytes": bytes,
    });
    assert_eq!(run["stats"], stats);

    let listed = client.get("/v1/files").ok();
    for (name, bytes, sentence) in &uploads {
        let file = listed["files"].as_array().unwrap().iter().find(|file| file["name"] == **name).unwrap();
        assert_eq!(file["size"], bytes.len(), "{file}");
        let found = client.search_workspace(sentence);
        let top = &found["results"][0];
        assert_eq!(top["canonical_url"], client.workspace_url(name), "{sentence}: {found:#}");
        assert_passages_are_verbatim(&client, top, sentence);
    }
}

/// Asserts that the passages of a hit are slices of the document, and that one contains the sentence.
fn assert_passages_are_verbatim(client: &Client, hit: &Value, sentence: &str) {
    let read = client.document(serde_json::json!({ "doc_id": hit["doc_id"] })).ok();
    let content = read["content"]["text"].as_str().unwrap();
    let passages = hit["passages"].as_array().unwrap();
    for passage in passages {
        let text = passage["text"].as_str().unwrap();
        assert!(content.contains(text), "{text:?} is not in {content:?}");
        let of_document = read["passages"].as_array().unwrap();
        let same = of_document.iter().find(|other| other["passage_id"] == passage["passage_id"]);
        assert_eq!(same.unwrap()["text"], text);
        assert_eq!(passage["doc_id"], hit["doc_id"]);
    }
    assert!(passages.iter().any(|passage| passage["text"].as_str().unwrap().contains(sentence)), "{hit:#}");
}

fn workspace_hit_has_all_fields_of_the_contract(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    client.upload("walrus.md", "# Walrus\n\nThe walrus eats clams at midnight.");
    client.index();

    let session = Uuid::new_v4().to_string();
    let body = serde_json::json!({ "scope": client.workspace_scope(), "session_id": session });
    let reply = client.search("what does the walrus eat", body);
    let found = reply.ok();
    assert_eq!(found["session_id"], session);
    uuid_of(&found["search_id"]);
    assert_eq!(found["usage"], serde_json::json!({ "requests": 1, "bytes_returned": reply.text.len() }));
    let expected = serde_json::json!({ "total": 1, "selected": 1, "href": "/v1/files" });
    assert_eq!(found["integration_results"], expected);
    assert_eq!(found["ranking"]["score_scope"], "response");
    assert_ne!(found["ranking"]["ranker_version"], "first_stage_order_v1");

    let hit = &found["results"][0];
    assert_eq!((&hit["rank"], &hit["index"]), (&1.into(), &"workspace".into()));
    assert_eq!((&hit["title"], &hit["mime"]), (&"Walrus".into(), &"text/markdown".into()));
    assert_eq!(hit["labels"], serde_json::json!(["kind:md"]));
    assert!(hit["source_uri"].as_str().unwrap().starts_with("s3://"), "{hit:#}");
    assert!(hit["snippet"].as_str().unwrap().contains("walrus eats clams"), "{hit:#}");
    assert!(hit["score"]["value"].is_f64(), "{hit:#}");
    assert!(hit["metadata"]["content_digest"].is_string(), "{hit:#}");
    let url = client.workspace_url("walrus.md");
    assert_eq!(hit["doc_id"], Uuid::new_v5(&Uuid::NAMESPACE_URL, url.as_bytes()).to_string());

    let schema = found["$schema"].as_str().unwrap();
    assert_eq!(schema, format!("{}/schemas/SearchResponse.json", server.base()));
    let served = client.with_key(None).get("/schemas/SearchResponse.json");
    assert_eq!(served.status, 200);
    assert_eq!(served.json()["title"], "SearchResponse");
}
