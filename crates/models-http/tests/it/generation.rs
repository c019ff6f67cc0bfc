use std::time::{Duration, Instant};

use models::ModelError;
use models::generation::{Generation, GenerationRequest, Generator, Tokens};
use models_http::{HttpGenerator, HttpGeneratorOptions};
use serde_json::json;
use test_support::chat::{ChatEndpoint, ChatRequest, completion, error};
use test_support::endpoint::Reply;

fn options(url: &str) -> HttpGeneratorOptions {
    HttpGeneratorOptions {
        url: url.to_owned(),
        model: "m".into(),
        api_key: Some("s3cret".into()),
        timeout: Duration::from_secs(20),
        max_tokens: 500,
        retry_delay: Duration::from_millis(1),
    }
}

fn generator(endpoint: &ChatEndpoint) -> HttpGenerator {
    HttpGenerator::new(options(&endpoint.url())).expect("a client")
}

/// A generator whose calls end soon, for endpoints that never answer.
fn impatient(endpoint: &ChatEndpoint) -> HttpGenerator {
    HttpGenerator::new(HttpGeneratorOptions { timeout: Duration::from_millis(300), ..options(&endpoint.url()) })
        .expect("a client")
}

fn prompt() -> GenerationRequest {
    GenerationRequest {
        system: "Be brief.".into(),
        user: "Which?".into(),
        schema: None,
        is_own_schema: false,
        max_tokens: 4_000,
    }
}

fn structured() -> GenerationRequest {
    GenerationRequest { schema: Some(json!({"type": "object", "title": "Plan"})), is_own_schema: true, ..prompt() }
}

fn formats(endpoint: &ChatEndpoint) -> Vec<Option<String>> {
    endpoint.requests().iter().map(|request| request.format().map(str::to_owned)).collect()
}

#[tokio::test]
async fn prompt_becomes_text() {
    let endpoint = ChatEndpoint::start(|_, _| completion("This one."));
    let generator = generator(&endpoint);
    let tokens = Some(Tokens { prompt: 10, completion: 2 });
    let expected = Generation { text: "This one.".into(), tokens, truncated: false };
    assert_eq!(generator.generate(&prompt()).await.expect("a text"), expected);
    assert_eq!(generator.id(), "http:m");
    let [request] = &endpoint.requests()[..] else { panic!("one request") };
    assert!(request.head.starts_with("POST /v1/chat/completions "), "{}", request.head);
    assert!(request.head.to_ascii_lowercase().contains("authorization: bearer s3cret"), "{}", request.head);
    let expected = json!({
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which?"}],
        "max_tokens": 500,
        "stream": false,
    });
    assert_eq!(request.body, expected);
}

#[tokio::test]
async fn schema_is_sent_where_it_is_supported() {
    let endpoint = ChatEndpoint::start(|_, _| completion("{}"));
    generator(&endpoint).generate(&structured()).await.expect("a text");
    let [request] = &endpoint.requests()[..] else { panic!("one request") };
    let format = &request.body["response_format"];
    assert_eq!(format["json_schema"]["schema"], json!({"type": "object", "title": "Plan"}));
    assert_eq!(request.text("system"), "Be brief.");
}

