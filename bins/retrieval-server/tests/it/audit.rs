//! The audit log of operator commands.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Database, Server, uuid_of};

on_both_databases!(every_operator_change_is_audited, failed_changes_are_not_audited);

fn prepared(database: Database) -> Server {
    let server = Server::prepare(database, "");
    server.command(&["migrate"]).object();
    server
}

fn audit(server: &Server, arguments: &[&str]) -> Vec<Value> {
    server.command(&[&["admin", "audit"], arguments].concat()).lines()
}

fn actions(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|entry| entry["action"].as_str().unwrap()).collect()
}

fn every_operator_change_is_audited(database: Database) {
    let server = prepared(database);
    let organization = server.admin(&["org", "create", "--name", "Größe", "--prepaid-cents", "5"]);
    let id = organization["organization_id"].as_str().unwrap();
    let limited = ["--scopes", "search:read,files:read", "--expires-at", "2099-01-31T00:00:00Z"];
    let key = server.create_key(uuid_of(&organization["organization_id"]), &limited);
    server.admin(&["balance", "add", "--org", id, "--cents", "70"]);
    for _ in 0..2 {
        server.admin(&["key", "revoke", key["api_key_id"].as_str().unwrap()]);
    }
    server.create_organization("another");

    let all = audit(&server, &[]);
    let expected = ["organization.created", "key.revoked", "balance.added", "key.created", "organization.created"];
    assert_eq!(actions(&all), expected, "newest first; the second revocation changes nothing");
    let actor = all[0]["actor"].as_str().unwrap();
    assert!(actor.strip_prefix("cli:").and_then(|actor| actor.split_once('@')).is_some(), "{actor}");
    assert!(all.iter().all(|entry| entry["actor"] == actor && entry["created_at"].is_string()), "{all:#?}");
    let ledger = server.command(&["admin", "balance", "ledger", "--org", id]).lines();
    assert_eq!(all[2]["subject_id"], ledger[1]["entry_id"]);
    let changes: Vec<_> = all[1..].iter().map(|entry| (&entry["subject_id"], &entry["details"])).collect();
    let created = json!({
        "name": "test", "key_prefix": key["key_prefix"], "scopes": "search:read files:read",
        "limit_rps": null, "expires_at": "2099-01-31T00:00:00Z",
    });
    assert_eq!(changes[0], (&key["api_key_id"], &json!({})));
    assert_eq!(changes[1].1, &json!({ "cents": 70 }));
    assert_eq!(changes[2], (&key["api_key_id"], &created));
    assert_eq!(changes[3], (&organization["organization_id"], &json!({ "name": "Größe", "prepaid_cents": 5 })));
    let secret = key["key"].as_str().unwrap();
    assert!(!server.command(&["admin", "audit"]).stdout.contains(secret));

    assert_eq!(audit(&server, &["--org", id]), all[1..]);
    assert_eq!(audit(&server, &["--action", "key.created"]), [all[3].clone()]);
    assert_eq!(audit(&server, &["--limit", "2"]), all[..2]);
    assert_eq!(audit(&server, &["--since", all[1]["created_at"].as_str().unwrap()]), all[..2]);
    assert_eq!(audit(&server, &["--since", "2100-01-01T00:00:00Z"]), [] as [Value; 0]);
    for wrong in [["--action", "key.stolen"], ["--since", "yesterday"], ["--org", "acme"], ["--limit", "0"]] {
        assert_eq!(server.command(&[&["admin", "audit"], &wrong[..]].concat()).code(), Some(2), "{wrong:?}");
    }
}

fn failed_changes_are_not_audited(database: Database) {
    let server = prepared(database);
    let unbilled = server.create_organization("unbilled").to_string();
    let unknown = Uuid::new_v4().to_string();
    for (refused, status) in [
        (&["org", "create", "--name", " "][..], 2),
        (&["org", "create", "--name", "x", "--prepaid-cents", "18446744073709551615"], 2),
        (&["key", "create", "--org", &unknown, "--name", "x"], 1),
        (&["key", "revoke", &unknown], 1),
        (&["balance", "add", "--org", &unbilled, "--cents", "5"], 1),
        (&["balance", "add", "--org", &unknown, "--cents", "5"], 1),
    ] {
        assert_eq!(server.command(&[&["admin"], refused].concat()).code(), Some(status), "{refused:?}");
    }
    assert_eq!(actions(&audit(&server, &[])), ["organization.created"]);
    assert_eq!(server.command(&["admin", "org", "list"]).lines().len(), 1);
}

#[test]
fn first_start_is_audited_as_server() {
    let server = Server::start(Database::sqlite());
    let first = crate::support::until("the first key is created", std::time::Duration::from_secs(5), || {
        Some(audit(&server, &[])).filter(|entries| entries.len() == 2)
    });
    assert_eq!(actions(&first), ["key.created", "organization.created"]);
    assert!(first.iter().all(|entry| entry["actor"] == "server"), "{first:#?}");
}
