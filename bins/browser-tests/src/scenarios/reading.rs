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
    let faults = stage.page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}

fn version(name: &str) -> String {
    let lines = (1..=LINES).map(|line| format!("<p>{name} version, line {line} of a text on the tides.</p>"));
    format!(
        "<!doctype html><html lang=en><title>Tides</title><body><main>{}</main></body></html>",
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
