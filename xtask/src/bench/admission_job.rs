//! `bench door`: cost of a request outside its operation: authentication, scope, rate limit, envelope, usage
//! recording.

use super::installation::Installation;
use super::report::{Report, Section};
use super::{Options, check_interrupt, client::Client, load, process, progress};
use crate::services::{Provided, Redis, Service};
use anyhow::bail;
use indicatif::ProgressBar;
use std::path::Path;
use std::time::{Duration, Instant};

const CLIENTS: usize = 4;
const WARM_UP: usize = 2_000;
const REQUESTS: usize = 40_000;
/// An invalid run id, answered without a query: only the cost of admission remains.
const PATH: &str = "/v1/files/index/none";
const STATUS: u16 = 404;

pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let requests = options.documents.unwrap_or(REQUESTS);
    let section = report.section("admission, rate limit in memory");
    measure_admission(&Installation::new(program)?, requests, section, 150.0)?;
    match Redis.provide() {
        Provided::Running(redis) => {
            let url = redis.environment.first().map(|(_, url)| url.clone());
            let url = url.or_else(|| std::env::var("RATE_LIMIT_REDIS_URL").ok()).unwrap_or_default();
            let installation = Installation::new(program)?
                .with_setting("RETRIEVAL__RATE_LIMIT__BACKEND", "redis")
                .with_setting("RETRIEVAL__RATE_LIMIT__URL", &url);
            let title = format!("admission, rate limit in Redis ({})", redis.how);
            measure_admission(&installation, requests, report.section(title), 1_000.0)
        }
        Provided::Absent { reason } => {
            eprintln!("Redis was NOT measured: {reason}");
            Ok(())
        }
    }
}

/// Measures requests. `target` is the target in microseconds of CPU time per request.
fn measure_admission(
    installation: &Installation,
    requests: usize,
    section: &mut Section,
    target: f64,
) -> anyhow::Result<()> {
    let tenant = installation.tenant()?;
    let server = installation.serve()?;
    let client = || installation.client(&tenant);
    send_requests(&[client()], WARM_UP, &progress(WARM_UP, "warming up"))?;
    for (clients, [rate, cost, latency]) in [
        (1, ["requests/s, one client", "µs of CPU a request, one client", "µs a request, one client"]),
        (CLIENTS, ["requests/s, four clients", "µs of CPU a request, four clients", "µs a request, four clients"]),
    ] {
        let clients: Vec<Client> = (0..clients).map(|_| client()).collect();
        let bar = progress(requests, "requests");
        let before = process::cpu_time(server.pid())?;
        let took = send_requests(&clients, requests, &bar)?;
        let used = process::cpu_time(server.pid())? - before;
        bar.finish_and_clear();
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / requests as f64;
        section.per_second(rate, requests as f64, took);
        section.number(cost, micros(used)).target_below(target);
        section.number(latency, micros(took) * clients.len() as f64);
    }
    Ok(())
}

/// Sends `requests` from all clients together; each client is sequential.
fn send_requests(clients: &[Client], requests: usize, bar: &ProgressBar) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let work = |client: &Client| -> anyhow::Result<()> {
        for _ in 0..requests / clients.len() {
            check_interrupt()?;
            let status = client.status(PATH)?;
            if status != STATUS {
                bail!("`{PATH}` returned {status} instead of {STATUS}");
            }
            bar.inc(1);
        }
        Ok(())
    };
    load::run_concurrently(clients, work)?;
    Ok(begun.elapsed())
}
