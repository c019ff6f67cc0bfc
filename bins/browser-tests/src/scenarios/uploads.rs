//! Uploads that do not end as usual: unreadable files, equal names, a server that is down meanwhile, and a key that is forgotten.

use anyhow::ensure;
use serde_json::json;

use super::{HANDBOOK, TIDES};
use crate::stage::Stage;

const QUEUE: &str = "section[aria-label=Uploads]";

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    stage.view("#/files").await?;
    first_file(stage).await?;
    unreadable_again(stage).await?;
    equal_names(stage).await?;
    replaced_name(stage).await?;
    server_down_behind_a_proxy(stage).await?;
    restart(stage).await?;
    another_key(stage).await?;
    let faults = stage.page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}

/// The other views know of the first files as soon as they are searchable.
async fn first_file(stage: &Stage) -> anyhow::Result<()> {
    stage.page.drop_files(".drop", &[("first.md", HANDBOOK)]).await?;
    stage.page.wait_for_text(QUEUE, "1 file searchable").await?;
    stage.page.press("Search them").await?;
    stage.page.wait_for_text(".empty-title", "Type a question").await?;
    stage.view("#/files").await?;
    close(stage).await
}

/// A run does not list a file whose bytes have not changed.
async fn unreadable_again(stage: &Stage) -> anyhow::Result<()> {
    for _ in 0..2 {
        stage.page.drop_files(".drop", &[("broken.pdf", "no pdf")]).await?;
        stage.page.wait_for_text(QUEUE, "0 files searchable, 1 not").await?;
        stage.page.wait_for_text(".uploads .reason", "wrong_type").await?;
        close(stage).await?;
    }
    // A readable one stays searchable.
    for _ in 0..2 {
        stage.page.drop_files(".drop", &[("handbook.md", HANDBOOK)]).await?;
        stage.page.wait_for_text(QUEUE, "1 file searchable").await?;
        close(stage).await?;
    }
    Ok(())
}

async fn equal_names(stage: &Stage) -> anyhow::Result<()> {
    stage.page.drop_files(".drop", &[("same.md", TIDES), ("same.md", HANDBOOK)]).await?;
    stage.page.wait_for_text(QUEUE, "1 file searchable, 1 not").await?;
    stage.page.wait_for_text(".uploads .reason", "another file of this selection has the same name").await?;
    close(stage).await
}

/// The notice stays with the file when its outcome is known.
async fn replaced_name(stage: &Stage) -> anyhow::Result<()> {
    // Stored names are without marks of direction.
    for name in ["re\u{200e}port.md", "report.md"] {
        stage.page.drop_files(".drop", &[(name, TIDES)]).await?;
        stage.page.wait_for_text(QUEUE, "1 file searchable").await?;
        if name == "report.md" {
            stage.page.wait_for_text(".uploads .reason", "which has the same stored name").await?;
        }
        close(stage).await?;
    }
    Ok(())
}

/// A proxy answers for longer than a request is retried: at first to the start of the run, then while it is followed.
async fn server_down_behind_a_proxy(stage: &Stage) -> anyhow::Result<()> {
    let page = &stage.page;
    page.script(
        "window.served = window.fetch; window.mayStart = false; window.refusals = 6; \
         window.fetch = async (input, init) => { \
           const isOfRun = String(input).includes('/v1/files/index'); \
           const isRefused = isOfRun && (init.method === 'POST' ? !window.mayStart : (window.refusals -= 1) >= 0); \
           return isRefused ? new Response('bad gateway', {status: 502}) : window.served(input, init); }",
    )
    .await?;
    page.drop_files(".drop", &[("outage.md", HANDBOOK)]).await?;
    let alert = format!("{QUEUE} [role=alert]");
    page.wait_for_text(&alert, "502").await?;
    page.script("window.mayStart = true").await?;
    page.wait_for_text(QUEUE, "1 file searchable").await?;
    page.until(&format!("window.refusals < 0 && !document.querySelector({})", json!(alert))).await?;
    page.script("window.fetch = window.served").await?;
    close(stage).await
}

/// A server that is restarted ends neither the uploads that are under way nor those that wait.
async fn restart(stage: &mut Stage) -> anyhow::Result<()> {
    let page = &stage.page;
    page.script(
        "window.send = XMLHttpRequest.prototype.send; window.held = []; \
         XMLHttpRequest.prototype.send = function (body) { window.held.push(() => window.send.call(this, body)); }",
    )
    .await?;
    let names = ["r1.md", "r2.md", "r3.md", "r4.md", "r5.md", "r6.md"];
    page.drop_files(".drop", &names.map(|name| (name, TIDES))).await?;
    page.until("window.held.length === 4").await?;
    stage.server.stop();
    page.script("XMLHttpRequest.prototype.send = window.send; window.held.forEach((go) => go())").await?;
    page.wait_for_text(QUEUE, "cannot be reached").await?;
    stage.server.resume()?;
    page.wait_for_text(QUEUE, "6 files searchable").await?;
    page.until("!document.querySelector('.uploads .reason')").await?;
    page.until(&format!("!document.querySelector({})", json!(format!("{QUEUE} [role=alert]")))).await?;
    close(stage).await
}

/// Uploads of the next key begin although those of the last one have not ended.
async fn another_key(stage: &Stage) -> anyhow::Result<()> {
    let page = &stage.page;
    page.script("window.send = XMLHttpRequest.prototype.send; XMLHttpRequest.prototype.send = () => {}").await?;
    let names = ["1.md", "2.md", "3.md", "4.md", "5.md"];
    page.drop_files(".drop", &names.map(|name| (name, TIDES))).await?;
    page.until("document.querySelectorAll('.uploads .chip.is-accent').length === 4").await?;
    page.press("Forget key").await?;
    page.wait_for("#key").await?;
    page.script("XMLHttpRequest.prototype.send = window.send").await?;
    page.type_into("#key", &stage.key).await?;
    page.press("Open").await?;
    page.drop_files(".drop", &[("tides.md", TIDES)]).await?;
    page.wait_for_text(QUEUE, "1 file searchable").await
}

async fn close(stage: &Stage) -> anyhow::Result<()> {
    stage.page.press("Close").await?;
    stage.page.until("!document.querySelector('.uploads')").await
}
