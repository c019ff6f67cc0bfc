//! 2,000 clients that keep waiting, and come back when they are refused.

use super::stage::Stage;
use super::{Scenario, throughput};
use crate::bench::swarm;

pub const SCENARIO: Scenario =
    Scenario { name: "waiting", about: "2,000 clients that keep waiting and obey Retry-After", measure };

const CLIENTS: usize = 2_000;

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let setup = stage.set_up(throughput::DOCUMENTS)?;
    let server = setup.installation.serve()?;
    let (searches, time) = (setup.searches(&setup.heavy), stage.time());
    let load = setup.patient(&searches, stage.scaled(CLIENTS), time);
    stage.step("patient clients");
    let best = throughput::best(load, stage.section)?;
    let probes = [setup.search_probe()];
    let tally = stage.measure(&server, &probes, || swarm::run(&load))?;
    throughput::report(&tally, stage.section);
    throughput::compare(stage, &tally, best, &load)
}
