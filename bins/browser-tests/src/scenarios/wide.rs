//! Contents that are wider than the page.

use anyhow::ensure;
use url::form_urlencoded::byte_serialize;

use crate::stage::Stage;

const COLUMNS: usize = 16;

/// Width in pixels, also of a telephone.
const WIDTHS: [u32; 2] = [1280, 390];

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    let me = stage.call("GET", "me", &stage.key, None).await?;
    let organization = me["organization"]["organization_id"].as_str().unwrap_or_default().to_owned();
    tables(stage, &organization).await?;
    let faults = stage.page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}

/// Words of tables stay whole, also in quotes, and code in them.
async fn tables(stage: &Stage, organization: &str) -> anyhow::Result<()> {
    let row = |prefix: &str, text: &str| format!("{prefix}|{}\n", format!(" {text} |").repeat(COLUMNS));
    let table = |prefix: &str| [row(prefix, "Temperature"), row(prefix, "---"), row(prefix, "`thermometer`")].concat();
    let text = format!("# Weather\n\n{}\nA quote:\n\n{}", table(""), table("> "));
    stage.upload(&[("weather.md", &text)]).await?;
    let page = &stage.page;
    stage.view(&read(organization, "weather.md")).await?;
    page.wait_for(".prose blockquote .scroll").await?;
    for width in WIDTHS {
        page.size(width, 900).await?;
        let whole = page
            .script(
                "return [...document.querySelectorAll('.prose .scroll')].filter((e) => e.scrollWidth > e.clientWidth \
                 && [...e.querySelectorAll('th, td')].every((cell) => cell.clientHeight < 50)).length",
            )
            .await?;
        ensure!(whole == 2, "{whole} of 2 tables have whole words at {width} pixels");
        fits(stage, "the document", width).await?;
    }
    Ok(())
}

/// Address of a file in the view Read.
fn read(organization: &str, name: &str) -> String {
    let url = format!("workspace://{organization}/{name}");
    format!("#/read?url={}", byte_serialize(url.as_bytes()).collect::<String>())
}

async fn fits(stage: &Stage, name: &str, width: u32) -> anyhow::Result<()> {
    let script = "const { scrollWidth, clientWidth } = document.documentElement; return scrollWidth - clientWidth";
    let overflow = stage.page.script(script).await?;
    ensure!(overflow == 0, "{name} is {overflow} pixels too wide at {width} pixels");
    Ok(())
}
