//! Every view in every size and colour scheme.

use anyhow::ensure;
use serde_json::json;

use super::{HANDBOOK, TIDES};
use crate::stage::Stage;

/// Name, address, and an element that appears when the view is complete.
const VIEWS: [(&str, &str, &str); 8] = [
    ("start", "#/", "main .permissions"),
    ("search", "#/search?q=why+does+the+moon+move+the+tides&in=workspace", ".result .quote"),
    ("compare", "#/search?q=moon&in=workspace&compare=1&b.q=vacation&b.in=workspace", ".columns > :last-child .result"),
    ("read", "#/read?doc=DOC&q=how+high+are+the+tides", ".prose .passage"),
    ("files", "#/files", ".file-window .file-row"),
    ("research", RESEARCH, "form[aria-label='Start research']"),
    ("usage", "#/usage?range=day&by=endpoint", ".chart svg"),
    ("keys", "#/keys", ".keys li"),
];

/// Shown only by servers that offer it.
const RESEARCH: &str = "#/research";

const SIZES: [(u32, u32); 2] = [(1280, 900), (390, 844)];

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    signed_out(stage).await?;
    stage.sign_in().await?;
    stage.upload(&[("tides.md", TIDES), ("handbook.md", HANDBOOK), ("broken.pdf", "no pdf")]).await?;
    let me = stage.call("GET", "me", &stage.key, None).await?;
    let scope = json!({"indexes": ["workspace"], "workspace_id": me["organization"]["organization_id"]});
    let found = stage.call("POST", "search", &stage.key, Some(json!({"query": "moon tides", "scope": scope}))).await?;
    let document = found["results"][0]["doc_id"].as_str().unwrap_or_default().to_owned();
    // Numbers of the start view are read at sign-in.
    stage.page.reload().await?;
    stage.page.wait_for("header .who-name").await?;
    let has_research =
        stage.page.script("return Boolean(document.querySelector('nav a[href=\"#/research\"]'))").await? == true;
    for (width, height) in SIZES {
        stage.page.size(width, height).await?;
        for scheme in ["light", "dark"] {
            stage.page.scheme(scheme).await?;
            for (name, address, complete) in VIEWS {
                if address == RESEARCH && !has_research {
                    continue;
                }
                stage.view(&address.replace("DOC", &document)).await?;
                stage.page.wait_for(complete).await?;
                check(stage, &format!("{name}-{width}-{scheme}")).await?;
            }
        }
    }
    Ok(())
}

async fn signed_out(stage: &Stage) -> anyhow::Result<()> {
    stage.page.open(&format!("{}/console/", stage.server.base())).await?;
    stage.page.wait_for(".signin input").await?;
    check(stage, "sign-in").await
}

/// Checks the view that is open in every size and colour scheme.
pub async fn check_all(stage: &Stage, name: &str) -> anyhow::Result<()> {
    for (width, height) in SIZES.into_iter().rev() {
        stage.page.size(width, height).await?;
        for scheme in ["dark", "light"] {
            stage.page.scheme(scheme).await?;
            check(stage, &format!("{name}-{width}-{scheme}")).await?;
        }
    }
    Ok(())
}

/// Checks the layout, refused scripts and accessibility, and takes a picture.
async fn check(stage: &Stage, name: &str) -> anyhow::Result<()> {
    let page = &stage.page;
    let overflow = page.script("return document.documentElement.scrollWidth - innerWidth").await?;
    ensure!(overflow.as_i64().is_some_and(|pixels| pixels <= 0), "{name} is {overflow} pixels too wide");
    let faults = page.faults().await?;
    ensure!(faults.is_empty(), "{name}: {faults:?}");
    if let Some(axe) = &stage.axe {
        let findings = page.findings(axe).await?;
        ensure!(findings.is_empty(), "{name}: {}", findings.join("; "));
    }
    if let Some(folder) = &stage.screenshots {
        std::fs::create_dir_all(folder)?;
        page.script("scrollTo(0, 0); document.activeElement?.blur?.()").await?;
        page.picture(&folder.join(format!("{name}.png"))).await?;
    }
    Ok(())
}
