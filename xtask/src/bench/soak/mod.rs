//! Mixed load over a long time: searches, reads, uploads and crawls, while memory is sampled.

mod drift;
mod tally;
mod work;

use super::installation::{Installation, Tenant};
use super::read_job::{ALLOW_LOOPBACK, generated_pages};
use super::report::Section;
use super::server::Server;
use super::site::{Pages, Site};
use super::{check_interrupt, process, spinner};
use anyhow::{Context, bail};
use drift::Drift;
use std::time::{Duration, Instant};
use tally::{KINDS, Tally};
use work::Load;

const SEARCHERS: usize = 4;
const READERS: usize = 2;
const PAGES: usize = 200;
/// Samples of a run; at least one second lies between two.
const SAMPLES: u32 = 240;
/// Allowed change of resident memory in percent.
const MAX_DRIFT: f64 = 5.0;

/// Work of a mixed load, and its time.
pub struct Plan<'a> {
    pub time: Duration,
    pub tenant: Tenant,
    /// Bodies of searches.
    pub searches: &'a [Vec<u8>],
    pub seed: u64,
}

/// Starts the instances, puts the load on them and reports the drift of their memory.
///
/// # Errors
///
/// Returns an error if a server does not start or ends, or a signal interrupts the load. Failed requests are counted.
pub fn measure(plan: &Plan<'_>, installations: &[Installation], section: &mut Section) -> anyhow::Result<()> {
    let servers = installations.iter().map(|one| one.serve_with(&ALLOW_LOOPBACK));
    let servers = servers.collect::<anyhow::Result<Vec<_>>>()?;
    // Two hosts, so that reads do not wait for the crawl's turn.
    let site = |host| Site::start(Pages { host, ..Pages::html(generated_pages(plan.seed, PAGES)) });
    let (read, crawled) = (site("127.0.0.1")?, site("127.0.0.2")?);
    let tally = Tally::default();
    let load = Load { plan, until: Instant::now() + plan.time, tally: &tally };
    let waiting = spinner(format!("mixed load for {:?}", plan.time));
    let sampled = std::thread::scope(|scope| {
        let instances = installations.iter().cycle();
        for installation in instances.clone().take(SEARCHERS) {
            let client = installation.client(&plan.tenant);
            let load = &load;
            scope.spawn(move || load.search(&client));
        }
        for installation in instances.take(READERS) {
            let client = installation.client(&plan.tenant);
            let (load, site) = (&load, &read);
            scope.spawn(move || load.read(&client, site));
        }
        let first = &installations[0];
        scope.spawn(|| load.upload(first));
        scope.spawn(|| load.crawl(first, &crawled));
        sample(plan.time, load.until, &servers)
    });
    waiting.finish_and_clear();
    let memory = sampled?;
    check_interrupt()?;
    for (kind, name) in KINDS {
        section.count(name, tally.done(kind));
    }
    section.count("failed", tally.failed()).target_below(1.0);
    if let Some(failure) = tally.first_failure() {
        eprintln!("the first failure: {failure}");
    }
    section.milliseconds("p95 ms of searches", tally.into_searches().percentile(95.0));
    let (first, last) = memory.servers.ends().context("the time is too short for a drift")?;
    section.megabytes("resident MB after the warm-up", first).megabytes("resident MB at the end", last);
    section.number("drift of resident memory %", memory.servers.percent().unwrap_or_default()).target_below(MAX_DRIFT);
    section.number("drift with workers %", memory.with_workers.percent().unwrap_or_default());
    Ok(())
}

/// Resident memory of all instances.
#[derive(Default)]
struct Memory {
    servers: Drift,
    with_workers: Drift,
}

fn sample(time: Duration, until: Instant, servers: &[Server]) -> anyhow::Result<Memory> {
    let interval = (time / SAMPLES).max(Duration::from_secs(1));
    let mut memory = Memory::default();
    let mut next = Instant::now() + interval;
    while next < until {
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        next += interval;
        if check_interrupt().is_err() {
            break;
        }
        let sum = |measure: fn(u32) -> anyhow::Result<u64>| {
            servers
                .iter()
                .map(|server| measure(server.pid()))
                .sum::<anyhow::Result<u64>>()
                .context("a server has ended")
        };
        memory.servers.push(sum(process::resident_alone)?);
        memory.with_workers.push(sum(process::resident)?);
    }
    Ok(memory)
}

/// Parses a time such as `90s`, `30m` or `1h`.
///
/// # Errors
///
/// Returns an error for any other text.
pub fn parse_time(text: &str) -> anyhow::Result<Duration> {
    let units = [("h", 3_600), ("m", 60), ("s", 1)];
    let parsed = units.into_iter().find_map(|(unit, seconds)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(Duration::from_secs(number.checked_mul(seconds)?))
    });
    match parsed {
        Some(time) if !time.is_zero() => Ok(time),
        _ => bail!("`{text}` is no time such as `90s`, `30m` or `1h`"),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_time;
    use std::time::Duration;

    #[test]
    fn times_have_a_unit() {
        for (text, seconds) in [("90s", 90), ("30m", 1_800), ("1h", 3_600)] {
            assert_eq!(parse_time(text).ok(), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "1", "h", "0s", "-1s", "1d", "99999999999999999999h", "18446744073709551615h"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
