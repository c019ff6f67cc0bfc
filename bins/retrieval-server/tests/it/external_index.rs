//! Requirements on a service with its index on another server.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Client, Line, Proxy, Server, until};

fn fill(server: &Server) -> Client {
    let client = server.tenant("acme");
    server.import(&[
        json!({ "url": "https://example.com/a", "title": "Walrus", "text": "The walrus eats clams." }),
        json!({ "url": "https://docs.example.com/b", "text": "A walrus was seen at the observatory." }),
    ]);
    client.upload("own.txt", "A walrus of our own.");
    client.index();
    client
}

fn found(client: &Client) -> usize {
    let scope = json!({ "indexes": ["web", "workspace"], "workspace_id": client.organization });
    client.search("walrus", json!({ "scope": scope })).ok()["results"].as_array().map_or(0, Vec::len)
}

/// Rebuilds the index by command, and after it was deleted.
pub fn is_rebuilt_when_lost(server: &Server, delete: impl FnOnce()) {
    let client = fill(server);
    assert_eq!(found(&client), 3);
    let exact = json!({ "filters": { "exact_match": true } });
    let phrase = client.search("walrus eats clams", exact).ok();
    assert_eq!(phrase["results"].as_array().unwrap().len(), 1, "{phrase:#}");
    let rebuilt = server.command(&["index", "rebuild", "--index", "web"]).lines();
    assert_eq!(rebuilt, [json!({ "index": "web", "documents": 2 })]);
    assert_eq!(found(&client), 3);

    delete();
    until("the lost index is rebuilt", Duration::from_secs(60), || {
        let scope = json!({ "indexes": ["web", "workspace"], "workspace_id": client.organization });
        let reply = client.search("walrus", json!({ "scope": scope }));
        let complete = |answer: &Value| answer["results"].as_array().is_some_and(|results| results.len() == 3);
        match reply.status {
            200 => complete(&reply.ok()).then_some(()),
            _ => {
                reply.error(502, "provider_unavailable");
                None
            }
        }
    });
}

pub fn fails_within_two_seconds_while_unreachable(server: &Server, proxy: &Proxy) {
    let client = fill(server);
    proxy.set(Line::Silent);
    for _ in 0..2 {
        let started = Instant::now();
        client.search("walrus", json!({})).error(502, "provider_unavailable");
        assert!(started.elapsed() < Duration::from_millis(2_500), "{:?}", started.elapsed());
    }
    proxy.set(Line::Open);
    until("searches work again", Duration::from_secs(20), || {
        (client.search("walrus", json!({})).status == 200).then_some(())
    });
    assert_eq!(found(&client), 3);
}
