//! A document full of markup and scripts.

use anyhow::ensure;
use serde_json::json;

use crate::stage::Stage;

const MARKDOWN: &str = "# Hostile <img src=x onerror=\"window.pwned=1\">\n\n<script>window.pwned=2</script>\n\n\
     [one](javascript:window.pwned=3) [two](JaVaScRiPt:window.pwned=4) [three](data:text/html,<script>window.pwned=5</script>) \
     [four](vbscript:x) [fine](https://example.com/) ![picture](https://evil.example/pixel.png)\n\n\
     <iframe src=\"https://evil.example\"></iframe> <a href=\"javascript:window.pwned=6\" onclick=\"window.pwned=7\">five</a>\n\n\
     | <b onmouseover=window.pwned=8>x</b> | y |\n|---|---|\n| <svg onload=window.pwned=9> | z |\n\n\
     `</code><script>window.pwned=10</script>` <https://example.org/\"onclick=window.pwned=11>\n\n```html\n<script>window.pwned=12</script>\n```\n";

const HTML: &str = "<html><head><title><script>window.pwned=13</script>Trap</title></head><body><p>hostile \
     &lt;img src=x onerror=window.pwned=14&gt; &lt;script&gt;window.pwned=15&lt;/script&gt; <a href=\"javascript:window.pwned=16\">link</a></p>\
     <p>More words about hostile pages, so that the text counts as content of its own.</p></body></html>";

const NAME: &str = "<img src=x onerror=window.pwned=17>.md";

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    stage.upload(&[("hostile.md", MARKDOWN), ("hostile.html", HTML), (NAME, "# hostile name\n\nSome text.\n")]).await?;
    let me = stage.call("GET", "me", &stage.key, None).await?;
    let scope = json!({"indexes": ["workspace"], "workspace_id": me["organization"]["organization_id"]});
    let found = stage.call("POST", "search", &stage.key, Some(json!({"query": "hostile", "scope": scope}))).await?;
    let results = found["results"].as_array().cloned().unwrap_or_default();
    ensure!(results.len() == 3, "{} results", results.len());

    stage.view("#/search?q=hostile+%3Cimg+src%3Dx+onerror%3Dwindow.pwned%3D18%3E&in=workspace").await?;
    stage.page.wait_for(".result").await?;
    harmless(stage).await?;
    stage.view("#/files").await?;
    stage.page.wait_for_text(".file-row", "onerror").await?;
    harmless(stage).await?;
    for result in &results {
        let id = result["doc_id"].as_str().unwrap_or_default();
        stage.view(&format!("#/read?doc={id}&q=hostile")).await?;
        stage.page.wait_for_text(".provenance code", id).await?;
        harmless(stage).await?;
    }
    let text = stage.page.script("return document.querySelectorAll('.prose').length").await?;
    ensure!(text == 1, "no document is shown");
    costly_document(stage).await
}

/// Unclosed marks, which a careless parser searches to the end of the text for, each time.
async fn costly_document(stage: &Stage) -> anyhow::Result<()> {
    let text = format!("{} {} {}\n", "*a ".repeat(20_000), "[".repeat(20_000), "_a__b ".repeat(10_000));
    stage.upload(&[("costly.md", &text)]).await?;
    // No search has found it.
    stage.view("#/files?name=costly").await?;
    stage.page.press("costly.md").await?;
    stage.page.wait_for_text(".document-title", "costly").await?;
    stage.page.wait_for_text(".prose", "*a *a").await?;
    // Blanks, which a regular expression divides in many ways.
    let text = format!("# Blanks{}x\n\na | b\n-{}x|\n\nEnd\n", " ".repeat(20_000), " ".repeat(100_000));
    stage.upload(&[("blanks.md", &text)]).await?;
    stage.view("#/files?name=blanks").await?;
    stage.page.press("blanks.md").await?;
    stage.page.wait_for_text(".prose p", "End").await
}

/// Nothing ran, nothing of the document became an element, and links lead to the web only.
async fn harmless(stage: &Stage) -> anyhow::Result<()> {
    let page = &stage.page;
    let pwned = page.script("return window.pwned ?? null").await?;
    ensure!(pwned.is_null(), "script {pwned} ran");
    let elements = page.script("return document.querySelectorAll('main :is(script, iframe, img, object, embed, b, svg[onload], [onclick], [onerror], [onload])').length").await?;
    ensure!(elements == 0, "{elements} elements come from the document");
    let links = page
        .script(
            "return [...document.querySelectorAll('main a')].filter((a) => !a.getAttribute('href').startsWith('#') && \
             !/^https?:/.test(a.href)).map((a) => a.outerHTML)",
        )
        .await?;
    ensure!(links.as_array().is_some_and(Vec::is_empty), "{links}");
    let unsafe_links = page
        .script("return [...document.querySelectorAll('.prose a, .quote a')].filter((a) => a.rel !== 'noopener noreferrer').length")
        .await?;
    ensure!(unsafe_links == 0, "{unsafe_links} links without rel");
    let faults = page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}
