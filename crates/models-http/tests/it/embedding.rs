use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use models::ModelError;
use models::embedding::{Embedder, TextKind};
use models_http::{HttpEmbedder, HttpEmbedderOptions};
use serde_json::{Value, json};
use test_support::endpoint::{Endpoint, Received, Reply};
use test_support::until;

fn options(endpoint: &Endpoint, path: &str) -> HttpEmbedderOptions {
    HttpEmbedderOptions {
        url: endpoint.url(path),
        model: "m".into(),
        api_key: Some("s3cret".into()),
        dimensions: 0,
        query_prefix: String::new(),
        document_prefix: String::new(),
        batch: 32,
        timeout: Duration::from_secs(10),
        document_timeout: Duration::from_secs(20),
        retry_delay: Duration::from_millis(1),
    }
}

fn embedder(endpoint: &Endpoint) -> HttpEmbedder {
    HttpEmbedder::new(options(endpoint, "/v1")).expect("a client")
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

/// Returns the vector of a text that is a number: an angle in hundredths.
fn vector(text: &Value) -> Value {
    let angle = text.as_str().expect("a text").parse::<f64>().expect("a number") / 100.0;
    json!([3.0 * angle.cos(), 3.0 * angle.sin()])
}

/// Answers as OpenAI's endpoint does, in another order than that of the texts.
fn vectors(request: &Received) -> Reply {
    let body = request.json();
    let input = body["input"].as_array().expect("a list").iter().enumerate();
    let data: Vec<Value> =
        input.rev().map(|(index, text)| json!({"index": index, "embedding": vector(text)})).collect();
    Reply::json(200, &json!({"object": "list", "data": data, "usage": {"total_tokens": 1}}))
}

/// Answers every text with the same vector.
fn same(request: &Received) -> Reply {
    let count = request.json()["input"].as_array().expect("a list").len();
    let data: Vec<Value> = (0..count).map(|index| json!({"index": index, "embedding": [0.6, 0.8]})).collect();
    Reply::json(200, &json!({ "data": data }))
}

/// Returns the lengths of the texts of a request, in bytes.
fn lengths(request: &Received) -> Vec<usize> {
    let body = request.json();
    body["input"].as_array().expect("a list").iter().filter_map(Value::as_str).map(str::len).collect()
}

/// Answers as [`same`] does, unless a text is longer than the limit of the model, in bytes.
fn same_up_to(limit: usize, request: &Received) -> Reply {
    if lengths(request).into_iter().max() > Some(limit) {
        return Reply::json(400, &json!({"error": {"message": format!("maximum context length is {limit} tokens")}}));
    }
    same(request)
}

fn limited(seconds: u64) -> Reply {
    Reply::other(429, &[&format!("Retry-After: {seconds}")], "{}")
}

#[tokio::test]
async fn texts_are_embedded_in_batches_and_come_back_in_order() {
    let endpoint = Endpoint::start(|_, request| vectors(request));
    let embedder = embedder(&endpoint);
    assert_eq!(embedder.dimensions(), None);
    let found = embedder.embed(TextKind::Document, &numbers(70)).await.expect("vectors");
    assert_eq!(found.len(), 70);
    for (number, vector) in found.iter().enumerate() {
        let angle = number as f32 / 100.0;
        assert!((vector[0] - angle.cos()).abs() < 1e-6 && (vector[1] - angle.sin()).abs() < 1e-6, "{number}");
    }
    assert_eq!((embedder.dimensions(), embedder.version(), embedder.is_healthy()), (Some(2), "http:m", true));
    let requests = endpoint.received();
    assert_eq!(requests.len(), 3);
    assert!(requests[0].head.starts_with("POST /v1/embeddings "), "{}", requests[0].head);
    assert_eq!(requests[0].header("authorization"), "Bearer s3cret");
    assert_eq!(requests[0].json()["model"], "m");

    assert!(embedder.embed(TextKind::Query, &[]).await.expect("nothing to do").is_empty());
    assert_eq!(endpoint.received().len(), 3);
}

#[tokio::test]
async fn other_dialects_are_spoken() {
    for (path, answer, query) in [
        ("/embed", json!([[0, 2]]), json!({"inputs": ["7"], "truncate": true, "dimensions": 2})),
        (
            "/v2/embed",
            json!({"id": "x", "embeddings": {"float": [[0, 2]]}, "texts": ["7"]}),
            json!({"model": "m", "texts": ["7"], "input_type": "search_query", "embedding_types": ["float"],
                   "truncate": "END", "output_dimension": 2}),
        ),
    ] {
        let endpoint = Endpoint::start(move |_, _| Reply::json(200, &answer));
        let options = HttpEmbedderOptions { dimensions: 2, ..options(&endpoint, path) };
        let embedder = HttpEmbedder::new(options).expect("a client");
        assert_eq!(embedder.embed(TextKind::Query, &numbers(8)[7..]).await.expect(path), [[0.0, 1.0]]);
        assert_eq!(endpoint.received()[0].json(), query);
    }
}

#[tokio::test]
async fn queries_and_documents_are_told_apart() {
    let endpoint = Endpoint::start(|_, request| same(request));
    let plain = embedder(&endpoint);
    let prefixed = HttpEmbedder::new(HttpEmbedderOptions {
        query_prefix: "query: ".into(),
        document_prefix: "passage: ".into(),
        dimensions: 2,
        ..options(&endpoint, "/v1")
    })
    .expect("a client");
    prefixed.embed(TextKind::Query, &texts(&["a"])).await.expect("vectors");
    prefixed.embed(TextKind::Document, &texts(&["b"])).await.expect("vectors");
    let sent: Vec<Value> = endpoint.received().iter().map(|request| request.json()["input"].clone()).collect();
    assert_eq!(sent, [json!(["query: a"]), json!(["passage: b"])]);
    assert_eq!(plain.version(), "http:m");
    let (start, digest) = prefixed.version().split_at("http:m:d2:p".len());
    assert_eq!((start, digest.len()), ("http:m:d2:p", 8));

    // The dialect tells them apart as well.
    let jina = HttpEmbedderOptions { model: "jina-embeddings-v3".into(), ..options(&endpoint, "/v1") };
    let jina = HttpEmbedder::new(jina).expect("a client");
    jina.embed(TextKind::Query, &texts(&["a"])).await.expect("vectors");
    assert_eq!(endpoint.received()[2].json()["task"], "retrieval.query");
    assert!(jina.version().starts_with("http:jina-embeddings-v3:p"), "{}", jina.version());
    for (model, version) in [
        ("jina-embeddings-v3", "http:jina-embeddings-v3:pd79ff6f9"),
        ("jina-embeddings-v4", "http:jina-embeddings-v4:pd79ff6f9"),
        ("jina-code-embeddings-1.5b", "http:jina-code-embeddings-1.5b:pbd1ef68c"),
        ("jina-embeddings-v2-base-en", "http:jina-embeddings-v2-base-en"),
    ] {
        let jina = HttpEmbedderOptions { model: model.into(), ..options(&endpoint, "/v1") };
        assert_eq!(HttpEmbedder::new(jina).expect("a client").version(), version);
    }
}

#[tokio::test]
async fn long_and_blank_texts_are_sent_as_the_endpoint_takes_them() {
    let endpoint = Endpoint::start(|_, request| same(request));
    embedder(&endpoint).embed(TextKind::Document, &[String::new(), "é".repeat(100_000)]).await.expect("vectors");
    let input = endpoint.received()[0].json()["input"].clone();
    assert_eq!(input[0], ".");
    assert_eq!(input[1].as_str().expect("a text").chars().count(), 8_000);
}

#[tokio::test]
async fn texts_beyond_the_limit_of_tokens_are_shortened() {
    let endpoint = Endpoint::start(|_, request| same_up_to(512, request));
    let embedder = embedder(&endpoint);
    let texts = ["a".repeat(2_000), "b".repeat(512), "c".to_owned()];
    assert_eq!(embedder.embed(TextKind::Document, &texts).await.expect("vectors").len(), 3);
    let sent = endpoint.received().into_iter().map(|request| lengths(&request));
    // The others are sent whole.
    let expected: [&[usize]; 5] = [&[2_000, 512, 1], &[2_000], &[1_000], &[500], &[512, 1]];
    assert_eq!(sent.collect::<Vec<_>>(), expected);
    // A rejection for another reason is final, and no outage.
    let refusing = Endpoint::start(|_, _| Reply::json(400, &json!({"error": "bad characters"})));
    let embedder = self::embedder(&refusing);
    let outcome = embedder.embed(TextKind::Document, &["a".repeat(2_000)]).await;
    assert!(matches!(outcome, Err(ModelError::Status(400))) && embedder.is_healthy());
    assert_eq!(refusing.received().len(), 1);
}

#[tokio::test]
async fn texts_are_shortened_and_not_their_prefix() {
    let prefix = "p".repeat(450);
    for kind in [TextKind::Query, TextKind::Document] {
        let prefixed = |endpoint: &Endpoint| {
            let (query_prefix, document_prefix) = (prefix.clone(), prefix.clone());
            HttpEmbedder::new(HttpEmbedderOptions { query_prefix, document_prefix, ..options(endpoint, "/v1") })
                .expect("a client")
        };
        let endpoint = Endpoint::start(|_, request| same_up_to(600, request));
        let texts = ["a".repeat(2_000), "b".repeat(2_000), "c".to_owned()];
        assert_eq!(prefixed(&endpoint).embed(kind, &texts).await.expect("vectors").len(), 3);
        let requests = endpoint.received();
        let accepted = requests.iter().filter(|request| lengths(request).iter().all(|length| *length <= 600));
        let accepted: Vec<Value> = accepted.map(|request| request.json()["input"].clone()).collect();
        let shortened = |text: &str, length: usize| format!("{prefix}{}", text.repeat(length));
        let expected = [json!([shortened("a", 125)]), json!([shortened("b", 125)]), json!([shortened("c", 1)])];
        assert_eq!(accepted, expected);

        // The prefix leaves too little of the text, which is rejected.
        let endpoint = Endpoint::start(|_, request| same_up_to(512, request));
        let outcome = prefixed(&endpoint).embed(kind, &texts[..1]).await;
        assert!(matches!(outcome, Err(ModelError::Status(400))), "{outcome:?}");
        let sent: Vec<usize> = endpoint.received().iter().flat_map(lengths).collect();
        assert_eq!(sent, [2_450, 1_450, 950, 700, 575, 550]);
    }
}

#[tokio::test]
async fn failures_of_the_server_do_not_shorten_texts() {
    let endpoint = Endpoint::start(|number, request| match number {
        0 => Reply::json(500, &json!({"error": "error:failed to create context with model"})),
        1 => Reply::json(500, &json!({"error": "context deadline exceeded"})),
        _ => same(request),
    });
    embedder(&endpoint).embed(TextKind::Document, &["a".repeat(2_000)]).await.expect("vectors");
    for request in endpoint.received() {
        assert_eq!(request.json()["input"][0].as_str().map(str::len), Some(2_000));
    }
    assert_eq!(endpoint.received().len(), 3);
}

#[tokio::test]
async fn temporary_failures_are_retried_for_documents_only() {
    let endpoint = Endpoint::start(|number, request| match number {
        0 => Reply::status(503),
        1 => Reply::Close,
        2 => Reply::status(500),
        _ => vectors(request),
    });
    let embedder = embedder(&endpoint);
    assert!(matches!(embedder.embed(TextKind::Query, &numbers(1)).await, Err(ModelError::Status(503))));
    assert!(!embedder.is_healthy());
    assert_eq!(endpoint.received().len(), 1);
    embedder.embed(TextKind::Document, &numbers(1)).await.expect("vectors");
    assert!(embedder.is_healthy());
    assert_eq!(endpoint.received().len(), 4);
}

#[tokio::test]
async fn permanent_failures_are_not_retried() {
    for status in [301, 400, 401, 404, 501] {
        let endpoint = Endpoint::start(move |_, _| Reply::status(status));
        let outcome = embedder(&endpoint).embed(TextKind::Document, &numbers(1)).await;
        assert!(matches!(outcome, Err(ModelError::Status(found)) if found == status), "{outcome:?}");
        assert_eq!(endpoint.received().len(), 1);
    }
    let unreachable = HttpEmbedderOptions {
        url: "http://127.0.0.1:1/secret/v1".into(),
        ..options(&Endpoint::start(|_, _| Reply::Close), "/v1")
    };
    let unreachable = HttpEmbedder::new(unreachable).expect("a client");
    let error = unreachable.embed(TextKind::Query, &numbers(1)).await.expect_err("the port is closed");
    assert!(matches!(error, ModelError::Unreachable(_)));
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
}

#[tokio::test]
async fn short_pause_that_the_endpoint_asks_for_is_kept() {
    let endpoint = Endpoint::start(|number, request| if number == 0 { limited(1) } else { vectors(request) });
    let embedder = embedder(&endpoint);
    let started = Instant::now();
    embedder.embed(TextKind::Document, &numbers(1)).await.expect("vectors");
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(endpoint.received().len(), 2);
}

#[tokio::test]
async fn long_pause_is_remembered_for_all_calls() {
    for first in [TextKind::Query, TextKind::Document] {
        let endpoint = Endpoint::start(|_, _| limited(60));
        let embedder = embedder(&endpoint);
        assert!(matches!(embedder.embed(first, &numbers(1)).await, Err(ModelError::Status(429))));
        let mut sent = 1;
        if first == TextKind::Document {
            let outcome = embedder.embed(TextKind::Document, &numbers(1)).await;
            assert!(matches!(outcome, Err(ModelError::CoolingDown)), "{outcome:?}");
            // A query has a limit of its own until it meets one.
            let outcome = embedder.embed(TextKind::Query, &numbers(1)).await;
            assert!(matches!(outcome, Err(ModelError::Status(429))), "{outcome:?}");
            sent += 1;
        }
        for kind in [TextKind::Query, TextKind::Document] {
            assert!(matches!(embedder.embed(kind, &numbers(1)).await, Err(ModelError::CoolingDown)));
        }
        assert!(!embedder.is_healthy(), "a skipped call is no success");
        assert_eq!(endpoint.received().len(), sent);
    }
}

#[tokio::test]
async fn limit_of_documents_does_not_silence_queries() {
    let endpoint = Endpoint::start(|number, request| match number {
        0 | 3 => limited(60),
        _ => vectors(request),
    });
    let embedder = embedder(&endpoint);
    assert!(matches!(embedder.embed(TextKind::Document, &numbers(1)).await, Err(ModelError::Status(429))));
    for _ in 0..2 {
        embedder.embed(TextKind::Query, &numbers(1)).await.expect("vectors");
        let outcome = embedder.embed(TextKind::Document, &numbers(1)).await;
        assert!(matches!(outcome, Err(ModelError::CoolingDown)), "{outcome:?}");
    }
    assert!(matches!(embedder.embed(TextKind::Query, &numbers(1)).await, Err(ModelError::Status(429))));
    for kind in [TextKind::Query, TextKind::Document] {
        assert!(matches!(embedder.embed(kind, &numbers(1)).await, Err(ModelError::CoolingDown)));
    }
    assert_eq!(endpoint.received().len(), 4);
}

#[tokio::test]
async fn pause_is_kept_if_the_body_of_the_error_breaks_off_or_stalls() {
    for (status, kind) in [(429, TextKind::Query), (429, TextKind::Document), (503, TextKind::Query)] {
        for reply in Reply::unfinished(status, &["Retry-After: 60"]) {
            let endpoint = Endpoint::start(move |_, _| reply.clone());
            let embedder = embedder(&endpoint);
            let outcome = embedder.embed(kind, &numbers(1)).await;
            assert!(matches!(outcome, Err(ModelError::Status(found)) if found == status), "{status}: {outcome:?}");
            let paused: &[TextKind] = match kind {
                TextKind::Query => &[TextKind::Query, TextKind::Document],
                TextKind::Document => &[TextKind::Document],
            };
            for kind in paused {
                assert!(matches!(embedder.embed(*kind, &numbers(1)).await, Err(ModelError::CoolingDown)), "{status}");
            }
            assert_eq!(endpoint.received().len(), 1);
        }
    }
}

#[tokio::test]
async fn final_status_is_kept_if_the_body_of_the_error_breaks_off_or_stalls() {
    // Shorter than the longest wait for the body of an error.
    let short = Duration::from_millis(900);
    for kind in [TextKind::Query, TextKind::Document] {
        for reply in Reply::unfinished(401, &[]) {
            let endpoint = Endpoint::start(move |_, _| reply.clone());
            let hurried = HttpEmbedderOptions { timeout: short, document_timeout: short, ..options(&endpoint, "/v1") };
            let embedder = HttpEmbedder::new(hurried).expect("a client");
            let outcome = embedder.embed(kind, &numbers(1)).await;
            assert!(matches!(outcome, Err(ModelError::Status(401))), "{outcome:?}");
            assert_eq!(endpoint.received().len(), 1, "it is final");
        }
    }
}

#[tokio::test]
async fn late_queries_end_at_their_timeout_and_pause_queries() {
    let endpoint = Endpoint::start(|number, request| if number < 2 { Reply::Silence } else { vectors(request) });
    let impatient = HttpEmbedderOptions { timeout: Duration::from_millis(100), ..options(&endpoint, "/v1") };
    let embedder = HttpEmbedder::new(impatient).expect("a client");
    for _ in 0..2 {
        assert!(matches!(embedder.embed(TextKind::Query, &numbers(1)).await, Err(ModelError::Timeout)));
        // It sends nothing, so it is no answer.
        let _ = embedder.embed(TextKind::Query, &[]).await;
    }
    assert!(matches!(embedder.embed(TextKind::Query, &numbers(1)).await, Err(ModelError::CoolingDown)));
    assert_eq!(endpoint.received().len(), 2);
    embedder.embed(TextKind::Document, &numbers(1)).await.expect("documents are not paused");
}

#[tokio::test]
async fn late_query_does_not_pause_others() {
    let is_long = |request: &Received| lengths(request).into_iter().max() > Some(1_000);
    let endpoint = Endpoint::start(move |_, request| if is_long(request) { Reply::Silence } else { vectors(request) });
    let impatient = HttpEmbedderOptions { timeout: Duration::from_millis(500), ..options(&endpoint, "/v1") };
    let embedder = HttpEmbedder::new(impatient).expect("a client");
    for _ in 0..3 {
        let late = embedder.embed(TextKind::Query, &["1".repeat(1_001)]).await;
        assert!(matches!(late, Err(ModelError::Timeout)), "{late:?}");
        embedder.embed(TextKind::Query, &numbers(1)).await.expect("vectors");
    }
}

#[tokio::test]
async fn silent_endpoint_ends_documents_at_their_timeout() {
    let endpoint = Endpoint::start(|_, _| Reply::Trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[".to_vec()));
    let impatient = HttpEmbedderOptions {
        timeout: Duration::from_millis(50),
        document_timeout: Duration::from_millis(200),
        ..options(&endpoint, "/v1")
    };
    let embedder = HttpEmbedder::new(impatient).expect("a client");
    assert!(matches!(embedder.embed(TextKind::Document, &numbers(1)).await, Err(ModelError::Timeout)));
}

#[tokio::test]
async fn requests_for_documents_are_limited_in_number() {
    let (open, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, peak) = (Arc::clone(&open), Arc::clone(&most));
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = std::sync::Mutex::new(released);
    let endpoint = Endpoint::start(move |_, request| {
        peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let _ = released.lock().map(|released| released.recv());
        now.fetch_sub(1, Ordering::SeqCst);
        vectors(request)
    });
    let embedder = HttpEmbedder::new(HttpEmbedderOptions { batch: 1, ..options(&endpoint, "/v1") }).expect("a client");
    let texts = numbers(12);
    let (found, ()) = tokio::join!(embedder.embed(TextKind::Document, &texts), async {
        until("four requests", async || (most.load(Ordering::SeqCst) == 4).then_some(())).await;
        (0..12).for_each(|_| release.send(()).expect("the endpoint"));
    });
    assert_eq!(found.expect("vectors").len(), 12);
    assert_eq!(most.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn hostile_responses_are_rejected() {
    let ok = |body: &str| Reply::other(200, &["Content-Type: application/json"], body);
    let chunk = " ".repeat(64 << 10).into_bytes();
    let endless = Reply::Endless(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n".to_vec(), chunk);
    for reply in [
        ok(""),
        ok("null"),
        ok("[[1, 0], [0, 1]]"),
        ok(r#"{"data": []}"#),
        ok(r#"{"data": [{"index": 0, "embedding": [1, 0]}]}"#),
        ok(r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [1, 0]}]}"#),
        ok(r#"{"data": [{"index": 1, "embedding": [1, 0]}, {"index": 2, "embedding": [1, 0]}]}"#),
        ok(r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1]}]}"#),
        ok(r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [0, 0]}]}"#),
        ok(r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1e300, 0]}]}"#),
        ok(r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1e999, 0]}]}"#),
        ok(r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": "AACAPwAAAAA="}]}"#),
        ok(&"[".repeat(100_000)),
        Reply::other(200, &["Content-Type: text/event-stream"], "data: {}\n\n"),
        endless,
    ] {
        let shown = format!("{reply:.200?}");
        let endpoint = Endpoint::start(move |_, _| reply.clone());
        let outcome = embedder(&endpoint).embed(TextKind::Document, &numbers(2)).await;
        assert!(matches!(outcome, Err(ModelError::InvalidResponse(_))), "{shown}: {outcome:?}");
        assert_eq!(endpoint.received().len(), 1, "an invalid response is final");
    }
}

