use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use models::ModelError;
use models::scoring::Reranker;
use models_http::{HttpReranker, HttpRerankerOptions};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use trace_context::TraceContext;

/// An endpoint that answers each request by the function: status and body. `None` never answers.
async fn endpoint(answer: impl Fn(&str, Value) -> Option<(u16, Value)> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                loop {
                    let (mut head, mut length) = (String::new(), 0);
                    loop {
                        let before = head.len();
                        if stream.read_line(&mut head).await.unwrap_or(0) == 0 {
                            return;
                        }
                        let line = head[before..].to_ascii_lowercase();
                        if let Some(value) = line.strip_prefix("content-length:") {
                            length = value.trim().parse().expect("a length");
                        }
                        if line == "\r\n" {
                            break;
                        }
                    }
                    let mut body = vec![0; length];
                    stream.read_exact(&mut body).await.expect("a body");
                    let body = serde_json::from_slice(&body).expect("JSON");
                    let Some((status, answer)) = answer(&head, body) else { std::future::pending().await };
                    let answer = answer.to_string();
                    let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{answer}", answer.len());
                    stream.write_all(answer.as_bytes()).await.expect("written");
                }
            });
        }
    });
    url
}

fn reranker(url: &str) -> HttpReranker {
    HttpReranker::new(HttpRerankerOptions {
        url: url.to_owned(),
        model: "m".into(),
        api_key: Some("s3cret".into()),
        timeout: Duration::from_millis(300),
    })
    .expect("a client")
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

/// Scores each text by the number that it is.
fn by_number(texts: &Value, name: &str) -> Vec<Value> {
    let texts = texts.as_array().expect("texts").iter();
    let score = |text: &Value| text.as_str().expect("a text").parse::<f64>().expect("a number");
    // The best first, as endpoints answer.
    let mut scored: Vec<(usize, f64)> = texts.map(score).enumerate().collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1));
    scored.into_iter().map(|(index, score)| json!({ "index": index, name: score })).collect()
}

#[tokio::test]
async fn documents_are_scored_in_batches_and_come_back_in_order() {
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let url = endpoint(move |head, body| {
        counted.fetch_add(1, Ordering::SeqCst);
        assert!(head.starts_with("POST /rerank "), "{head}");
        assert!(head.to_ascii_lowercase().contains("authorization: bearer s3cret"), "{head}");
        assert_eq!((&body["model"], &body["query"]), (&json!("m"), &json!("which?")));
        Some((200, json!({ "results": by_number(&body["documents"], "relevance_score") })))
    })
    .await;
    let reranker = reranker(&url);
    let scores = reranker.score("which?", &numbers(70)).await.expect("scores");
    assert_eq!(scores, (0..70).map(|number| number as f32).collect::<Vec<_>>());
    assert_eq!(requests.load(Ordering::SeqCst), 3);
    assert_eq!(reranker.version(), "http:m");
    assert!(reranker.is_healthy());
    assert!(reranker.score("which?", &[]).await.expect("nothing to do").is_empty());
}

#[tokio::test]
async fn accepted_dialect_is_remembered() {
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let url = endpoint(move |_, body| {
        counted.fetch_add(1, Ordering::SeqCst);
        Some(match body.get("texts") {
            Some(texts) => (200, Value::Array(by_number(texts, "score"))),
            None => (422, json!({ "error": "missing field `texts`" })),
        })
    })
    .await;
    let reranker = reranker(&url);
    for _ in 0..3 {
        assert_eq!(reranker.score("q", &numbers(3)).await.expect("scores"), [0.0, 1.0, 2.0]);
    }
    assert_eq!(requests.load(Ordering::SeqCst), 4, "only the first call had to try");
}

#[tokio::test]
async fn texts_too_long_for_the_model_are_shortened_and_the_length_is_remembered() {
    for (status, message) in [
        (400, "This model's maximum context length is 512 tokens"),
        (500, "input is too large to process. increase the physical batch size"),
    ] {
        let lengths = Arc::new(Mutex::new(Vec::new()));
        let sent = Arc::clone(&lengths);
        let url = endpoint(move |_, body| {
            let documents = body["documents"].as_array().expect("documents");
            let longest = documents.iter().filter_map(Value::as_str).map(str::len).max().unwrap_or(0);
            sent.lock().expect("no panic").push(longest);
            Some(if longest > 900 {
                (status, json!({ "error": { "message": message } }))
            } else {
                (200, json!({ "results": by_number(&body["documents"], "relevance_score") }))
            })
        })
        .await;
        let reranker = reranker(&url);
        // The long one is the same number when it is cut.
        let texts = ["2".to_owned(), format!("1.{}", "0".repeat(1_998))];
        assert_eq!(reranker.score("q", &texts).await.expect("scores"), [2.0, 1.0], "{message}");
        assert_eq!(reranker.score("q", &texts).await.expect("scores"), [2.0, 1.0], "{message}");
        assert_eq!(*lengths.lock().expect("no panic"), [2_000, 1_000, 500, 500], "{message}");
    }
}

