//! From the banner's address to a highlighted answer: one drop, three clicks.

use anyhow::ensure;
use serde_json::Value;

use super::{HANDBOOK, TIDES};
use crate::stage::Stage;

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let page = &stage.page;
    stage.sign_in().await?;
    let address = page.address().await?;
    ensure!(!address.contains(&stage.key), "the key is in the address: {address}");
    let kept = page.script("return [JSON.stringify({...localStorage}), document.cookie, history.length]").await?;
    ensure!(kept[0] == "{}" && kept[1] == "", "the key may be kept: {kept}");

    page.drop_files(
        ".drop",
        &[("tides.md", TIDES), ("handbook.md", HANDBOOK), ("tool.exe", "MZ"), ("broken.pdf", "no pdf")],
    )
    .await?;
    page.wait_for_text("section[aria-label=Uploads]", "2 files searchable, 2 not").await?;
    page.wait_for_text(".uploads", "unsupported").await?;
    page.wait_for_text(".uploads .reason", "wrong_type").await?;
    page.press("Search them").await?;
    page.type_into("input.query", "when is high water").await?;
    page.click("main form[role=search] button.primary").await?;
    page.wait_for(".result .quote mark").await?;
    ensure!(page.text(".result h2").await?.contains("Tides"), "the wrong file is first");
    let marks = page
        .script("return [...document.querySelectorAll('.result .quote mark')].map((e) => e.textContent.toLowerCase())")
        .await?;
    ensure!(marks.as_array().is_some_and(|marks| marks.contains(&Value::from("water"))), "marks: {marks}");
    ensure!(page.address().await?.contains("#/search?q=when+is+high+water"), "the address lacks the query");

    // Reload and back keep the state.
    page.reload().await?;
    page.wait_for(".result .quote mark").await?;
    page.click(".result h2 a").await?;
    page.wait_for(".prose .passage").await?;
    page.script("history.back()").await?;
    page.wait_for(".result").await?;

    // Feedback with one click, and the request as code without the key.
    page.click(".feedback button").await?;
    page.wait_for_text(".feedback", "Stored").await?;
    let code = page.script("document.querySelectorAll('details').forEach((e) => { e.open = true; }); return document.querySelector('.code-box code').textContent").await?;
    let code = code.as_str().unwrap_or_default();
    ensure!(code.contains("RETRIEVAL_API_KEY") && !code.contains(&stage.key), "{code}");
    page.wait_for_text(".why", "Found in").await?;
    let faults = page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}
