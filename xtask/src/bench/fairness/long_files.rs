//! Exact searches of 40 long text files, which are all candidates.

use super::stage::Stage;
use super::texts::{self, LongText};
use super::{FEW_DOCUMENTS, Scenario, throughput};
use crate::bench::swarm;
use crate::bench::workspace::Workspace;
use serde_json::json;
use std::time::Instant;

pub const SCENARIO: Scenario = Scenario {
    name: "long-files",
    about: "40 text files of 10 MB in one organization, and eight clients with exact searches",
    measure,
};

const FILES: usize = 40;
const FILE_BYTES: usize = 10_000_000;
const CLIENTS: usize = 8;

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let setup = stage.set_up(FEW_DOCUMENTS)?;
    let server = setup.installation.serve()?;
    let workspace = Workspace::of(&setup.installation, setup.heavy.clone());
    let text = LongText::new(stage.options.seed, FILE_BYTES);
    let files = stage.scaled(FILES);
    stage.step("uploading and indexing files");
    let begun = Instant::now();
    texts::index(&workspace, (0..files).map(|number| text.file(number, files)))?;
    stage.section.count("files of 10 MB", files).seconds("s to upload and index them", begun.elapsed());

    let phrases = text.phrases(CLIENTS);
    let begun = Instant::now();
    workspace.search(&phrases[0])?;
    stage.section.milliseconds("ms, first search", begun.elapsed());
    let scope = json!({"indexes": ["workspace"], "workspace_id": setup.heavy.organization});
    let exact = |phrase: &String| {
        let body = json!({"query": phrase, "scope": scope, "filters": {"exact_match": true}});
        setup.request(&setup.heavy, "/v1/search", &body)
    };
    let requests: Vec<Vec<u8>> = phrases.iter().map(exact).collect();
    let load = setup.patient(&requests, CLIENTS, stage.time());
    let tally = stage.measure(&server, &[setup.search_probe()], || swarm::run(&load))?;
    throughput::report(&tally, stage.section);
    Ok(())
}
