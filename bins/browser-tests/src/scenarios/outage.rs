//! A server that goes down and comes back.

use anyhow::ensure;

use super::TIDES;
use crate::stage::Stage;

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
    stage.view("#/files").await?;
    stage.page.wait_for_text(".file-row", "tides.md").await?;
    let faults = stage.page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}
