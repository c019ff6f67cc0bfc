use std::net::TcpListener;
use std::time::Duration;

use telemetry::{ExporterOptions, Timing, open, probe};
use tokio::time::timeout;
use trace_context::Recorder;

use crate::collector::{Collector, OK};
use crate::{DEADLINE, options, span};

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn temporary_refusals_are_repeated_and_final_ones_are_not() {
    let busy = (503, "retry-after: 0\r\n", "busy");
    let collector = Collector::start(&[busy, (429, "", ""), OK, (400, "", "never"), OK]);
    let (queue, exporter) = open(options(&collector.url())).unwrap();
    queue.record(span("repeated"));
    (0..3).for_each(|_| assert_eq!(collector.next().names(), ["repeated"]));
    queue.record(span("refused"));
    assert_eq!(collector.next().names(), ["refused"]);
    queue.record(span("later"));
    exporter.stop().await;
    assert_eq!(collector.next().names(), ["later"]);
    assert_eq!(collector.rest().len(), 0);
}

/// The queue is bounded, and the code that is measured does not wait for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn stalled_collector_delays_nothing_and_loses_spans_beyond_the_queue() {
    let collector = Collector::start(&[]);
    let timing = Timing { queue: 100, batch: 10, timeout: DEADLINE, flush: Duration::ZERO, ..options("").timing };
    let (queue, exporter) = open(ExporterOptions { timing, ..options(&collector.url()) }).unwrap();
    queue.record(span("first"));
    collector.next();
    // The exporter waits for an answer and takes none of them. No call may wait for it.
    (0..100_000).for_each(|number| queue.record(span(number.to_string())));
    timeout(DEADLINE, exporter.stop()).await.unwrap();
    assert_eq!(collector.rest().len(), 0, "nothing else was sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn stop_does_not_wait_for_a_stalled_collector() {
    let collector = Collector::start(&[]);
    let timing = Timing { timeout: Duration::from_secs(3_600), flush: Duration::from_millis(10), ..options("").timing };
    let (queue, exporter) = open(ExporterOptions { timing, ..options(&collector.url()) }).unwrap();
    queue.record(span("last"));
    timeout(DEADLINE, exporter.stop()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn spans_arrive_again_after_an_outage() {
    let reserved = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = reserved.local_addr().unwrap();
    drop(reserved);
    let (queue, exporter) = open(options(&format!("http://{address}"))).unwrap();
    assert!(probe(&options(&format!("http://{address}"))).await.is_err());
    queue.record(span("lost"));
    let collector = Collector::on(rebind(address), &[OK]);
    // Those of the outage may arrive too, if an attempt is left.
    let arrived = async {
        loop {
            queue.record(span("later"));
            let received: Vec<String> = collector.rest().iter().flat_map(|one| one.names()).collect();
            if received.iter().any(|name| name == "later") {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(DEADLINE, arrived).await.unwrap();
    exporter.stop().await;
}

/// The port was free a moment ago.
fn rebind(address: std::net::SocketAddr) -> TcpListener {
    TcpListener::bind(address).unwrap()
}
