//! A research run from the question to the quoted passage.

use anyhow::ensure;
use serde_json::json;

use super::{HANDBOOK, TIDES, views};
use crate::stage::Stage;

const FORM: &str = "form[aria-label='Start research']";

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    stage.upload(&[("tides.md", TIDES), ("handbook.md", HANDBOOK)]).await?;
    stage.view("#/research").await?;
    stage.page.wait_for_text("section[aria-label=Runs]", "There are no runs yet").await?;
    folded_option(stage).await?;
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

    // The server refuses the stream of an organization that has many; the run is shown to its end all the same.
    let refusal = "const real = fetch; window.fetch = (to, init) => String(to).endsWith('/events') \
         ? Promise.resolve(new Response('{}', {status: 429})) : real(to, init)";
    stage.page.script(refusal).await?;
    stage.view("#/research").await?;
    stage.page.type_into(&format!("{FORM} textarea"), "How high do the tides rise in the Bay of Fundy?").await?;
    stage.page.click(&format!("{FORM} button[type=submit]")).await?;
    stage.page.wait_for_text("section[aria-label=Citations] blockquote", "16 metres").await?;
    stage.page.wait_for_text("main [role=status] .chip", "completed").await?;

    stage.view("#/research").await?;
    stage.page.wait_for_text("section[aria-label=Runs] li", "How much later").await?;
    stage.view("#/research?status=failed").await?;
    stage.page.wait_for_text("section[aria-label=Runs]", "There are no such runs").await?;
    let faults = stage.page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}

/// A folded option that is not valid is shown: the form would do nothing.
async fn folded_option(stage: &Stage) -> anyhow::Result<()> {
    let page = &stage.page;
    let searches = format!("{FORM} input[max=\"200\"]");
    page.click(&format!("{FORM} summary")).await?;
    page.type_into(&searches, "500").await?;
    page.click(&format!("{FORM} summary")).await?;
    page.until("!document.querySelector('.options').open").await?;
    page.type_into(&format!("{FORM} textarea"), "How?").await?;
    page.click(&format!("{FORM} button[type=submit]")).await?;
    page.until("document.querySelector('.options').open && document.activeElement.max === '200'").await?;
    page.reload().await?;
    page.until(&format!("document.querySelector({})?.value === ''", json!(format!("{FORM} textarea")))).await
}