#[tokio::test]
async fn number_of_components_is_the_same_in_all_responses() {
    let endpoint = Endpoint::start(|number, _| {
        let vector = if number == 0 { json!([1, 0]) } else { json!([1, 0, 0]) };
        Reply::json(200, &json!({"data": [{"index": 0, "embedding": vector}]}))
    });
    let embedder = embedder(&endpoint);
    embedder.embed(TextKind::Query, &numbers(1)).await.expect("vectors");
    let outcome = embedder.embed(TextKind::Query, &numbers(1)).await;
    assert!(matches!(outcome, Err(ModelError::InvalidResponse(_))), "{outcome:?}");

    let requested = HttpEmbedderOptions { dimensions: 4, ..options(&endpoint, "/v1") };
    let requested = HttpEmbedder::new(requested).expect("a client");
    assert_eq!(requested.dimensions(), Some(4));
    assert!(requested.embed(TextKind::Query, &numbers(1)).await.is_err());
}

#[test]
fn key_is_hidden_and_url_is_checked() {
    let endpoint = Endpoint::start(|_, _| Reply::Close);
    assert!(!format!("{:?}", options(&endpoint, "/v1")).contains("s3cret"));
    assert!(HttpEmbedder::new(HttpEmbedderOptions { url: "nowhere".into(), ..options(&endpoint, "") }).is_err());
    let key = HttpEmbedderOptions { api_key: Some("\n".into()), ..options(&endpoint, "") };
    assert!(HttpEmbedder::new(key).is_err());
}
