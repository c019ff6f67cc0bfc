//! A list of 10,000 files. The page's own requests are answered by a script, because uploads would take minutes.

use anyhow::ensure;
use serde_json::json;

use crate::stage::Stage;

const FILES: usize = 10_000;
const MAX_ROWS: i64 = 60;
const MAX_SCROLL_MS: f64 = 500.0;

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let script = format!(
        "const original = window.fetch; window.fetch = async (input, init) => {{ \
           const url = new URL(input, location.href); \
           if (!url.pathname.endsWith('/v1/files')) return original(input, init); \
           window.lists = [...(window.lists ?? []), url.search]; \
           const limit = Number(url.searchParams.get('limit') ?? {FILES}), from = Number(url.searchParams.get('cursor') ?? 0); \
           const files = Array.from({{length: Math.min(limit, {FILES} - from)}}, (_, i) => ({{ \
             name: 'report-' + String(from + i).padStart(5, '0') + '.pdf', size: 1000 + i, last_modified: '2026-01-01T00:00:00Z', \
             doc_id: crypto.randomUUID(), status: i % 100 ? 'indexed' : 'failed', reason: i % 100 ? undefined : 'corrupt: the file is damaged', labels: [] }})); \
           const next = from + limit < {FILES} ? String(from + limit) : undefined; \
           return new Response(JSON.stringify({{request_id: 'x', files, next_cursor: next}}), {{headers: {{'Content-Type': 'application/json'}}}}); }};"
    );
    stage.page.command("Page.addScriptToEvaluateOnNewDocument", json!({"source": script})).await?;
    stage.sign_in().await?;
    stage.view("#/files").await?;
    stage.page.wait_for_text("main [role=status]", "10,000 files").await?;
    stage.page.until("!document.querySelector('main [role=status]').textContent.includes('so far')").await?;
    // The first files, then all: a page costs the server one request to its storage per file.
    let lists = stage.page.script("return window.lists").await?;
    ensure!(lists == json!(["?limit=50", ""]), "{lists}");
    few_rows(stage).await?;

    let took = stage
        .page
        .promise(
            "const start = performance.now(); const box = document.querySelector('.file-body'); box.scrollTop = box.scrollHeight; \
             while (!box.textContent.includes('report-09999.pdf')) await new Promise(requestAnimationFrame); \
             return performance.now() - start",
        )
        .await?;
    ensure!(took.as_f64().is_some_and(|ms| ms < MAX_SCROLL_MS), "scrolling to the end took {took} ms");
    few_rows(stage).await?;

    stage.page.type_into(".fields input[type=search]", "07777").await?;
    stage.page.wait_for_text(".file-row", "report-07777.pdf").await?;
    stage.page.until("document.querySelectorAll('.file-window .file-row').length === 1").await?;
    stage.view("#/files?state=failed").await?;
    stage.page.wait_for_text("main [role=status]", "100 of 10,000").await
}

async fn few_rows(stage: &Stage) -> anyhow::Result<()> {
    let rows = stage.page.script("return document.querySelectorAll('.file-window .file-row').length").await?;
    ensure!(rows.as_i64().is_some_and(|rows| (1..=MAX_ROWS).contains(&rows)), "{rows} rows exist");
    Ok(())
}
