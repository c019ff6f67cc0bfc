//! Models that answer without an end.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::chat::ChatEndpoint;
use test_support::endpoint::Reply;

use crate::support::{Client, Database, Server, until};

on_both_databases!(endless_answers_of_the_model_leave_an_extractive_report);

const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"choices\": [{\"message\": {\"content\": \"";

fn endless_answers_of_the_model_leave_an_extractive_report(database: Database) {
    const TIMEOUT: Duration = Duration::from_millis(1_500);
    let flood = Reply::Endless(HEAD.to_vec(), vec![b'x'; 1 << 16]);
    let trickle = Reply::Drip(HEAD.to_vec(), b"x".to_vec(), Duration::from_millis(50));
    let headers = Reply::Drip(b"HTTP/1.1 200 OK\r\n".to_vec(), b"X-More: x\r\n".to_vec(), Duration::from_millis(50));
    let replies = [flood, trickle, headers];
    let chosen = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let choice = std::sync::Arc::clone(&chosen);
    let chat = ChatEndpoint::start(move |_, _| replies[choice.load(std::sync::atomic::Ordering::SeqCst)].clone());
    let settings = format!(
        "[generate]\nbackend = \"http\"\nurl = {:?}\nmodel = \"endless\"\ntimeout_ms = {}\n",
        chat.url(),
        TIMEOUT.as_millis()
    );
    let server = Server::start_with(database, &settings);
    let client = server.tenant("acme");
    client.upload("grease.txt", "The X200 pump takes lithium grease of class NLGI 2 at both bearings.");
    client.index();
    for reply in 0..3 {
        chosen.store(reply, std::sync::atomic::Ordering::SeqCst);
        let asked = chat.requests().len();
        let started = Instant::now();
        let run = run(&client);
        // After a timeout the model is left alone for a while; the run goes on without it in any case.
        assert!(started.elapsed() < TIMEOUT + Duration::from_secs(8), "{reply}: {:?}", started.elapsed());
        assert_eq!((&run["status"], &run["output"]["engine"]), (&json!("completed"), &json!("extractive")), "{run:#}");
        assert!(run["output"]["text"].as_str().unwrap().contains("lithium grease"), "{run:#}");
        let codes: Vec<&Value> = run["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
        assert!(codes.contains(&&json!("synthesis_unavailable")), "{codes:?}");
        assert!(chat.requests().len() > asked, "the model was asked");
        // Longer than the time for which a model that timed out is skipped.
        std::thread::sleep(Duration::from_secs(if reply == 0 { 0 } else { 6 }));
    }
    let resident = server.counted("process_resident_memory_bytes");
    assert!(resident < 600 << 20, "{resident} bytes");
}

fn run(client: &Client) -> Value {
    let body = json!({
        "query": "Which grease does the X200 pump take?", "depth": "standard", "scope": client.workspace_scope(),
    });
    let created = client.post("/v1/research", &body);
    assert_eq!(created.status, 202, "{created:#?}");
    let id = created.json()["research_id"].as_str().unwrap().to_owned();
    until("the run ends", Duration::from_secs(60), || {
        let run = client.get(&format!("/v1/research/{id}")).ok();
        (!matches!(run["status"].as_str(), Some("queued" | "running"))).then_some(run)
    })
}
