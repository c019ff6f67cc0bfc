//! The shared web index: import, search, reads of imported pages, response budgets.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Database, Server, lines};

on_both_databases!(
    import_reports_outcome_of_every_line,
    imported_page_is_searchable_and_readable,
    web_and_workspace_are_blended,
    import_returns_once_pages_are_searchable,
    responses_fit_the_budget,
);

fn report(read: u64, imported: u64, unchanged: u64, failed: u64) -> Value {
    json!({ "read": read, "imported": imported, "unchanged": unchanged, "failed": failed })
}

fn import_reports_outcome_of_every_line(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let good = [
        json!({ "url": "https://example.com/a", "text": "Alpha walrus." }),
        json!({ "url": "https://example.com/b", "markdown": "# Beta\n\nBeta walrus.", "title": "", "published_at": "", "language": "", "country": "" }),
        json!({ "url": "https://example.com/c", "html": "<html><title>Gamma</title><body><p>Gamma walrus.</p></body></html>", "published_at": "2026-01-05", "language": "en-GB", "country": "GB", "labels": ["news"] }),
    ];
    let bad = [
        "not json",
        "{\"text\": \"no url\"}",
        "{\"url\": \"https://example.com/d\"}",
        "{\"url\": \"ftp://example.com/\", \"text\": \"x\"}",
        "{\"url\": \"https://example.com/e\", \"text\": \"x\", \"published_at\": \"yesterday\"}",
        "[]",
        "{\"url\": \"https://example.com/f\", \"html\": \"<html><body><script>x()</script></body></html>\"}",
    ];
    let input = format!("{}\n{}\n\n{}", good[0], bad.join("\n"), lines(&good[1..]));
    let imported = server.command_with_input(&["web", "import", "-"], &input);
    assert_eq!(imported.object(), report(10, 3, 0, 7));
    for line in 2..=8 {
        assert!(imported.stderr.contains(&format!("line {line}: ")), "line {line}: {}", imported.stderr);
    }
    assert!(imported.stderr.contains("line 8: the page has no text"), "{}", imported.stderr);
    // The empty line counts for line numbers, but is not a page.
    assert!(!imported.stderr.contains("line 9") && !imported.stderr.contains("line 1:"), "{}", imported.stderr);

    assert_eq!(server.import(&good), report(3, 0, 3, 0), "nothing new");
    let changed = json!({ "url": "https://example.com/a", "text": "Alpha seal." });
    assert_eq!(server.import(&[changed, good[1].clone()]), report(2, 1, 1, 0));
    let seal = client.search_web("alpha seal");
    assert!(seal["results"][0]["snippet"].as_str().unwrap().contains("seal"), "{seal:#}");

    // Input from a file; a missing file is an error.
    let path = server.settings_file().with_file_name("pages.jsonl");
    std::fs::write(&path, lines(&good[1..])).unwrap();
    let from_file = server.command(&["web", "import", path.to_str().unwrap(), "--format", "jsonl"]);
    assert_eq!(from_file.object(), report(2, 0, 2, 0));
    let missing = server.command(&["web", "import", "/nowhere/pages.jsonl"]);
    assert_eq!((missing.code(), missing.stdout.as_str()), (Some(1), ""));
    assert!(missing.stderr.contains("/nowhere/pages.jsonl"), "{}", missing.stderr);
    assert_eq!(server.command_with_input(&["web", "import", "-"], "").object(), report(0, 0, 0, 0));
    assert_eq!(server.command(&["web", "import"]).code(), Some(2));

    let audited = server.command(&["admin", "audit", "--action", "web_pages.imported", "--limit", "3"]).lines();
    let sources: Vec<&Value> = audited.iter().map(|entry| &entry["details"]["source"]).collect();
    assert_eq!(sources, [&json!("-"), &json!(path), &json!("-")], "newest first, without the missing file");
}

fn imported_page_is_searchable_and_readable(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    server.import(&[
        json!({ "url": "HTTPS://Docs.Example.com:443/a/../async?utm_source=x&b=2&gclid=1&a=1#top", "title": "Async Rust", "text": "Futures are polled by an executor such as tokio.", "published_at": "2026-01-05T00:00:00Z" }),
        json!({ "url": "https://blog.example.org/gardening", "title": "Gardening", "text": "Tomatoes like warm soil and a lot of water." }),
    ]);
    let canonical = "https://docs.example.com/async?b=2&a=1";
    let found = client.search_web("who polls futures in async rust");
    let top = &found["results"][0];
    assert_eq!(top["canonical_url"], canonical);
    assert_eq!(top["doc_id"], Uuid::new_v5(&Uuid::NAMESPACE_URL, canonical.as_bytes()).to_string());
    assert_eq!(
        (&top["title"], &top["metadata"]["published_at"]),
        (&"Async Rust".into(), &"2026-01-05T00:00:00Z".into())
    );
    assert!(found.get("integration_results").is_none(), "{found:#}");

    let another_spelling = "https://DOCS.example.com/async?fbclid=9&b=2&a=1&utm_campaign=z#else";
    let read = client.document(json!({ "canonical_url": another_spelling })).ok();
    assert_eq!((&read["doc"]["doc_id"], &read["doc"]["canonical_url"]), (&top["doc_id"], &canonical.into()));
    assert!(read["content"]["text"].as_str().unwrap().contains("polled by an executor"));

    let policy = |policy: Value| client.search("futures tomatoes", json!({ "source_policy": policy })).ok();
    let only = policy(json!({ "include_domains": ["www.Example.COM"], "require_domain_match": true }));
    assert_eq!(addresses(&only), [canonical]);
    let without = policy(json!({ "exclude_domains": ["example.com"] }));
    assert_eq!(addresses(&without), ["https://blog.example.org/gardening"]);
    let fresh = json!({ "freshness_policy": { "published_after": "2026-01-01" } });
    assert_eq!(addresses(&client.search("futures tomatoes", fresh).ok()), [canonical]);
}

