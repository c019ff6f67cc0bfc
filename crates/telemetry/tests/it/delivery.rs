use std::time::Duration;

use serde_json::json;
use telemetry::{ExporterOptions, Timing, open, probe};
use trace_context::{Recorder, Span, SpanKind};

use crate::collector::{Collector, OK};
use crate::{options, span};

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn spans_have_ids_names_times_status_and_attributes() {
    let collector = Collector::start(&[OK]);
    let (queue, exporter) = open(options(&collector.url())).unwrap();
    let search = Span {
        trace_id: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736,
        span_id: 0x00f0_67aa_0ba9_02b7,
        parent: Some(1),
        kind: SpanKind::Server,
        failed: true,
        attributes: vec![("http.route", "/v1/search".into()), ("http.response.status_code", 500_u16.into())],
        ..span("POST /v1/search")
    };
    queue.record(search);
    queue.record(Span { kind: SpanKind::Client, ..span("call") });
    exporter.stop().await;
    let received = collector.next();
    assert!(received.head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{}", received.head);
    assert!(received.head.to_lowercase().contains("content-type: application/json\r\n"), "{}", received.head);
    let resource = &received.body["resourceSpans"][0]["resource"]["attributes"];
    assert_eq!(resource[0], json!({"key": "service.name", "value": {"stringValue": "retrieval"}}));
    let [mut search, call] = <[_; 2]>::try_from(received.spans()).unwrap();
    let time = |span: &serde_json::Value, name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
    let (start, end) = (time(&search, "startTimeUnixNano"), time(&search, "endTimeUnixNano"));
    assert_eq!(end - start, 3_000_000);
    assert!(start > 1_700_000_000_000_000_000, "{start}");
    search.as_object_mut().unwrap().retain(|name, _| !name.ends_with("UnixNano"));
    let expected = json!({
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "spanId": "00f067aa0ba902b7",
        "parentSpanId": "0000000000000001",
        "name": "POST /v1/search",
        "kind": 2,
        "attributes": [
            {"key": "http.route", "value": {"stringValue": "/v1/search"}},
            {"key": "http.response.status_code", "value": {"intValue": "500"}},
        ],
        "status": {"code": 2},
    });
    assert_eq!(search, expected);
    assert_eq!((&call["kind"], &call["status"], call.get("parentSpanId")), (&json!(3), &json!({}), None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn spans_are_sent_in_batches_and_the_rest_at_the_stop() {
    let collector = Collector::start(&[OK]);
    let timing = Timing { batch: 4, delay: Duration::from_secs(3_600), ..Timing::default() };
    let (queue, exporter) = open(ExporterOptions { timing, ..options(&collector.url()) }).unwrap();
    (0..10).for_each(|number| queue.record(span(number.to_string())));
    let (first, second) = (collector.next().names(), collector.next().names());
    assert_eq!((first, second), (vec!["0", "1", "2", "3"].map_owned(), vec!["4", "5", "6", "7"].map_owned()));
    exporter.stop().await;
    assert_eq!(collector.next().names(), ["8", "9"]);
    queue.record(span("after the end"));
    assert_eq!(collector.rest().len(), 0);
}

trait MapOwned {
    fn map_owned(self) -> Vec<String>;
}

impl MapOwned for Vec<&str> {
    fn map_owned(self) -> Vec<String> {
        self.into_iter().map(str::to_owned).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn waiting_spans_are_sent_after_a_delay() {
    let collector = Collector::start(&[OK]);
    let (queue, _exporter) = open(options(&collector.url())).unwrap();
    queue.record(span("alone"));
    assert_eq!(collector.next().names(), ["alone"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn credential_and_path_are_those_of_the_options() {
    let collector = Collector::start(&[OK]);
    let header = Some(("Authorization".to_owned(), "Bearer secret".to_owned()));
    let url = format!("{}/otlp/v1/traces", collector.url());
    probe(&ExporterOptions { header, ..options(&url) }).await.unwrap();
    let received = collector.next();
    assert!(received.head.starts_with("POST /otlp/v1/traces "), "{}", received.head);
    assert!(received.head.to_lowercase().contains("authorization: bearer secret\r\n"), "{}", received.head);
    assert_eq!(received.body, json!({"resourceSpans": []}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn invalid_options_are_refused_without_their_secrets() {
    for url in ["collector:4317", "ftp://collector/", ""] {
        let error = open(options(url)).err().unwrap().to_string();
        assert!(error.contains(url) && error.contains("http"), "{error}");
    }
    let header = Some(("Authorization".to_owned(), "line\nbreak".to_owned()));
    let error = open(ExporterOptions { header, ..options("http://127.0.0.1:9") }).err().unwrap().to_string();
    assert!(!error.contains("break"), "{error}");
}
