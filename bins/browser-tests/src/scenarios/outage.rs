//! A server that goes down and comes back.

use anyhow::ensure;
use serde_json::json;

use super::TIDES;
use crate::stage::Stage;

/// Lines of a document that has two parts.
const LINES: usize = 4_000;

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    stage.upload(&[("tides.md", TIDES)]).await?;
    stage.view("#/search?q=moon&in=workspace").await?;
    stage.page.wait_for(".result").await?;

    stage.server.stop();
    stage.view("#/files").await?;
    stage.page.wait_for_text(".outage", "cannot be reached").await?;
    stage.page.wait_for_text("main [role=alert]", "connection to the server is lost").await?;
    // What was loaded is still there.
    stage.view("#/search?q=moon&in=workspace").await?;
    stage.page.wait_for(".result").await?;
    stage.view("#/search?q=sun&in=workspace").await?;
    stage.page.wait_for_text("main [role=alert]", "cannot be reached").await?;

    stage.server.resume()?;
    stage.page.until("!document.querySelector('.outage')").await?;
    stage.page.wait_for(".result").await?;
    long_document(stage).await?;
    let faults = stage.page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}

/// A document stays as far as it was read, with the place and the focus of the reader.
async fn long_document(stage: &mut Stage) -> anyhow::Result<()> {
    let text: String =
        (1..=LINES).map(|line| format!("Line {line} of a long text on the tides of the coast.\n\n")).collect();
    stage.upload(&[("long.md", text.as_str())]).await?;
    let page = &stage.page;
    stage.view("#/files").await?;
    page.wait_for_text(".file-row", "tides.md").await?;
    page.wait_for_text(".file-row a", "long.md").await?;
    page.press("long.md").await?;
    page.press("Load the next part").await?;
    page.wait_for_text(".prose", &format!("Line {LINES} ")).await?;
    page.click(".opening input").await?;
    page.script("scrollTo(0, document.documentElement.scrollHeight)").await?;
    let state =
        "return [document.querySelector('.prose').textContent.length, scrollY, document.activeElement.localName]";
    let before = page.script(state).await?;
    ensure!(before[2] == json!("input"), "{before}");

    stage.server.stop();
    page.script("dispatchEvent(new Event('offline'))").await?;
    page.wait_for(".outage").await?;
    page.script(
        "window.sent = []; const send = window.fetch; window.fetch = (input, init) => { \
           window.sent.push(new URL(input).pathname); return send(input, init); }",
    )
    .await?;
    stage.server.resume()?;
    // The account is read again: its second request is sent after those of the view.
    page.until("window.sent.some((path) => path.endsWith('/v1/research'))").await?;
    page.until("!document.querySelector('.outage')").await?;
    let reads = page.script("return window.sent.filter((path) => path.endsWith('/v1/document'))").await?;
    ensure!(reads == json!([]), "the document was read again: {reads}");
    let after = page.script(state).await?;
    ensure!(after == before, "{before} became {after}");
    Ok(())
}
