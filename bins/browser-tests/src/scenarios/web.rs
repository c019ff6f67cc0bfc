//! The view of crawls and pages, for the operator's key. The server crawls its own documentation.

use anyhow::ensure;

use super::views;
use crate::stage::Stage;

const FORM: &str = "form[aria-label='Start a crawl']";

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    ensure!(!has_view(stage).await?, "a key without the scope has the view");
    stage.page.wait_for_text("main", "The web index is empty").await?;

    let key = stage.operators_key().await?;
    stage.sign_out().await?;
    stage.page.open(&format!("{}/console/?operator#key={key}", stage.server.base())).await?;
    stage.page.wait_for("nav a[href='#/web']").await?;
    stage.page.press("Close").await?;
    stage.view("#/web").await?;
    stage.page.wait_for_text("main", "There are no crawls").await?;
    stage.page.wait_for_text("section[aria-label='Pages by host']", "The web index is empty").await?;
    views::check_all(stage, "web-empty").await?;

    // A refused address is named.
    stage.page.type_into(&format!("{FORM} textarea"), "ftp://example.com/").await?;
    stage.page.click(&format!("{FORM} button[type=submit]")).await?;
    stage.page.wait_for_text(&format!("{FORM} [role=alert]"), "urls[0]").await?;
    stage.page.reload().await?;

    let address = format!("{}/docs", stage.server.base());
    stage.page.type_into(&format!("{FORM} textarea"), &address).await?;
    stage.page.click(&format!("{FORM} button[type=submit]")).await?;
    stage.page.wait_for_text("main [role=status]", "completed").await?;
    ensure!(stage.page.address().await?.contains("#/web?crawl="), "the address names the crawl");
    views::check_all(stage, "web-crawl").await?;

    stage.view("#/web").await?;
    stage.page.wait_for_text("section[aria-label='Crawls'] li", "completed").await?;
    stage.page.click("section[aria-label='Pages by host'] td a").await?;
    stage.page.wait_for_text("section[aria-label='Pages'] li", "/docs").await?;
    views::check_all(stage, "web-pages").await?;
    stage.page.click("section[aria-label='Pages'] button[title=Refresh]").await?;
    stage.page.wait_for_text("main [role=status]", "1 visit queued").await?;
    stage.page.click("section[aria-label='Pages'] button[title=Remove]").await?;
    stage.page.click("dialog button.danger").await?;
    stage.page.wait_for_text("main [role=status]", "1 page removed").await?;

    // The state of the view survives a reload and the way back.
    stage.view("#/web").await?;
    stage.page.click("section[aria-label='Crawls'] a").await?;
    stage.page.wait_for("section[aria-label=Settings]").await?;
    stage.page.reload().await?;
    stage.page.wait_for("section[aria-label=Settings]").await?;
    stage.page.press("Remove").await?;
    stage.page.click("dialog input[type=checkbox]").await?;
    stage.page.click("dialog button.danger").await?;
    stage.page.wait_for_text("main", "There are no crawls").await?;
    let faults = stage.page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}

async fn has_view(stage: &Stage) -> anyhow::Result<bool> {
    Ok(stage.page.script("return Boolean(document.querySelector('nav a[href=\"#/web\"]'))").await? == true)
}
