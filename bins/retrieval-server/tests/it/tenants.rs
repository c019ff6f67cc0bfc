//! Isolation of organizations.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Client, Database, Server};

on_both_databases!(other_organizations_are_inaccessible, web_page_is_granted_per_organization);

struct Secret {
    doc_id: Value,
    passage_id: Value,
    search_id: Value,
    sync_id: String,
    address: String,
}

fn with_secret(client: &Client) -> Secret {
    client.upload("confidential.txt", "The merger codename is tangerine falcon.");
    let sync_id = client.start_run("incremental");
    assert_eq!(client.finish_run(&sync_id)["stats"]["indexed"], 1);
    let found = client.search_workspace("tangerine falcon");
    let hit = &found["results"][0];
    Secret {
        doc_id: hit["doc_id"].clone(),
        passage_id: hit["passages"][0]["passage_id"].clone(),
        search_id: found["search_id"].clone(),
        sync_id,
        address: hit["canonical_url"].as_str().unwrap().to_owned(),
    }
}

fn other_organizations_are_inaccessible(database: Database) {
    let server = Server::start(database);
    let (owner, rival) = (server.tenant("owner"), server.tenant("rival"));
    let secret = with_secret(&owner);

    // Search: the rival's workspace is empty, and another workspace is refused, whether it exists or not.
    let own = rival.search_workspace("tangerine falcon");
    assert_eq!(own["results"], json!([]));
    assert_eq!(own["integration_results"]["total"], 0);
    assert_eq!(rival.search_web("tangerine falcon")["results"], json!([]));
    let refused = |workspace: Uuid, indexes: Value| {
        let scope = json!({ "indexes": indexes, "workspace_id": workspace });
        rival.search("tangerine falcon", json!({ "scope": scope })).error(400, "validation_error")
    };
    let (foreign, unknown) =
        (refused(owner.organization, json!(["workspace"])), refused(Uuid::new_v4(), json!(["workspace"])));
    assert_eq!(foreign, unknown);
    assert_eq!(foreign["details"]["field"], "scope.workspace_id");
    refused(owner.organization, json!(["web", "workspace"]));

    // Documents: the same response as for an unknown document.
    let none = rival.document(json!({ "doc_id": Uuid::new_v4() })).error(404, "document_not_found");
    let requests = [
        json!({ "doc_id": secret.doc_id }),
        json!({ "canonical_url": secret.address }),
        json!({ "canonical_url": secret.address.to_uppercase() }),
        json!({ "canonical_url": secret.address, "include": ["metadata"] }),
        json!({ "doc_id": secret.doc_id, "content": { "selection": "passage_ids", "passage_ids": [secret.passage_id] } }),
    ];
    for request in requests {
        assert_eq!(rival.document(request.clone()).error(404, "document_not_found"), none, "{request}");
    }
    // A malformed URL is refused by its form, whether there is such a file or not.
    let unknown = format!("workspace://{}/unknown.txt", rival.organization);
    let malformed = [&secret.address, &unknown]
        .map(|address| rival.document(json!({ "canonical_url": format!("{address}?x=y#z") })))
        .map(|reply| reply.error(400, "validation_error"));
    assert_eq!(malformed[0], malformed[1]);

    // Feedback.
    let feedback = |field: &str, value: &Value| {
        rival.post("/v1/feedback", &json!({ "event_type": "result_helpful", field: value }))
    };
    feedback("search_id", &secret.search_id).error(404, "search_not_found");
    feedback("doc_id", &secret.doc_id).error(404, "document_not_found");

    // Files and runs: a delete, a run and a file of the same name do not affect the owner.
    assert_eq!(rival.file_names(), [] as [&str; 0]);
    let unknown_run = rival.get(&format!("/v1/files/index/{}", Uuid::new_v4())).error(404, "sync_not_found");
    assert_eq!(rival.get(&format!("/v1/files/index/{}", secret.sync_id)).error(404, "sync_not_found"), unknown_run);
    assert_eq!(rival.delete("/v1/files/confidential.txt").ok()["deleted"], false);
    assert_eq!(rival.index()["stats"]["enumerated"], 0);
    rival.upload("confidential.txt", "Our own plan is the violet heron.");
    assert_eq!(
        rival.index()["stats"],
        json!({
            "enumerated": 1, "fetched": 1, "indexed": 1, "failed": 0, "skipped_unsupported": 0, "deleted": 0, "bytes": 33,
        })
    );
    assert_eq!(owner.search_workspace("violet heron")["results"], json!([]));
    assert_eq!(rival.delete("/v1/files/confidential.txt").ok()["deleted"], true);
    assert_eq!(rival.search_workspace("violet heron")["results"], json!([]));

    // The owner's data is unchanged.
    let found = owner.search_workspace("tangerine falcon");
    assert_eq!(found["results"][0]["doc_id"], secret.doc_id);
    assert_eq!(owner.document(json!({ "doc_id": secret.doc_id })).status, 200);
    assert_eq!(owner.file_names(), ["confidential.txt"]);
    assert_eq!(owner.run_status(&secret.sync_id)["state"], "completed");
}

fn web_page_is_granted_per_organization(database: Database) {
    let server = Server::start(database);
    let (one, other) = (server.tenant("one"), server.tenant("other"));
    server.import(&[json!({ "url": "https://example.com/walrus", "text": "The walrus eats clams." })]);
    let found = one.search_web("walrus");
    let doc_id = &found["results"][0]["doc_id"];
    assert_eq!(one.document(json!({ "doc_id": doc_id })).status, 200);
    other.document(json!({ "doc_id": doc_id })).error(404, "document_not_found");
    other.document(json!({ "canonical_url": "https://example.com/walrus" })).ok();
    assert_eq!(other.document(json!({ "doc_id": doc_id })).status, 200);
    // Keys of one organization share its grants.
    let second_key = server.create_key(other.organization, &[]);
    let colleague = other.with_key(second_key["key"].as_str());
    assert_eq!(colleague.document(json!({ "doc_id": doc_id })).status, 200);
}
