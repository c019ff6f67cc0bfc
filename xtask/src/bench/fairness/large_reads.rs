//! Four clients that read a whole document of 60 MB.

use super::stage::Stage;
use super::{FEW_DOCUMENTS, Scenario, texts, throughput};
use crate::bench::swarm;
use crate::bench::workspace::Workspace;
use serde_json::json;

pub const SCENARIO: Scenario =
    Scenario { name: "large-reads", about: "four clients that read a whole document of 60 MB", measure };

const DOCUMENT_BYTES: usize = 60_000_000;
const CLIENTS: usize = 4;

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let setup = stage.set_up(FEW_DOCUMENTS)?;
    let server = setup.installation.serve()?;
    let workspace = Workspace::of(&setup.installation, setup.heavy.clone());
    stage.step("uploading and indexing the document");
    let id = texts::document(&workspace, stage.options.seed, stage.scaled(DOCUMENT_BYTES))?;
    let requests = [setup.request(&setup.heavy, "/v1/document", &json!({"doc_id": id}))];
    let load = setup.patient(&requests, CLIENTS, stage.time());
    let tally = stage.measure(&server, &[setup.search_probe()], || swarm::run(&load))?;
    throughput::report(&tally, stage.section);
    Ok(())
}
