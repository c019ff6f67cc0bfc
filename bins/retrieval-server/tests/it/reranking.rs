//! The second stage of ranking: a model endpoint, its outage, and no second stage.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Client, Database, Server, until};

on_both_databases!(
    model_reranks_results_with_fallback_on_timeout,
    without_second_stage_results_are_in_first_stage_order
);

const FIRST_STAGE_ORDER: &str = "first_stage_order_v1";

/// A `/rerank` endpoint that prefers texts with the word gold. While `hangs` is set it sends no responses.
struct Model {
    url: String,
    hangs: Arc<AtomicBool>,
}

impl Model {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let hangs = Arc::new(AtomicBool::new(false));
        let hangs_flag = Arc::clone(&hangs);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let hangs_flag = Arc::clone(&hangs_flag);
                std::thread::spawn(move || while answer(&stream, &hangs_flag).is_some() {});
            }
        });
        Self { url, hangs }
    }
}

fn answer(mut stream: &TcpStream, hangs: &AtomicBool) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request: Value = serde_json::from_slice(&body).ok()?;
    if hangs.load(Ordering::SeqCst) {
        return Some(());
    }
    let is_relevant = |text: &Value| text.as_str().is_some_and(|text| text.contains("gold"));
    let scores = request["documents"].as_array()?.iter().enumerate();
    let scores = scores
        .map(|(index, text)| json!({ "index": index, "relevance_score": f64::from(u8::from(is_relevant(text))) }));
    let answer = json!({ "results": scores.collect::<Vec<_>>() }).to_string();
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len()).ok()
}

fn fill(server: &Server) -> Client {
    let client = server.tenant("acme");
    server.import(&[
        json!({ "url": "https://example.com/a", "title": "Walrus", "text": "Walrus, walrus, walrus." }),
        json!({ "url": "https://example.com/b", "title": "Metals", "text": "About gold, and once about a walrus." }),
        json!({ "url": "https://example.com/c", "title": "Clams", "text": "What the walrus eats." }),
    ]);
    client.upload("own.txt", "A walrus of our own. ");
    client.upload("gold.txt", "Much is said here of metals, of gold, and of no walrus but one.");
    client.index();
    client
}

fn urls(answer: &Value) -> Vec<&str> {
    answer["results"].as_array().unwrap().iter().map(|result| result["canonical_url"].as_str().unwrap()).collect()
}

fn warnings(answer: &Value) -> Vec<&str> {
    answer["warnings"].as_array().into_iter().flatten().map(|warning| warning["code"].as_str().unwrap()).collect()
}

fn scores_descend(answer: &Value) -> bool {
    let scores: Vec<f64> =
        answer["results"].as_array().unwrap().iter().map(|result| result["score"]["value"].as_f64().unwrap()).collect();
    scores.windows(2).all(|pair| pair[0] >= pair[1])
}

fn model_reranks_results_with_fallback_on_timeout(database: Database) {
    let model = Model::start();
    let settings = format!("[rerank]\nbackend = \"http\"\nurl = {:?}\nmodel = \"m\"\ntimeout_ms = 300\n", model.url);
    let server = Server::start_with(database, &settings);
    let client = fill(&server);
    let search = || client.search_web("walrus");

    let ordered = search();
    assert_eq!(ordered["ranking"]["ranker_version"], "http:m");
    assert_eq!(urls(&ordered)[0], "https://example.com/b", "{ordered:#}");
    assert!(scores_descend(&ordered) && warnings(&ordered).is_empty(), "{ordered:#}");
    assert!(ordered["results"][0]["passages"][0]["text"].as_str().unwrap().contains("gold"));
    let scope = json!({ "indexes": ["web", "workspace"], "workspace_id": client.organization });
    let both = client.search("walrus", json!({ "scope": scope })).ok();
    assert!(urls(&both)[..2].iter().any(|url| url.ends_with("gold.txt")), "the model orders each list: {both:#}");

    model.hangs.store(true, Ordering::SeqCst);
    let started = Instant::now();
    let without = search();
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(without["ranking"]["ranker_version"], FIRST_STAGE_ORDER);
    assert_eq!(warnings(&without), ["rerank_unavailable"]);
    assert_eq!(urls(&without)[0], "https://example.com/a", "{without:#}");
    assert!(scores_descend(&without) && without["results"][0]["passages"][0]["text"].is_string(), "{without:#}");

    model.hangs.store(false, Ordering::SeqCst);
    until("the model is used again", Duration::from_secs(20), || {
        (search()["ranking"]["ranker_version"] == "http:m").then_some(())
    });
}

fn without_second_stage_results_are_in_first_stage_order(database: Database) {
    let server = Server::start_with(database, "[rerank]\nbackend = \"none\"\n");
    let client = fill(&server);
    let found = client.search_web("walrus");
    assert_eq!(found["ranking"]["ranker_version"], FIRST_STAGE_ORDER);
    assert_eq!(warnings(&found), ["rerank_unavailable"]);
    assert_eq!((urls(&found)[0], urls(&found).len()), ("https://example.com/a", 3));
    assert!(scores_descend(&found), "{found:#}");
    let exact = json!({ "filters": { "exact_match": true } });
    assert_eq!(urls(&client.search("the walrus eats", exact).ok()), ["https://example.com/c"]);
}
