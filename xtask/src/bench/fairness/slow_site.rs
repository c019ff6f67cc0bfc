//! 64 readers of one slow site.

use super::stage::Stage;
use super::{FEW_DOCUMENTS, Scenario, throughput};
use crate::bench::read_job::{ALLOW_LOOPBACK, generated_pages};
use crate::bench::site::{Pages, Site};
use crate::bench::swarm;
use serde_json::json;
use std::time::Duration;

pub const SCENARIO: Scenario =
    Scenario { name: "slow-site", about: "64 readers of a site that responds after 8 s", measure };

const READERS: usize = 64;
/// Delay below the timeout of a fetch.
const DELAY: Duration = Duration::from_secs(8);
/// Pages of the slow site; none is read twice.
const SLOW_PAGES: usize = 10_000;
const PAGES: usize = 100;

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let setup = stage.set_up(FEW_DOCUMENTS)?;
    let server = setup.installation.serve_with(&ALLOW_LOOPBACK)?;
    let fast = Site::start(Pages::html(generated_pages(stage.options.seed, PAGES)))?;
    let bodies = generated_pages(stage.options.seed + 1, PAGES);
    let slow = Site::start(Pages { host: "127.0.0.2", delay: DELAY, ..Pages::html(bodies) })?;
    let read = |number| setup.request(&setup.heavy, "/v1/document", &json!({"canonical_url": slow.url(number)}));
    let requests: Vec<Vec<u8>> = (0..SLOW_PAGES).map(read).collect();
    let load = setup.patient(&requests, stage.scaled(READERS), stage.time().max(DELAY * 2));
    let tally = stage.measure(&server, &[setup.search_probe(), setup.page_probe(&fast)], || swarm::run(&load))?;
    throughput::report(&tally, stage.section);
    Ok(())
}
