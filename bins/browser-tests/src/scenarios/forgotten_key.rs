//! Requests that are under way when the key is forgotten, and another one is entered.

use std::time::Duration;

use anyhow::ensure;
use serde_json::json;

use crate::stage::Stage;

/// Longer than the pause between two polls of a run.
const POLL: Duration = Duration::from_secs(2);

/// Records requests. Runs never end, and deletions meet a busy server.
const INTERCEPT: &str = "const original = window.fetch; window.sent = []; window.fetch = (url, init) => { \
     const method = init?.method ?? 'GET'; \
     window.sent.push({ method, url: String(url), key: init?.headers?.Authorization ?? null }); \
     if (method === 'DELETE') return Promise.resolve(new Response('{}', { status: 503 })); \
     const run = /files\\/index\\/(.+)$/.exec(url); \
     if (run) return Promise.resolve(Response.json({ sync_id: run[1], state: 'running', stats: {} })); \
     return original(url, init); }";

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    let organization = stage.server.command(&["admin", "org", "create", "--name", "strangers"])?;
    let id = organization["organization_id"].as_str().unwrap_or_default().to_owned();
    let created = stage.server.command(&["admin", "key", "create", "--org", &id, "--name", "theirs"])?;
    let theirs = created["key"].as_str().unwrap_or_default().to_owned();
    ensure!(!theirs.is_empty(), "{created}");
    stage.page.script(INTERCEPT).await?;

    // A poll of a run.
    begin(stage, "views/files/runs.js", "module.follow('some-run').catch(() => {})").await?;
    stage.page.until("window.sent.some(({ url }) => url.includes('/files/index/some-run'))").await?;
    stage.sign_out().await?;
    tokio::time::sleep(POLL).await;
    let without_key = stage.page.script("return window.sent.filter(({ key }) => key?.trim() === 'Bearer')").await?;
    ensure!(without_key == json!([]), "sent without a key: {without_key}");
    let notice = stage.page.text(".signin [role=alert]").await?;
    ensure!(notice.is_empty(), "{notice}");

    // The repetition of a deletion.
    enter(stage, &stage.key).await?;
    begin(stage, "core/api.js", "module.remove('files/a.md').catch(({ code }) => { window.outcome = code; })").await?;
    stage.page.until("window.sent.some(({ method }) => method === 'DELETE')").await?;
    stage.sign_out().await?;
    enter(stage, &theirs).await?;
    stage.page.until("window.outcome").await?;
    let outcome = stage.page.script("return window.outcome").await?;
    ensure!(outcome == "key_changed", "{outcome}");
    let deletions = stage.page.script("return window.sent.filter(({ method }) => method === 'DELETE')").await?;
    let ours = format!("Bearer {}", stage.key);
    let all_ours = deletions.as_array().is_some_and(|sent| sent.iter().all(|request| request["key"] == ours.as_str()));
    ensure!(all_ours, "sent with another key: {deletions}");
    Ok(())
}

async fn enter(stage: &Stage, key: &str) -> anyhow::Result<()> {
    stage.page.type_into("#key", key).await?;
    stage.page.press("Open").await?;
    stage.page.wait_for("header .who-name").await
}

/// Evaluates an expression about a module of the console, and does not wait for its promise.
async fn begin(stage: &Stage, path: &str, expression: &str) -> anyhow::Result<()> {
    let address = format!("new URL({}, document.querySelector('script[type=module]').src).href", json!(path));
    stage.page.promise(&format!("const module = await import({address}); {expression}; return null")).await.map(drop)
}
