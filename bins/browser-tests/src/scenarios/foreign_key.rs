//! A link with a key of another organization, opened while a key is in use, and without one.

use anyhow::ensure;

use crate::stage::Stage;

const NOTICE: &str = "main [role=alert]";
const FOR_STRANGERS: &str = "key of the link that you opened, for the organization strangers";

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    let ours = stage.page.text("header .who-name").await?;
    let organization = stage.server.command(&["admin", "org", "create", "--name", "strangers"])?;
    let id = organization["organization_id"].as_str().unwrap_or_default().to_owned();
    let created = stage.server.command(&["admin", "key", "create", "--org", &id, "--name", "theirs"])?;
    let theirs = created["key"].as_str().unwrap_or_default().to_owned();
    ensure!(!theirs.is_empty() && ours != "strangers", "{created}");

    // In the open page, and in a page that is loaded with the link.
    stage.view(&format!("#key={theirs}")).await?;
    check_refused(stage, &ours, &theirs).await?;
    stage.page.open(&format!("{}/console/?link#key={theirs}", stage.server.base())).await?;
    check_refused(stage, &ours, &theirs).await?;

    // Without a key the link is taken, and the user is told for whom. A reload changes nothing.
    stage.sign_out().await?;
    stage.view(&format!("#key={theirs}")).await?;
    stage.page.wait_for_text("header .who-name", "strangers").await?;
    stage.page.wait_for_text(NOTICE, FOR_STRANGERS).await?;
    stage.page.reload().await?;
    stage.page.wait_for_text(NOTICE, FOR_STRANGERS).await?;
    stage.page.press("Close").await?;
    stage.page.until(&format!("!document.querySelector('{NOTICE}')")).await?;
    stage.page.reload().await?;
    stage.page.wait_for_text("header .who-name", "strangers").await?;
    check_silent(stage).await?;

    // A key that the user enters needs no notice.
    stage.sign_out().await?;
    stage.page.type_into("#key", &theirs).await?;
    stage.page.press("Open").await?;
    stage.page.wait_for_text("header .who-name", "strangers").await?;
    check_silent(stage).await
}

async fn check_silent(stage: &Stage) -> anyhow::Result<()> {
    let notice = stage.page.text(NOTICE).await?;
    ensure!(notice.is_empty(), "{notice}");
    Ok(())
}

async fn check_refused(stage: &Stage, ours: &str, theirs: &str) -> anyhow::Result<()> {
    stage.page.wait_for_text(NOTICE, "another key, which was not used").await?;
    stage.page.wait_for_text("header .who-name", ours).await?;
    let address = stage.page.address().await?;
    ensure!(!address.contains(theirs), "the key is in the address: {address}");
    let kept = stage.page.script("return JSON.stringify({...sessionStorage})").await?;
    ensure!(!kept.to_string().contains(theirs), "the other key is kept: {kept}");
    Ok(())
}