#[tokio::test]
async fn other_rejections_do_not_shorten_texts() {
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let url = endpoint(move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        Some((500, json!({ "error": "context deadline exceeded" })))
    })
    .await;
    let outcome = reranker(&url).score("q", &["a".repeat(2_000)]).await;
    assert!(matches!(outcome, Err(ModelError::Status(500))), "{outcome:?}");
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn failures_are_typed() {
    let failing = endpoint(|_, _| Some((503, json!({})))).await;
    assert!(matches!(reranker(&failing).score("q", &numbers(1)).await, Err(ModelError::Status(503))));
    let refusing = endpoint(|_, _| Some((400, json!({})))).await;
    assert!(matches!(reranker(&refusing).score("q", &numbers(1)).await, Err(ModelError::Status(400))));
    let senseless = endpoint(|_, _| Some((200, json!({ "results": [] })))).await;
    assert!(matches!(reranker(&senseless).score("q", &numbers(1)).await, Err(ModelError::InvalidResponse(_))));
    let unreachable = reranker("http://127.0.0.1:1/rerank");
    let error = unreachable.score("q", &numbers(1)).await.expect_err("the port is closed");
    assert!(matches!(error, ModelError::Unreachable(_)));
    assert!(!unreachable.is_healthy());
    tokio::time::pause();
    tokio::time::advance(Duration::from_mins(1)).await;
    assert!(unreachable.is_healthy(), "one failed call is no outage for ever");
    assert!(!format!("{error:?}").contains("127.0.0.1:1/"), "{error:?}");
}

#[tokio::test]
async fn hanging_endpoint_is_skipped_after_two_timeouts_and_retried_later() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let url = endpoint(move |_, body| {
        // The first calls hang.
        let hangs = counted.fetch_add(1, Ordering::SeqCst) < 2;
        (!hangs).then(|| (200, json!({ "results": by_number(&body["documents"], "relevance_score") })))
    })
    .await;
    let reranker = reranker(&url);
    let started = Instant::now();
    for _ in 0..2 {
        assert!(matches!(reranker.score("q", &numbers(1)).await, Err(ModelError::Timeout)));
    }
    assert!(matches!(reranker.score("q", &numbers(1)).await, Err(ModelError::CoolingDown)));
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    let answered = async {
        while reranker.score("q", &numbers(1)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), answered).await.expect("it is asked again");
    assert!(started.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn late_call_does_not_pause_others() {
    let url = endpoint(|_, body| {
        let is_late = body["query"] == "late";
        (!is_late).then(|| (200, json!({ "results": by_number(&body["documents"], "relevance_score") })))
    })
    .await;
    let reranker = reranker(&url);
    for _ in 0..3 {
        assert!(matches!(reranker.score("late", &numbers(1)).await, Err(ModelError::Timeout)));
        assert_eq!(reranker.score("q", &numbers(1)).await.expect("scores"), [0.0]);
    }
}

#[test]
fn key_is_hidden_and_url_is_checked() {
    let options = HttpRerankerOptions {
        url: "nowhere".into(),
        model: String::new(),
        api_key: Some("s3cret".into()),
        timeout: Duration::from_secs(1),
    };
    assert!(!format!("{options:?}").contains("s3cret"));
    assert!(HttpReranker::new(options).is_err());
}

#[tokio::test]
async fn calls_continue_the_trace_of_their_work() {
    let (sender, heads) = std::sync::mpsc::channel();
    let url = endpoint(move |head, _| {
        sender.send(head.to_ascii_lowercase()).expect("a receiver");
        Some((200, json!({"results": [{"index": 0, "relevance_score": 0.5}]})))
    })
    .await;
    let reranker = reranker(&url);
    let texts = ["a".to_owned()];
    reranker.score("q", &texts).await.expect("scores");
    assert!(!heads.recv().expect("a request").contains("traceparent"), "outside of a trace");
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let context = TraceContext::continued(parent, Some("vendor=1")).expect("a context");
    trace_context::within(context, reranker.score("q", &texts)).await.expect("scores");
    let head = heads.recv().expect("a request");
    assert!(head.contains("traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-"), "{head}");
    assert!(head.contains("tracestate: vendor=1"), "{head}");
}
