//! Events of runs, delivered by a running server.

use std::time::Duration;

use model::{Clock, SystemClock};
use serde_json::json;
use test_support::endpoint::{Endpoint, Received, Reply};
use webhooks::{Headers, verify};

use crate::support::{Database, Server, until};

on_both_databases!(end_of_a_run_is_delivered_and_signed, loopback_is_refused_unless_opened);

const OPEN: &str = "[webhooks]\nallow_networks = [\"127.0.0.0/8\"]\n";

fn is_authentic(request: &Received, secret: &str) -> bool {
    let headers = Headers {
        id: request.header("webhook-id"),
        timestamp: request.header("webhook-timestamp"),
        signature: request.header("webhook-signature"),
    };
    verify([secret], headers, &request.body, SystemClock.now(), Duration::from_mins(5)).is_ok()
}

fn end_of_a_run_is_delivered_and_signed(database: Database) {
    let endpoint = Endpoint::start(|_, _| Reply::status(200));
    let server = Server::start_with(database, OPEN);
    let client = server.tenant("owner");
    let request = json!({"url": endpoint.url("/in"), "event_types": ["run.completed"]});
    let webhook = client.post("/v1/webhooks", &request).ok();
    client.upload("a.txt", "A file.");
    let sync_id = client.start_run("incremental");
    client.finish_run(&sync_id);
    let request = until("the delivery", Duration::from_secs(30), || endpoint.received().into_iter().next());
    assert!(is_authentic(&request, webhook["secret"].as_str().unwrap()));
    let body = request.json();
    assert_eq!((&body["type"], &body["data"]["sync_id"]), (&json!("run.completed"), &json!(sync_id)));
    assert_eq!((&body["data"]["state"], &body["data"]["stats"]["indexed"]), (&json!("completed"), &json!(1)));
    let id = webhook["webhook_id"].as_str().unwrap();
    assert_eq!(client.send("DELETE", &format!("/v1/webhooks/{id}"), &[], None).ok()["deleted"], true);
}

fn loopback_is_refused_unless_opened(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("owner");
    let request = json!({"url": "http://127.0.0.1:9/", "event_types": ["run.completed"]});
    let answer = client.post("/v1/webhooks", &request);
    assert_eq!((answer.status, &answer.json()["error"]["details"]["field"]), (400, &json!("url")));
}
