//! A run without a pointer.

use anyhow::{bail, ensure};
use fantoccini::key::Key;
use serde_json::json;

use super::{HANDBOOK, TIDES};
use crate::stage::Stage;

const MAX_STEPS: usize = 60;

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    // The files, with a page that is left again.
    stage.sign_in().await?;
    stage.upload(&[("tides.md", TIDES), ("handbook.md", HANDBOOK)]).await?;
    stage.page.script("sessionStorage.clear()").await?;
    stage.page.open(&format!("{}/console/?new", stage.server.base())).await?;
    stage.page.wait_for(".signin input").await?;

    tab_to(stage, "e.id === 'key'").await?;
    stage.page.keys(&stage.key).await?;
    enter(stage).await?;
    stage.page.wait_for("header .who-name").await?;

    tab_to(stage, "e.textContent === 'Search' && e.closest('nav')").await?;
    enter(stage).await?;
    stage.page.wait_for("form[role=search]").await?;
    // The new view has the focus.
    stage.page.until("document.activeElement.id === 'main'").await?;
    tab_to(stage, "e.classList.contains('query')").await?;
    stage.page.keys("vacation days").await?;
    enter(stage).await?;
    stage.page.wait_for(".result").await?;

    tab_to(stage, "e.closest('.options') && e.localName === 'summary'").await?;
    enter(stage).await?;
    stage.page.until("document.querySelector('.options').open").await?;
    enter(stage).await?;

    tab_to(stage, "e.closest('.result h2')").await?;
    ensure!(has_outline(stage).await?, "the focus is not visible");
    enter(stage).await?;
    stage.page.wait_for_text(".prose", "28 days").await?;
    tab_to(stage, "e.closest('.outline')").await?;
    enter(stage).await?;
    stage.page.until("document.activeElement.id.startsWith('section-')").await?;

    // A dialog opens, keeps the focus, and closes.
    stage.view("#/keys").await?;
    stage.page.wait_for(".keys li").await?;
    tab_to(stage, "e.textContent === 'Create a key'").await?;
    enter(stage).await?;
    stage.page.until("document.activeElement.closest('dialog[open]')").await?;
    stage.page.keys(&char::from(Key::Escape).to_string()).await?;
    stage.page.until("!document.querySelector('dialog')").await?;
    stage.page.until("document.activeElement.textContent === 'Create a key'").await?;
    place_of_an_entry(stage).await?;
    focus_within_a_view(stage).await?;
    focus_after_a_deletion(stage).await
}

/// Going back and forward leads to the places that were left, also within a view.
async fn place_of_an_entry(stage: &Stage) -> anyhow::Result<()> {
    let page = &stage.page;
    page.size(1280, 300).await?;
    stage.view("#/search?q=vacation+days").await?;
    page.wait_for_text(".result .quote", "28 days").await?;
    page.script("scrollTo(0, 150)").await?;
    stage.view("#/search?q=travel+expenses").await?;
    page.wait_for_text(".result .quote", "two weeks").await?;
    page.script("scrollTo(0, 120)").await?;
    page.script("document.querySelector('.result h2 a').click()").await?;
    page.wait_for(".prose").await?;
    page.until("scrollY === 0 && document.activeElement.id === 'main'").await?;
    for (step, query, place) in
        [("back", "travel expenses", 120), ("back", "vacation days", 150), ("forward", "travel expenses", 120)]
    {
        page.script(&format!("history.{step}()")).await?;
        page.until(&format!("document.querySelector('main input.query')?.value === '{query}'")).await?;
        page.wait_for(".result").await?;
        page.until(&format!("scrollY === {place}")).await?;
    }
    Ok(())
}

async fn focus_within_a_view(stage: &Stage) -> anyhow::Result<()> {
    let me = stage.call("GET", "me", &stage.key, None).await?;
    let scope = json!({"indexes": ["workspace"], "workspace_id": me["organization"]["organization_id"]});
    let question = json!({"query": "How many days of vacation are there?", "scope": scope, "depth": "quick"});
    stage.call("POST", "research", &stage.key, Some(question)).await?;
    stage.view("#/research").await?;
    stage.page.wait_for("section[aria-label=Runs] li a").await?;
    tab_to(stage, "e.closest('section[aria-label=Runs] li')").await?;
    enter(stage).await?;
    stage.page.wait_for_text("main h1", "days of vacation").await?;
    stage.page.until("document.activeElement.id === 'main'").await
}

/// The list of the deleted entry has the focus, also without further entries.
async fn focus_after_a_deletion(stage: &Stage) -> anyhow::Result<()> {
    stage.view("#/files").await?;
    for (name, place) in [("tides.md", ".file-body"), ("handbook.md", "section[aria-label='List of files']")] {
        let button = format!("[aria-label='Delete: {name}']");
        stage.page.wait_for(&button).await?;
        tab_to(stage, &format!("e.matches(\"{button}\")")).await?;
        enter(stage).await?;
        stage.page.until("document.activeElement.closest('dialog[open]')").await?;
        tab_to(stage, "e.textContent === 'Delete'").await?;
        enter(stage).await?;
        stage.page.until(&format!("!document.querySelector(\"{button}\")")).await?;
        stage.page.until(&format!("document.activeElement.matches(\"{place}\")")).await?;
    }
    Ok(())
}

/// Presses Tab until the condition on the element `e` with the focus is true.
async fn tab_to(stage: &Stage, condition: &str) -> anyhow::Result<()> {
    for _ in 0..MAX_STEPS {
        let is_there =
            stage.page.script(&format!("const e = document.activeElement; return Boolean({condition})")).await?;
        if is_there == true {
            return Ok(());
        }
        stage.page.keys(&char::from(Key::Tab).to_string()).await?;
    }
    bail!("Tab does not lead to an element with {condition}")
}

async fn enter(stage: &Stage) -> anyhow::Result<()> {
    stage.page.keys(&char::from(Key::Enter).to_string()).await
}

async fn has_outline(stage: &Stage) -> anyhow::Result<bool> {
    let style = stage.page.script("return getComputedStyle(document.activeElement).outlineStyle").await?;
    Ok(style != "none")
}
