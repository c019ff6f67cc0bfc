//! Prometheus exporter of the `metrics` that the crates record.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use http_actix::MetricsText;
use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use web_providers::ProviderError;

use crate::{certificates, readiness};

/// Histogram bounds in seconds: from the cost of admission alone to the timeouts of a search and of a page.
const BUCKETS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// Histogram bounds of research runs in seconds: up to twice the largest budget.
const RESEARCH_BUCKETS: &[f64] = &[5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0];
/// Interval of sorting recorded durations into buckets. Without it they accumulate until the next scrape.
const UPKEEP: Duration = Duration::from_secs(5);
const BUILD: &str = "retrieval_build_info";
/// Web search providers, configured or not.
const PROVIDERS: [&str; 3] = ["searxng", "brave", "http"];
const PROVIDER_REQUESTS: &str = "retrieval_web_provider_requests_total";
/// Outcomes of searches of providers besides failures.
const PROVIDER_OUTCOMES: [&str; 4] = ["ok", "cached", "merged", "paused"];
const PROVIDER_DURATION: &str = "retrieval_web_provider_duration_seconds";
const RESEARCH_DURATION: &str = "retrieval_research_duration_seconds";
const RESIDENT: &str = "process_resident_memory_bytes";

/// Installs the recorder. Must be called once, on a tokio runtime.
pub fn start() -> anyhow::Result<MetricsText> {
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), BUCKETS)?
        .set_buckets_for_metric(Matcher::Full(RESEARCH_DURATION.to_owned()), RESEARCH_BUCKETS)?;
    let handle = builder.install_recorder().context("installing the metrics recorder")?;
    describe();
    register_work();
    let upkeep = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            upkeep.run_upkeep();
        }
    });
    Ok(Arc::new(move || {
        if let Some(bytes) = resident_memory() {
            gauge!(RESIDENT).set(bytes as f64);
        }
        handle.render()
    }))
}

