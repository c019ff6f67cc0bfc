//! Usage overviews of an hour with many requests.

use super::setup::Setup;
use super::stage::Stage;
use super::{FEW_DOCUMENTS, Scenario, targets, throughput};
use crate::bench::installation::Tenant;
use crate::bench::samples::Samples;
use crate::bench::swarm;
use crate::bench::usage_job::{build_recorder, path_of_last, record, sqlite_url};
use serde_json::Value;
use std::time::Instant;
use time::Duration;

pub const SCENARIO: Scenario = Scenario {
    name: "usage",
    about: "usage overview of an hour with 490,000 requests, by one client and by 16",
    measure,
};

const REQUESTS: usize = 490_000;
const FEW_REQUESTS: usize = 100;
const HOURS: usize = 1;
const CALLS: usize = 10;
const CLIENTS: usize = 16;

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let recorder = build_recorder()?;
    let setup = stage.set_up(FEW_DOCUMENTS)?;
    stage.step("recording requests");
    let database = sqlite_url(&setup.installation);
    for (tenant, count) in [(&setup.heavy, stage.scaled(REQUESTS)), (&setup.bystander, FEW_REQUESTS)] {
        record(&recorder, &database, tenant, std::slice::from_ref(&tenant.key_id), count, HOURS)?;
    }
    let server = setup.installation.serve()?;
    let path = path_of_last(Duration::HOUR)?;
    let (few, counted_few) = one_client(&setup, &setup.bystander, &path)?;
    let (many, counted_many) = one_client(&setup, &setup.heavy, &path)?;
    let limit = targets::beside(few.median()).as_secs_f64() * 1e3;
    stage
        .section
        .number("requests of the first overview", counted_few)
        .milliseconds("p50 ms, one client", few.median());
    stage.section.number("requests of the second overview", counted_many);
    stage.section.milliseconds("p50 ms, one client, second", many.median()).target_below(limit);
    let requests = [setup.request(&setup.heavy, &path, &Value::Null)];
    let load = setup.patient(&requests, stage.scaled(CLIENTS), stage.time());
    let tally = stage.measure(&server, &[setup.search_probe()], || swarm::run(&load))?;
    throughput::report(&tally, stage.section);
    Ok(())
}

/// Returns the latencies of one client, and the number of requests that the overview counts.
fn one_client(setup: &Setup, tenant: &Tenant, path: &str) -> anyhow::Result<(Samples, f64)> {
    let client = setup.installation.client(tenant);
    let (mut samples, mut counted) = (Samples::default(), 0.0);
    for _ in 0..CALLS {
        let begun = Instant::now();
        let answer: Value = serde_json::from_slice(&client.get(path)?)?;
        samples.push(begun.elapsed());
        counted = answer["headline"]["requests"].as_f64().unwrap_or(0.0);
    }
    Ok((samples, counted))
}
