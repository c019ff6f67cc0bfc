//! Searches with 40,000 domains in their source policy.

use super::stage::Stage;
use super::{FEW_DOCUMENTS, Scenario, throughput};
use crate::bench::swarm;
use serde_json::json;

pub const SCENARIO: Scenario =
    Scenario { name: "domains", about: "four clients with 40,000 domains in the source policy of a search", measure };

const DOMAINS: usize = 40_000;
const CLIENTS: usize = 4;

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let setup = stage.set_up(FEW_DOCUMENTS)?;
    let server = setup.installation.serve()?;
    let domains: Vec<String> = (0..stage.scaled(DOMAINS)).map(|number| format!("site{number}.example")).collect();
    let search = |list: &str| {
        let body = json!({"query": setup.queries[0], "source_policy": {list: domains}});
        setup.request(&setup.heavy, "/v1/search", &body)
    };
    let requests = [search("include_domains"), search("exclude_domains")];
    let load = setup.patient(&requests, CLIENTS, stage.time());
    let tally = stage.measure(&server, &[setup.search_probe()], || swarm::run(&load))?;
    throughput::report(&tally, stage.section);
    Ok(())
}
