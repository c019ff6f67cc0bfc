//! Eight PDFs that keep their readers busy, read as web pages.

use super::stage::Stage;
use super::{FEW_DOCUMENTS, Scenario, slow_pdf, throughput};
use crate::bench::read_job::{ALLOW_LOOPBACK, generated_pages};
use crate::bench::site::{Pages, Site};
use crate::bench::swarm;
use serde_json::json;

pub const SCENARIO: Scenario =
    Scenario { name: "slow-pdfs", about: "eight readers of small PDFs that keep their readers busy", measure };

const READERS: usize = 8;
/// URLs of the PDF; none is read twice.
const URLS: usize = 1_000;
const PAGES: usize = 100;

fn measure(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let setup = stage.set_up(FEW_DOCUMENTS)?;
    let server = setup.installation.serve_with(&ALLOW_LOOPBACK)?;
    let fast = Site::start(Pages::html(generated_pages(stage.options.seed, PAGES)))?;
    let slow = Pages { host: "127.0.0.2", content_type: "application/pdf", ..Pages::html(vec![slow_pdf::bytes()]) };
    let slow = Site::start(slow)?;
    let read = |number| setup.request(&setup.heavy, "/v1/document", &json!({"canonical_url": slow.url(number)}));
    let requests: Vec<Vec<u8>> = (0..URLS).map(read).collect();
    let load = setup.patient(&requests, stage.scaled(READERS), stage.time());
    let tally = stage.measure(&server, &[setup.search_probe(), setup.page_probe(&fast)], || swarm::run(&load))?;
    throughput::report(&tally, stage.section);
    Ok(())
}
