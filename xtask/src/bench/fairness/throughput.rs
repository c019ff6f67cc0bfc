//! Searches of many clients in a larger index.

use super::setup::Setup;
use super::stage::Stage;
use super::targets;
use crate::bench::report::Section;
use crate::bench::swarm::{self, Tally};
use std::time::Duration;

/// Web documents of the scenarios that measure throughput, as of `bench search`.
pub const DOCUMENTS: usize = 100_000;
/// Numbers of patient clients among which the best throughput is found.
const CLIENTS: [usize; 3] = [16, 64, 200];

/// Best throughput of patient clients.
pub struct Best {
    clients: usize,
    /// Searches per second.
    rate: f64,
}

impl Best {
    /// Measures the throughput of as many clients.
    fn again(&self, setup: &Setup, searches: &[Vec<u8>], time: Duration, section: &mut Section) -> anyhow::Result<f64> {
        let rate = swarm::run(&setup.patient(searches, self.clients, time))?.goodput(time);
        section.named(format!("searches/s, {} patient clients again", self.clients), rate);
        Ok(rate)
    }
}

/// Finds the number of patient clients with the best throughput and measures that throughput once more: the highest of several
/// measurements is too high by their noise.
///
/// # Errors
///
/// Returns an error if the load cannot be sent.
pub fn best(setup: &Setup, searches: &[Vec<u8>], time: Duration, section: &mut Section) -> anyhow::Result<Best> {
    let mut best = Best { clients: 0, rate: 0.0 };
    for clients in CLIENTS {
        let rate = swarm::run(&setup.patient(searches, clients, time))?.goodput(time);
        section.named(format!("searches/s, {clients} patient clients"), rate);
        if rate > best.rate {
            best = Best { clients, rate };
        }
    }
    best.rate = best.again(setup, searches, time, section)?;
    Ok(best)
}

/// Adds the outcomes of a load.
pub fn report(tally: &Tally, section: &mut Section) {
    let latencies = tally.latencies();
    section.count("answers", tally.answered());
    section.milliseconds("p50 ms", latencies.median()).milliseconds("p99 ms", latencies.percentile(99.0));
    for (status, count) in tally.refusals() {
        section.named(format!("responses with {status}"), count as f64);
    }
    section.count("requests that timed out", tally.timed_out);
    section.count("requests whose connection was lost", tally.lost);
}

/// Compares the searches of all organizations under overload with the best throughput of one: its mean just before and after the
/// overload, since the speed of shared machines changes within a minute.
///
/// # Errors
///
/// Returns an error if the load cannot be sent.
pub fn compare(
    stage: &mut Stage<'_>,
    tally: &Tally,
    best: &Best,
    setup: &Setup,
    searches: &[Vec<u8>],
) -> anyhow::Result<()> {
    let time = stage.time();
    stage.step("patient clients again");
    let again = best.again(setup, searches, time, stage.section)?;
    let reached = tally.goodput(time) + stage.bystander_rate;
    stage.section.number("searches/s of all clients under overload", reached);
    let percent = targets::percent(reached, f64::midpoint(best.rate, again));
    stage.section.number("% of the best searches/s", percent).target_at_least(targets::GOODPUT_PERCENT);
    Ok(())
}
