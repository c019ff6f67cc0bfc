//! 616 clients that give up after half a second and search again, of a billed organization.

use super::stage::{self, Stage};
use super::{Scenario, targets, throughput};
use crate::bench::swarm::{self, Load, Refusal};
use std::time::Duration;

pub const SCENARIO: Scenario =
    Scenario { name: "impatient", about: "616 clients that disconnect after half a second and try again", measure };

const CLIENTS: usize = 616;
const TIMEOUT: Duration = Duration::from_millis(500);
const BALANCE_CENTS: u64 = 100_000_000;
/// Time in which refunds are recorded.
const REFUNDS: Duration = Duration::from_secs(3);

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let mut setup = stage.set_up(throughput::DOCUMENTS)?;
    setup.heavy = setup.installation.billed_tenant(BALANCE_CENTS)?;
    let server = setup.installation.serve()?;
    let (searches, time) = (setup.searches(&setup.heavy), stage.time());
    stage.step("patient clients");
    let patient = setup.patient(&searches, stage.scaled(CLIENTS), time);
    let best = throughput::best(patient, stage.section)?;
    let before = setup.installation.balance(&setup.heavy)?;
    let load = Load { timeout: TIMEOUT, refusal: Refusal::Insist, ..patient };
    let probes = [setup.search_probe()];
    let tally = stage.measure(&server, &probes, || swarm::run(&load))?;
    stage::sleep(REFUNDS)?;
    let charged = before - setup.installation.balance(&setup.heavy)?;
    throughput::report(&tally, stage.section);
    throughput::compare(stage, &tally, best, &load)?;
    let billing = targets::Billing { charged, answered: tally.answered() };
    stage.section.number("searches charged", charged as f64);
    stage.section.number("searches charged without an answer", billing.unanswered()).target_below(billing.limit());
    Ok(())
}