fn addresses(found: &Value) -> Vec<&str> {
    found["results"].as_array().unwrap().iter().map(|hit| hit["canonical_url"].as_str().unwrap()).collect()
}

fn web_and_workspace_are_blended(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let pages: Vec<Value> = (0..20)
        .map(|n| json!({ "url": format!("https://example.com/{n}"), "text": format!("Walrus facts, part {n}: the walrus eats clams.") }))
        .collect();
    server.import(&pages);
    for n in 0..3 {
        client.upload(&format!("{n}.txt"), format!("Our own walrus notes, part {n}."));
    }
    client.index();
    let scope = json!({ "indexes": ["web", "workspace"], "workspace_id": client.organization });
    let found = client.search("walrus clams", json!({ "scope": scope })).ok();
    let hits = found["results"].as_array().unwrap();
    assert_eq!(hits.len(), 10);
    let own = hits.iter().filter(|hit| hit["index"] == "workspace").count();
    assert!((1..=3).contains(&own), "{found:#}");
    let scores: Vec<f64> = hits.iter().map(|hit| hit["score"]["value"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|one, next| one >= next), "{scores:?}");
    assert_eq!(found["integration_results"], json!({ "total": 3, "selected": own, "href": "/v1/files" }));
    for (position, hit) in hits.iter().enumerate() {
        assert_eq!(hit["rank"], position + 1);
    }
    let default = client.search("walrus clams", json!({ "scope": { "indexes": [] } })).ok();
    assert!(addresses(&default).iter().all(|address| address.starts_with("https://")));
}

/// Checks imports with and without a running server.
fn import_returns_once_pages_are_searchable(database: Database) {
    let mut server = Server::start(database);
    let client = server.tenant("acme");
    let page = |n: usize| json!({ "url": format!("https://example.com/{n}"), "text": format!("Walrus number{n} eats clams.") });
    for n in 0..4 {
        server.import(&[page(n)]);
        let found = client.search_web(&format!("number{n}"));
        assert_eq!(addresses(&found).first(), Some(&format!("https://example.com/{n}").as_str()));
    }
    assert_eq!(server.stop().code(), Some(0));
    server.import(&[page(10)]);
    server.resume();
    assert_eq!(addresses(&client.search_web("number10")).first(), Some(&"https://example.com/10"));
}

fn responses_fit_the_budget(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let pages: Vec<Value> = (0..10)
        .map(|n| json!({ "url": format!("https://example.com/{n}"), "title": format!("Straße {n}"), "text": format!("Part {n}. Das Walroß frißt Muscheln. ").repeat(60) }))
        .collect();
    server.import(&pages);
    let search = |verbosity: &str, budget: Value| {
        client.search("Walroß Muscheln", json!({ "response": { "verbosity": verbosity, "budget": budget } }))
    };
    let keys = |verbosity: &str| -> Vec<String> {
        let found = search(verbosity, json!({})).ok();
        assert_eq!(found.get("access").is_some(), verbosity != "ids_only");
        found["results"][0].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys("ids_only"), ["canonical_url", "doc_id", "rank", "title"]);
    assert!(!keys("compact").contains(&"passages".to_owned()) && keys("compact").contains(&"snippet".to_owned()));
    assert!(keys("standard").contains(&"passages".to_owned()) && !keys("standard").contains(&"provenance".to_owned()));
    assert!(keys("full").contains(&"provenance".to_owned()));

    let whole = search("full", json!({})).text.chars().count();
    let mut shed = Vec::new();
    for part in [whole - 1, whole / 2, whole / 4, whole / 10, 1_500] {
        let cut = search("full", json!({ "max_chars_total": part }));
        let found = cut.ok();
        assert!(cut.text.chars().count() <= part, "{} > {part}", cut.text.chars().count());
        assert_eq!(found["truncated"], true);
        assert_eq!(found["usage"]["bytes_returned"], cut.text.len());
        let levels = &found["warnings"][0]["details"]["shed_levels"];
        shed.push(levels.as_array().unwrap().len());
    }
    assert!(shed.is_sorted() && shed[0] == 1, "{shed:?}");
    let unsatisfiable = search("full", json!({ "max_chars_total": 10 })).ok();
    assert_eq!(unsatisfiable["results"].as_array().unwrap().len(), 1);
    assert!(
        unsatisfiable["warnings"].as_array().unwrap().iter().any(|warning| warning["code"] == "budget_unsatisfiable")
    );
    search("full", json!({ "max_chars_total": 10, "on_exceed": "error" })).error(400, "response_too_large");
    let unknown = search("chatty", json!({})).ok();
    assert_eq!(unknown["warnings"][0]["code"], "unknown_field");
    assert_eq!(unknown["warnings"][0]["details"], json!({ "field": "response.verbosity", "value": "chatty" }));
}
