//! 200 patient clients: throughput and latency under a normal, full load.

use super::stage::Stage;
use super::{Scenario, throughput};
use crate::bench::swarm;

pub const SCENARIO: Scenario =
    Scenario { name: "patient-200", about: "200 clients that search as fast as they are answered", measure };

const CLIENTS: usize = 200;
const SEARCHES_PER_SECOND: f64 = 467.0;
const P99_MS: f64 = 552.0;

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let setup = stage.set_up(throughput::DOCUMENTS)?;
    let server = setup.installation.serve()?;
    let (searches, time) = (setup.searches(&setup.heavy), stage.time());
    let clients = stage.scaled(CLIENTS);
    swarm::run(&setup.patient(&searches, clients, time / 4))?;
    stage.step("without the bystander");
    let tally = swarm::run(&setup.patient(&searches, clients, time))?;
    stage.section.number("searches/s", tally.goodput(time)).target_at_least(SEARCHES_PER_SECOND);
    throughput::report(&tally, stage.section);
    let p99 = tally.latencies().percentile(99.0);
    stage.section.milliseconds("p99 ms of all clients", p99).target_below(P99_MS);
    let probes = [setup.search_probe()];
    stage.measure(&server, &probes, || swarm::run(&setup.patient(&searches, clients, time))).map(drop)
}
