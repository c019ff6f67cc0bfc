//! `bench door`: what a request costs before and after the work that it asks for: authentication, scope, rate limit,
//! envelope, recording of usage.

use super::installation::Installation;
use super::report::{Report, Section};
use super::{Options, client::Client, go_on, load, process, progress};
use crate::services::{Provided, Redis, Service};
use anyhow::bail;
use indicatif::ProgressBar;
use std::path::Path;
use std::time::{Duration, Instant};

const CLIENTS: usize = 4;
const WARM_UP: usize = 2_000;
const REQUESTS: usize = 40_000;
/// No id of a run, so that it is answered without any query: what is left is the door.
const PATH: &str = "/v1/files/index/none";
const STATUS: u16 = 404;

pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let requests = options.documents.unwrap_or(REQUESTS);
    let section = report.section("the door, counting in memory");
    through_the_door(&Installation::new(program)?, requests, section, 150.0)?;
    match Redis.provide() {
        Provided::Running(redis) => {
            let url = redis.environment.first().map(|(_, url)| url.clone());
            let url = url.or_else(|| std::env::var("RATE_LIMIT_REDIS_URL").ok()).unwrap_or_default();
            let installation = Installation::new(program)?
                .with_setting("RETRIEVAL__RATE_LIMIT__BACKEND", "redis")
                .with_setting("RETRIEVAL__RATE_LIMIT__URL", &url);
            let title = format!("the door, counting in Redis ({})", redis.how);
            through_the_door(&installation, requests, report.section(title), 1_000.0)
        }
        Provided::Absent { reason } => {
            eprintln!("Redis was NOT measured: {reason}");
            Ok(())
        }
    }
}

/// `aim`: microseconds of CPU time a request.
fn through_the_door(
    installation: &Installation,
    requests: usize,
    section: &mut Section,
    aim: f64,
) -> anyhow::Result<()> {
    let tenant = installation.tenant()?;
    let server = installation.serve()?;
    let client = || installation.client(&tenant);
    ask(&[client()], WARM_UP, &progress(WARM_UP, "warming up"))?;
    for (clients, [rate, cost, waiting]) in [
        (1, ["requests/s, one client", "µs of CPU a request, one client", "µs a request, one client"]),
        (CLIENTS, ["requests/s, four clients", "µs of CPU a request, four clients", "µs a request, four clients"]),
    ] {
        let clients: Vec<Client> = (0..clients).map(|_| client()).collect();
        let bar = progress(requests, "through the door");
        let before = process::cpu_time(server.pid())?;
        let took = ask(&clients, requests, &bar)?;
        let used = process::cpu_time(server.pid())? - before;
        bar.finish_and_clear();
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / requests as f64;
        section.per_second(rate, requests as f64, took);
        section.number(cost, micros(used)).aim(aim);
        section.number(waiting, micros(took) * clients.len() as f64);
    }
    Ok(())
}

/// All clients together send `requests`, each one after the other.
fn ask(clients: &[Client], requests: usize, bar: &ProgressBar) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let work = |client: &Client| -> anyhow::Result<()> {
        for _ in 0..requests / clients.len() {
            go_on()?;
            let status = client.status(PATH)?;
            if status != STATUS {
                bail!("`{PATH}` answered {status} in place of {STATUS}");
            }
            bar.inc(1);
        }
        Ok(())
    };
    load::together(clients, work)?;
    Ok(begun.elapsed())
}
