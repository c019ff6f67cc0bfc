//! A web page that changes while it is read: parts of one version, and the page read again.

use anyhow::ensure;
use serde_json::json;
use url::form_urlencoded::byte_serialize;

use crate::site::Site;
use crate::stage::Stage;

/// Lines of the page: more than the view loads at a time.
const LINES: usize = 3_500;

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    let site = Site::start(version("First"))?;
    let address = format!("#/read?url={}", byte_serialize(site.url().as_bytes()).collect::<String>());
    stage.view(&address).await?;
    stage.page.wait_for_text(".prose", "First version, line 1 ").await?;
    let first = capture(stage, &site, None).await?;

    // The next part is of the version that is shown.
    site.put(version("Second"));
    let second = capture(stage, &site, Some(0)).await?;
    ensure!(first != second, "the page was not read again");
    stage.page.press("Load the next part").await?;
    stage.page.wait_for_text(".prose", &format!("First version, line {LINES} ")).await?;
    ensure!(!stage.page.text(".prose").await?.contains("Second version"), "two versions are joined");

    // A cited version is left for the latest one.
    stage.view(&format!("{address}&capture={first}&start=0&end=20")).await?;
    stage.page.wait_for_text(".prose .is-chosen", "First version").await?;
    site.put(version("Third"));
    stage.page.press("Read the page again").await?;
    stage.page.wait_for_text(".prose", "Third version, line 1 ").await?;
    ensure!(!stage.page.address().await?.contains("capture="), "the address still names the old version");

    // Other reads do not repeat that.
    let hits = site.hits();
    stage.view(&format!("{address}&q=tides")).await?;
    stage.page.wait_for("section[aria-label='Answering passages'] .answer").await?;
    ensure!(site.hits() == hits, "a question alone fetched the page again");
    far_passage(stage, &site, &address).await?;
    let faults = stage.page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}

/// A passage and a citation beyond the first part are loaded, scrolled to and marked.
async fn far_passage(stage: &Stage, site: &Site, address: &str) -> anyhow::Result<()> {
    let content = json!({"selection": "query_relevant", "max_passages": 1, "include_offsets": true});
    let body = json!({"canonical_url": site.url(), "query": "lighthouse", "content": content});
    let found = stage.call("POST", "document", &stage.key, Some(body)).await?;
    let passage = &found["passages"][0];
    ensure!(passage["text"].as_str().is_some_and(|text| text.contains("lighthouse")), "{passage}");
    let id = passage["passage_id"].as_str().unwrap_or_default();
    // From another view, as from a result of a search.
    stage.view("#/search").await?;
    stage.page.until("!document.querySelector('.prose')").await?;
    stage.view(&format!("{address}&passage={id}")).await?;
    stage.page.wait_for_text(".prose .is-chosen", "lighthouse").await?;
    stage.page.until(&format!("document.activeElement.id === 'passage-{id}'")).await?;
    stage.view("#/search").await?;
    stage.page.until("!document.querySelector('.prose')").await?;
    let end = passage["char_end"].as_i64().unwrap_or_default();
    stage.view(&format!("{address}&passage={id}&start={}&end={end}", end - 10)).await?;
    stage.page.until("document.activeElement.id === 'passage-cited'").await?;
    let chosen = stage
        .page
        .script("return [...document.querySelectorAll('.is-chosen')].map((e) => e.textContent).join('').length")
        .await?;
    ensure!(chosen.as_i64().is_some_and(|length| length <= 10), "more than the quote is marked: {chosen}");
    Ok(())
}

fn version(name: &str) -> String {
    let lines = (1..=LINES).map(|line| format!("<p>{name} version, line {line} of a text on the tides.</p>"));
    format!(
        "<!doctype html><html lang=en><title>Tides</title><body><main>{}<p>The lighthouse stands at the end of {name}.</p></main></body></html>",
        lines.collect::<String>()
    )
}

/// Reads the page over the API and returns the capture.
async fn capture(stage: &Stage, site: &Site, max_age: Option<u32>) -> anyhow::Result<String> {
    let mut body = json!({"canonical_url": site.url(), "content": {"max_chars": 100}});
    if let Some(seconds) = max_age {
        body["max_age_seconds"] = json!(seconds);
    }
    let read = stage.call("POST", "document", &stage.key, Some(body)).await?;
    Ok(read["provenance"]["capture_id"].as_str().unwrap_or_default().to_owned())
}