fn describe() {
    describe_counter!("retrieval_requests_total", "Requests, by route and status.");
    describe_histogram!("retrieval_request_duration_seconds", Unit::Seconds, "Request duration in seconds, by route.");
    unlabelled("retrieval_usage_events_dropped_total", "Requests missing from the usage overview.");
    unlabelled("retrieval_rate_limit_outages_total", "Outages of the rate limiter's Redis.");
    unlabelled("retrieval_rate_limit_uncounted_total", "Requests not counted during an outage of Redis.");
    describe_counter!("retrieval_task_panics_total", "Panics of background tasks, by task.");
    unlabelled("retrieval_searches_refunded_total", "Failed searches that were refunded.");
    unlabelled("retrieval_searches_unrecorded_total", "Searches answered before their record was written.");
    describe_counter!("retrieval_rejected_credentials_total", "Rejected credentials, by reason.");
    describe_counter!("retrieval_overloaded_total", "Requests refused because of their wait, by kind of work.");
    describe_gauge!("retrieval_outbox_entries", "Document changes that wait for a search index, by index.");
    describe_gauge!("retrieval_outbox_age_seconds", Unit::Seconds, "Age of the oldest waiting change, by index.");
    describe_gauge!("retrieval_index_runs", "Unfinished indexing runs of all organizations, by state.");
    describe_counter!("retrieval_files_total", "Files processed by indexing runs, by outcome.");
    describe_counter!("retrieval_indexed_documents_total", "Document changes written to a search index, by index.");
    describe_gauge!("retrieval_embedding_jobs", "Documents that wait to be embedded.");
    describe_gauge!(
        "retrieval_embedding_age_seconds",
        Unit::Seconds,
        "Time since which the oldest document waits to be embedded."
    );
    describe_counter!("retrieval_embedded_passages_total", "Passages that the model embedded.");
    describe_counter!("retrieval_embedding_failures_total", "Failures to embed passages, by reason.");
    ingest::embed::register_metrics();
    describe_counter!("retrieval_webhook_attempts_total", "Attempts of webhook deliveries, by outcome.");
    describe_counter!(PROVIDER_REQUESTS, "Searches of web providers, by provider and outcome.");
    describe_histogram!(
        PROVIDER_DURATION,
        Unit::Seconds,
        "Duration of requests to web providers in seconds, by provider."
    );
    for provider in PROVIDERS {
        for outcome in PROVIDER_OUTCOMES.into_iter().chain(ProviderError::REASONS) {
            counter!(PROVIDER_REQUESTS, "provider" => provider, "outcome" => outcome).increment(0);
        }
        let _ = histogram!(PROVIDER_DURATION, "provider" => provider);
    }
    describe_counter!(
        "retrieval_research_runs_total",
        "Ended research runs, by status and reason of the end; cancelled ones are not counted."
    );
    describe_histogram!(RESEARCH_DURATION, Unit::Seconds, "Duration of research runs in seconds.");
    describe_counter!("retrieval_crawl_pages_total", "Visits of crawls to pages, by outcome.");
    describe_gauge!("retrieval_crawl_queue", "URLs of crawls that wait for their visit.");
    describe_counter!("retrieval_crawl_back_offs_total", "Pauses of crawls after failures of a host.");
    describe_counter!("retrieval_renders_total", "Pages rendered because they are empty without scripts, by outcome.");
    describe_histogram!(
        "retrieval_render_duration_seconds",
        Unit::Seconds,
        "Duration of renders in seconds, with their wait."
    );
    describe_gauge!("retrieval_connections", "Open connections, by listener.");
    describe_counter!(
        "retrieval_connections_shed_total",
        "Idle connections that were closed for new ones, by listener."
    );
    describe_counter!("retrieval_connections_refused_total", "Connections refused at a limit, by listener and reason.");
    describe_counter!("retrieval_connections_slow_total", "Connections closed because of a slow client, by listener.");
    describe_gauge!(
        certificates::EXPIRY,
        Unit::Seconds,
        "End of the certificate of the API as a Unix time; 0 without one."
    );
    gauge!(certificates::EXPIRY).set(0.0);
    describe_gauge!(readiness::READY, "1 if every required dependency is up, as `/readyz` reports, or 0.");
    describe_gauge!(readiness::DEPENDENCY, "1 if a dependency is up, or 0, by name as in `/readyz`.");
    describe_gauge!(readiness::FREE, Unit::Bytes, "Free space of the disk of the data folder; 0 if it cannot be read.");
    describe_counter!("retrieval_trace_spans_exported_total", "Spans of traces that the collector accepted.");
    describe_counter!("retrieval_trace_spans_dropped_total", "Spans of traces that were lost, by reason.");
    telemetry::register_metrics();
    describe_counter!("retrieval_fetches_total", "Fetches of web pages, by outcome.");
    fetcher::register_metrics();
    describe_counter!("retrieval_warnings_total", "Warnings of searches and documents, by code.");
    describe_gauge!("retrieval_requests_in_progress", "Requests that run or wait for their turn, by kind of work.");
    describe_histogram!(
        "retrieval_admission_wait_seconds",
        Unit::Seconds,
        "Wait of admitted requests for their turn in seconds, by kind of work."
    );
    describe_gauge!("retrieval_database_connections", "Connections to the database, and operations that wait for one.");
    describe_gauge!("retrieval_index_documents", "Documents in a search index, by index.");
    describe_gauge!("retrieval_research_unfinished", "Unfinished research runs of all organizations, by status.");
    describe_histogram!(
        "retrieval_search_duration_seconds",
        Unit::Seconds,
        "Duration of answered searches in seconds, through all interfaces."
    );
    describe_histogram!(
        "retrieval_search_stage_duration_seconds",
        Unit::Seconds,
        "Duration of the stages of searches in seconds, by stage."
    );
    describe_gauge!(BUILD, "Version of the server. Always 1.");
    gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    describe_gauge!(RESIDENT, Unit::Bytes, "Resident memory of the server process, without extraction workers.");
}

/// Makes the metrics of background work known to the first scrape. An instance that leaves the work to others has them, too, so that
/// sums over instances and alerts do not depend on roles.
fn register_work() {
    ["feeder", "runner", "embedding", "webhooks", "crawler", "research"]
        .into_iter()
        .for_each(|task| ingest::supervisor::count_panics(task, 0));
    ingest::run::register_metrics();
    ingest::feeder::register_metrics();
    webhooks::register_metrics();
    crawler::register_metrics();
    research::register_metrics();
}

/// Describes a counter without labels, and makes it known to the first scrape. Counters with labels are registered by the code
/// that knows the labels.
fn unlabelled(name: &'static str, description: &'static str) {
    describe_counter!(name, description);
    counter!(name).increment(0);
}

/// Returns the resident memory in bytes, on Linux only (proc_pid_status(5)).
fn resident_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}
