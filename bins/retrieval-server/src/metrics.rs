//! What the crates count (by the names of `metrics`), as text for Prometheus.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use http_actix::MetricsText;
use metrics::{Unit, describe_counter, describe_gauge, describe_histogram, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};

/// Seconds: from what the door alone takes to the time limits of a search and of a page.
const BUCKETS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// Single durations are kept until they are sorted into buckets, with or without somebody who reads them.
const UPKEEP: Duration = Duration::from_secs(5);
const RESIDENT: &str = "process_resident_memory_bytes";

/// Counts from now on. Must be called once, on a runtime.
pub fn start() -> anyhow::Result<MetricsText> {
    let builder = PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), BUCKETS)?;
    let handle = builder.install_recorder().context("metrics are counted already")?;
    describe();
    let upkeep = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            upkeep.run_upkeep();
        }
    });
    Ok(Arc::new(move || {
        if let Some(bytes) = resident() {
            gauge!(RESIDENT).set(bytes as f64);
        }
        handle.render()
    }))
}

fn describe() {
    describe_counter!("retrieval_requests_total", "Requests answered, by route and status.");
    describe_histogram!("retrieval_request_duration_seconds", Unit::Seconds, "From head to answer, by route.");
    describe_counter!("retrieval_usage_events_dropped_total", "Requests missing from the usage overview.");
    describe_counter!("retrieval_rate_limit_outages_total", "How often the Redis of the rate limit went away.");
    describe_counter!("retrieval_rate_limit_uncounted_total", "Requests that were not counted in Redis.");
    describe_counter!("retrieval_searches_refunded_total", "Searches that were paid, not answered, and given back.");
    describe_counter!("retrieval_files_total", "Files that indexing runs have worked on, by outcome.");
    describe_counter!("retrieval_indexed_documents_total", "Changes that reached a search index, by index.");
    describe_gauge!(RESIDENT, Unit::Bytes, "Memory of the server process, without its extraction workers.");
}

/// Linux only (proc_pid_status(5)).
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}
