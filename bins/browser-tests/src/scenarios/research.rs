//! A research run from the question to the quoted passage.

use anyhow::ensure;

use super::{HANDBOOK, TIDES, views};
use crate::stage::Stage;

const FORM: &str = "form[aria-label='Start research']";

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    stage.upload(&[("tides.md", TIDES), ("handbook.md", HANDBOOK)]).await?;
    stage.view("#/research").await?;
    stage.page.wait_for_text("section[aria-label=Runs]", "There are no runs yet").await?;
    stage.page.type_into(&format!("{FORM} textarea"), "How much later does high water come each day?").await?;
    stage.page.click(&format!("{FORM} button[type=submit]")).await?;

    stage.page.wait_for_text("main [role=status] .chip", "completed").await?;
    stage.page.wait_for_text("section[aria-label=Citations] blockquote", "50 minutes later").await?;
    stage.page.wait_for_text(".timeline li", "Search:").await?;
    stage.page.wait_for_text(".timeline li", "Completed").await?;
    let odd =
        stage.page.script("return document.querySelector('main').innerText.match(/undefined|NaN|\\[object/)").await?;
    ensure!(odd.is_null(), "the run shows {odd}");
    views::check_all(stage, "research-run").await?;

    // A citation opens the passage in the version that was read.
    stage.page.click("section[aria-label=Citations] blockquote a").await?;
    stage.page.wait_for_text(".prose .passage.is-chosen", "50 minutes later").await?;
    ensure!(stage.page.address().await?.contains("capture="), "the address names the version");

    stage.view("#/research").await?;
    stage.page.wait_for_text("section[aria-label=Runs] li", "How much later").await?;
    stage.view("#/research?status=failed").await?;
    stage.page.wait_for_text("section[aria-label=Runs]", "There are no such runs").await?;
    let faults = stage.page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}
