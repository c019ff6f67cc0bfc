//! Searches of many clients in a larger index.

use super::stage::Stage;
use super::targets;
use crate::bench::report::Section;
use crate::bench::swarm::{self, Load, Tally};

/// Web documents of the scenarios that measure throughput, as of `bench search`.
pub const DOCUMENTS: usize = 100_000;
/// Numbers of patient clients among which the best throughput is found.
const CLIENTS: [usize; 3] = [16, 64, 200];

/// Measurements of the overload, each between two of patient clients.
const ROUNDS: usize = 3;

/// Patient clients with the best throughput.
pub struct Best<'a> {
    load: Load<'a>,
    /// Searches per second, in each measurement since their number was found.
    rates: Vec<f64>,
}

impl Best<'_> {
    /// Measures the throughput once more.
    fn again(&mut self, section: &mut Section) -> anyhow::Result<()> {
        let rate = swarm::run(&self.load)?.goodput(self.load.time);
        self.rates.push(rate);
        section.named(format!("searches/s, {} patient clients, {}", self.load.clients, self.rates.len()), rate);
        Ok(())
    }
}

/// Finds the number of clients of `load` with the best throughput and measures that throughput once more: the highest of several
/// measurements is too high by their noise.
///
/// # Errors
///
/// Returns an error if the load cannot be sent.
pub fn best<'a>(load: Load<'a>, section: &mut Section) -> anyhow::Result<Best<'a>> {
    let mut best = (0.0, load);
    for clients in CLIENTS {
        let load = Load { clients, ..load };
        let rate = swarm::run(&load)?.goodput(load.time);
        section.named(format!("searches/s, {clients} patient clients"), rate);
        if rate > best.0 {
            best = (rate, load);
        }
    }
    let mut best = Best { load: best.1, rates: Vec::new() };
    best.again(section)?;
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

/// Compares the searches of all organizations under overload with the best throughput of one. Both are means of measurements in
/// turn, since the speed of shared machines changes within a minute. `tally` is that of the first round.
///
/// # Errors
///
/// Returns an error if a load cannot be sent.
pub fn compare(stage: &mut Stage<'_>, tally: &Tally, mut best: Best<'_>, overload: &Load<'_>) -> anyhow::Result<()> {
    let mut reached = vec![tally.goodput(overload.time) + stage.bystander_rate];
    loop {
        stage.section.named(format!("searches/s under overload, {}", reached.len()), reached[reached.len() - 1]);
        stage.step("patient clients again");
        best.again(stage.section)?;
        if reached.len() == ROUNDS {
            break;
        }
        stage.step("overload again");
        reached.push(swarm::run(overload)?.goodput(overload.time));
    }
    let (reached, best) = (mean(&reached), mean(&best.rates));
    stage.section.number("searches/s of all clients under overload", reached);
    stage
        .section
        .number("% of the best searches/s", targets::percent(reached, best))
        .target_at_least(targets::GOODPUT_PERCENT);
    Ok(())
}

fn mean(rates: &[f64]) -> f64 {
    rates.iter().sum::<f64>() / rates.len() as f64
}