#[tokio::test]
async fn fallbacks_of_structured_output_are_remembered() {
    let (schema, object) = (Some("json_schema".to_owned()), Some("json_object".to_owned()));
    for (accepted, tried) in
        [(object.clone(), vec![schema.clone(), object.clone()]), (None, vec![schema, object, None])]
    {
        let known = accepted.clone();
        let endpoint = ChatEndpoint::start(move |_, request| {
            if request.format() == known.as_deref() {
                completion("{}")
            } else {
                error(400, "response_format: this type is not supported")
            }
        });
        let generator = generator(&endpoint);
        for _ in 0..3 {
            generator.generate(&structured()).await.expect("a text");
        }
        assert_eq!(formats(&endpoint), [&tried[..], &[accepted.clone(), accepted]].concat());
        let last = &endpoint.requests()[tried.len() - 1];
        assert!(last.text("system").contains(r#"{"title":"Plan","type":"object"}"#), "{}", last.text("system"));
    }
}

#[tokio::test]
async fn schema_of_one_caller_does_not_disable_schemas() {
    let endpoint = ChatEndpoint::start(|_, request| {
        let is_bad = request.body["response_format"]["json_schema"]["schema"]["title"] == "bad";
        if is_bad { error(400, "invalid schema") } else { completion("{}") }
    });
    let generator = generator(&endpoint);
    let bad = GenerationRequest { schema: Some(json!({"title": "bad"})), ..prompt() };
    // The first schema after a start, and a later one.
    for request in [bad.clone(), structured(), bad, structured()] {
        generator.generate(&request).await.expect("a text");
    }
    let formats: Vec<_> = formats(&endpoint).into_iter().flatten().collect();
    assert_eq!(formats, ["json_schema", "json_object", "json_schema", "json_schema", "json_object", "json_schema"]);
}

#[tokio::test]
async fn name_of_the_token_limit_follows_the_endpoint() {
    let endpoint = ChatEndpoint::start(|_, request| match request.body.get("max_tokens") {
        Some(_) => error(400, "'max_tokens' is not supported; use 'max_completion_tokens' instead"),
        None => completion("yes"),
    });
    let generator = generator(&endpoint);
    for _ in 0..2 {
        generator.generate(&prompt()).await.expect("a text");
    }
    let limits: Vec<_> =
        endpoint.requests().iter().map(|request| request.body["max_completion_tokens"].as_u64()).collect();
    assert_eq!(limits, [None, Some(500), Some(500)]);
}

#[tokio::test]
async fn prompt_that_is_too_long_is_not_repeated() {
    let endpoint = ChatEndpoint::start(|_, _| {
        error(400, "This model's maximum context length is 10 tokens, and max_tokens is 500.")
    });
    let outcome = generator(&endpoint).generate(&structured()).await;
    assert!(matches!(outcome, Err(ModelError::Status(400))), "{outcome:?}");
    assert_eq!(endpoint.requests().len(), 1);
}

#[tokio::test]
async fn temporary_failures_are_retried() {
    let endpoint = ChatEndpoint::start(|number, _| match number {
        0 => Reply::other(429, &["Retry-After: 0"], "slow down"),
        1 => error(500, "no"),
        2 => Reply::Close,
        3 => Reply::other(502, &["Content-Type: text/html"], "<p>Bad gateway</p>"),
        _ => completion("yes"),
    });
    assert_eq!(generator(&endpoint).generate(&prompt()).await.expect("a text").text, "yes");
    assert_eq!(endpoint.requests().len(), 5);
}

#[tokio::test]
async fn retries_end() {
    let endpoint = ChatEndpoint::start(|_, _| error(503, "no"));
    let outcome = generator(&endpoint).generate(&prompt()).await;
    assert!(matches!(outcome, Err(ModelError::Status(503))), "{outcome:?}");
    assert_eq!(endpoint.requests().len(), 5);
}

#[tokio::test]
async fn long_wait_that_the_endpoint_asks_for_is_a_cooldown() {
    let endpoint = ChatEndpoint::start(|_, _| Reply::other(429, &["Retry-After: 30"], ""));
    let generator = generator(&endpoint);
    let started = Instant::now();
    assert!(matches!(generator.generate(&prompt()).await, Err(ModelError::Status(429))));
    assert!(matches!(generator.generate(&prompt()).await, Err(ModelError::CoolingDown)));
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(endpoint.requests().len(), 1);
}

#[tokio::test]
async fn errors_count_if_their_bodies_break_off_or_stall() {
    for reply in Reply::unfinished(429, &["Retry-After: 30"]) {
        let endpoint = ChatEndpoint::start(move |_, _| reply.clone());
        let generator = generator(&endpoint);
        assert!(matches!(generator.generate(&prompt()).await, Err(ModelError::Status(429))));
        assert!(matches!(generator.generate(&prompt()).await, Err(ModelError::CoolingDown)));
        assert_eq!(endpoint.requests().len(), 1);
    }
    for reply in Reply::unfinished(401, &[]) {
        let endpoint = ChatEndpoint::start(move |_, _| reply.clone());
        assert!(matches!(generator(&endpoint).generate(&prompt()).await, Err(ModelError::Status(401))));
        assert_eq!(endpoint.requests().len(), 1);
    }
}

#[tokio::test]
async fn lost_endpoint_is_skipped() {
    let options = HttpGeneratorOptions { timeout: Duration::from_secs(4), ..options("http://127.0.0.1:1/v1") };
    let generator = HttpGenerator::new(options).expect("a client");
    let failure = generator.generate(&prompt()).await.expect_err("the port is closed");
    assert!(matches!(failure, ModelError::Unreachable(_)));
    assert!(!format!("{failure:?}").contains("127.0.0.1:1/"), "{failure:?}");
    assert!(matches!(generator.generate(&prompt()).await, Err(ModelError::CoolingDown)));
}

#[tokio::test]
async fn call_with_enough_time_waits_for_the_end_of_a_cooldown() {
    // Five attempts of one call.
    let endpoint = ChatEndpoint::start(|number, _| if number < 5 { Reply::Close } else { completion("yes") });
    let generator = generator(&endpoint);
    assert!(matches!(generator.generate(&prompt()).await, Err(ModelError::Unreachable(_))));
    assert_eq!(generator.generate(&prompt()).await.expect("a text").text, "yes");
    assert_eq!(endpoint.requests().len(), 6);
}

#[tokio::test]
async fn endpoints_that_never_end_are_left_at_the_deadline() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
    let failure = b"HTTP/1.1 503 No\r\nContent-Type: text/html\r\n\r\n".to_vec();
    // Each piece comes in time; all of them never end.
    let drip = |first: &[u8], again: &[u8]| Reply::Drip(first.to_vec(), again.to_vec(), Duration::from_millis(10));
    for reply in [
        Reply::Silence,
        Reply::Trickle(head.into()),
        Reply::Trickle(failure.clone()),
        drip(head.as_bytes(), b" "),
        drip(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        drip(&failure, b"x"),
        drip(b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
        drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        Reply::Endless(Vec::new(), b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100)),
    ] {
        let script = reply.clone();
        let endpoint = ChatEndpoint::start(move |_, _| script.clone());
        let generator = impatient(&endpoint);
        let started = Instant::now();
        let outcome = generator.generate(&prompt()).await;
        assert!(matches!(outcome, Err(ModelError::Timeout)), "{reply:?}: {outcome:?}");
        assert!(started.elapsed() < Duration::from_secs(10), "{reply:?}: {:?}", started.elapsed());
        assert!(matches!(generator.generate(&prompt()).await, Err(ModelError::CoolingDown)));
    }
}

#[tokio::test]
async fn senseless_answers_are_typed_errors() {
    let stream = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n".to_vec();
    let endless = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"choices\": \"".to_vec();
    for reply in [
        Reply::other(200, &["Content-Type: text/html"], "<!doctype html><p>Welcome</p>"),
        Reply::other(200, &["Content-Type: application/json"], "{\"choices\": [{\"mess"),
        Reply::json(200, &json!({"choices": []})),
        Reply::Endless(stream, b"data: {\"choices\": []}\n\n".to_vec()),
        Reply::Endless(endless, vec![b'x'; 1 << 16]),
    ] {
        let script = reply.clone();
        let endpoint = ChatEndpoint::start(move |_, _| script.clone());
        let outcome = generator(&endpoint).generate(&prompt()).await;
        assert!(matches!(outcome, Err(ModelError::InvalidResponse(_))), "{outcome:?}");
        assert_eq!(endpoint.requests().len(), 1, "it is not retried");
    }
}

#[tokio::test]
async fn endless_headers_and_failures_end_the_call() {
    let header = b"X-More: x\r\n".repeat(1_000);
    let failure = b"HTTP/1.1 500 No\r\nContent-Type: text/html\r\n\r\n".to_vec();
    for reply in [
        Reply::Endless(b"HTTP/1.1 200 OK\r\n".to_vec(), header),
        Reply::Endless(failure, vec![b'x'; 1 << 16]),
        Reply::Endless(b"HTTP/1.1 200 ".to_vec(), vec![b'x'; 1 << 16]),
    ] {
        let script = reply.clone();
        let endpoint = ChatEndpoint::start(move |_, _| script.clone());
        let started = Instant::now();
        let outcome = generator(&endpoint).generate(&prompt()).await;
        assert!(matches!(outcome, Err(ModelError::Unreachable(_) | ModelError::Status(500))), "{outcome:?}");
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    }
}

#[tokio::test]
async fn refusals_and_reasoning_are_no_text() {
    let refusal = json!({"choices": [{"message": {"content": null, "refusal": "No."}, "finish_reason": "stop"}]});
    let endpoint = ChatEndpoint::start(move |_, _| Reply::json(200, &refusal));
    assert!(matches!(generator(&endpoint).generate(&prompt()).await, Err(ModelError::Refused { tokens: None })));
    let thoughts = |request: &ChatRequest| request.text("user") == "Think!";
    let endpoint = ChatEndpoint::start(move |_, request| {
        completion(if thoughts(request) { "<think>hm" } else { "<think>hm</think>\nyes" })
    });
    let generator = generator(&endpoint);
    assert_eq!(generator.generate(&prompt()).await.expect("a text").text, "yes");
    let only_thoughts = GenerationRequest { user: "Think!".into(), ..prompt() };
    let outcome = generator.generate(&only_thoughts).await;
    assert!(matches!(outcome, Err(ModelError::Empty { truncated: false, tokens: Some(_) })), "{outcome:?}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let target = ChatEndpoint::start(|_, _| completion("gotcha"));
    let location = format!("Location: {}/chat/completions", target.url());
    let endpoint = ChatEndpoint::start(move |_, _| Reply::other(307, &[&location], ""));
    assert!(matches!(generator(&endpoint).generate(&prompt()).await, Err(ModelError::Status(307))));
    assert!(target.requests().is_empty(), "the key stays with its endpoint");
}

#[test]
fn key_is_hidden_and_url_is_checked() {
    assert!(!format!("{:?}", options("http://host/v1")).contains("s3cret"));
    assert!(HttpGenerator::new(options("nowhere")).is_err());
    let key = Some("a\nb".to_owned());
    assert!(HttpGenerator::new(HttpGeneratorOptions { api_key: key, ..options("http://host/v1") }).is_err());
}
