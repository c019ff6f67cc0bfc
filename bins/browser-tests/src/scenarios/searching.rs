//! Searches whose answer changes, and searches that are asked again.

use anyhow::ensure;
use fantoccini::key::Key;

use super::TIDES;
use crate::stage::Stage;

const PENGUINS: &str = "# Birds of the ice\n\nThe emperor penguin breeds in the winter of Antarctica.\n";

const OTHERS: &str = "# Birds of the ice, again\n\nAn emperor penguin weighs up to 45 kilograms.\n";

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    stage.upload(&[("tides.md", TIDES)]).await?;
    let count = "const send = window.fetch; window.searches = 0; window.fetch = (input, init) => { \
         if (String(input).endsWith('/v1/search')) window.searches += 1; return send(input, init); }";
    stage.page.script(count).await?;
    changed_files(stage).await?;
    the_way_back(stage).await?;
    asked_again(stage).await?;
    folded_option(stage).await?;
    let faults = stage.page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}

/// A search finds what was uploaded since it was last sent, and nothing that was deleted since, from every box.
async fn changed_files(stage: &Stage) -> anyhow::Result<()> {
    let page = &stage.page;
    stage.view("#/search").await?;
    ask(stage, "main input.query", "emperor penguin").await?;
    page.wait_for_text(".answer-count", "0 results").await?;
    upload(stage, "penguin.md", PENGUINS).await?;
    page.press("Search them").await?;
    ask(stage, "main input.query", "emperor penguin").await?;
    page.wait_for_text(".answer-count", "1 result").await?;

    upload(stage, "penguin-2.md", OTHERS).await?;
    stage.view("#/").await?;
    ask(stage, "main input.query", "emperor penguin").await?;
    page.wait_for_text(".answer-count", "2 results").await?;

    stage.view("#/files").await?;
    page.click("button[aria-label='Delete: penguin-2.md']").await?;
    page.click("dialog button.danger").await?;
    page.until("!document.querySelector(\"button[aria-label='Delete: penguin-2.md']\")").await?;
    ask(stage, ".search-within input", "emperor penguin").await?;
    page.wait_for_text(".answer-count", "1 result").await
}

/// Going back shows the answer that is there.
async fn the_way_back(stage: &Stage) -> anyhow::Result<()> {
    let page = &stage.page;
    stage.view("#/search").await?;
    page.until("document.querySelector('main input.query')?.value === ''").await?;
    page.script("window.searches = 0").await?;
    ask(stage, "main input.query", "moon").await?;
    page.wait_for_text(".answer-count", "1 result").await?;
    page.script("document.querySelector('main input.query').select()").await?;
    ask(stage, "main input.query", "sun").await?;
    page.wait_for_text(".code-box pre", "\"sun\"").await?;
    page.wait_for(".result").await?;
    page.script("history.back()").await?;
    page.wait_for_text(".code-box pre", "\"moon\"").await?;
    page.wait_for(".result").await?;
    let searches = page.script("return window.searches").await?;
    ensure!(searches == 2, "{searches} searches were sent");
    Ok(())
}

/// A search that is sent again has a new answer, without the feedback on the last one.
async fn asked_again(stage: &Stage) -> anyhow::Result<()> {
    let page = &stage.page;
    page.click(".feedback button").await?;
    page.wait_for_text(".feedback", "Stored").await?;
    // A blank more makes no other request.
    for (text, sent) in [("", 3), (" ", 4)] {
        ask(stage, "main input.query", text).await?;
        page.until(&format!("window.searches === {sent}")).await?;
        page.until("document.querySelector('.feedback [role=status]')?.textContent === ''").await?;
        page.until("!document.querySelector('.feedback [aria-pressed=true]')").await?;
    }
    Ok(())
}

/// A folded option that is not valid is shown: the form would do nothing.
async fn folded_option(stage: &Stage) -> anyhow::Result<()> {
    stage.view("#/search?q=moon&n=100").await?;
    stage.page.until("document.querySelector('main input[max=\"50\"]')?.value === '100'").await?;
    ask(stage, "main input.query", " tides").await?;
    stage.page.until("document.querySelector('.options').open && document.activeElement.max === '50'").await
}

async fn ask(stage: &Stage, selector: &str, query: &str) -> anyhow::Result<()> {
    stage.page.type_into(selector, &format!("{query}{}", char::from(Key::Enter))).await
}

/// Uploads a file as a user does.
async fn upload(stage: &Stage, name: &str, text: &str) -> anyhow::Result<()> {
    stage.view("#/files").await?;
    stage.page.drop_files(".drop", &[(name, text)]).await?;
    stage.page.wait_for_text("section[aria-label=Uploads]", "1 file searchable").await?;
    stage.page.wait_for_text(".uploads", name).await
}
