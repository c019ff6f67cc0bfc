//! Contents that are wider than the page.

use anyhow::ensure;
use serde_json::json;
use url::form_urlencoded::byte_serialize;

use crate::stage::Stage;

const COLUMNS: usize = 16;

/// Letters of a word in a name, and of a longer one.
const LETTERS: usize = 60;
const MANY_LETTERS: usize = 240;

/// Width in pixels, also of a telephone.
const WIDTHS: [u32; 2] = [1280, 390];

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    let me = stage.call("GET", "me", &stage.key, None).await?;
    let organization = me["organization"]["organization_id"].as_str().unwrap_or_default().to_owned();
    tables(stage, &organization).await?;
    words(stage, &organization).await?;
    let faults = stage.page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}

/// Words of tables stay whole, also in quotes, and code in them.
async fn tables(stage: &Stage, organization: &str) -> anyhow::Result<()> {
    let row = |prefix: &str, text: &str| format!("{prefix}|{}\n", format!(" {text} |").repeat(COLUMNS));
    let table = |prefix: &str| [row(prefix, "Temperature"), row(prefix, "---"), row(prefix, "`thermometer`")].concat();
    let text = format!("# Weather\n\n{}\nA quote:\n\n{}", table(""), table("> "));
    stage.upload(&[("weather.md", text.as_str())]).await?;
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

/// Words without a place to break, which others choose.
async fn words(stage: &Stage, organization: &str) -> anyhow::Result<()> {
    let [name, word] = [LETTERS, MANY_LETTERS].map(|letters| "w".repeat(letters));
    let file = format!("{name}{name}.md");
    let text = format!("# {word}\n\nThe tides of {word}.\n");
    stage.upload(&[(file.as_str(), text.as_str())]).await?;
    stage.call("POST", "keys", &stage.key, Some(json!({"name": name, "scopes": ["search:read"]}))).await?;
    let scope = json!({"indexes": ["workspace"], "workspace_id": organization});
    let question = json!({"query": format!("tides {word}"), "scope": scope, "depth": "quick"});
    let run = stage.call("POST", "research", &stage.key, Some(question)).await?;
    let run = format!("#/research?id={}", run["research_id"].as_str().unwrap_or_default());
    let file = read(organization, &file);
    let unread = format!("#/read?url=https%3A%2F%2F127.0.0.1%3A1%2F{word}");
    check(
        stage,
        &[
            ("#/search?q=tides", ".result"),
            (file.as_str(), ".prose"),
            (unread.as_str(), "main .note-warn"),
            ("#/files", ".file-window .file-row"),
            (run.as_str(), "main h1[dir=auto]"),
            ("#/research", "section[aria-label=Runs] li"),
            ("#/usage?by=api_key&range=day", ".legend"),
            ("#/keys", ".keys li + li"),
        ],
    )
    .await?;

    let key = stage.operators_key().await?;
    stage.sign_out().await?;
    stage.page.open(&format!("{}/console/?operator#key={key}", stage.server.base())).await?;
    stage.page.wait_for("nav a[href='#/web']").await?;
    let address = format!("{}/docs", stage.server.base());
    stage.call("POST", "web/crawls", &key, Some(json!({"urls": [address], "name": name}))).await?;
    let crawl = format!("#/web?crawl={name}");
    let views = [("#/web", "section[aria-label=Crawls] li"), (crawl.as_str(), "section[aria-label=Settings]")];
    check(stage, &views).await
}

/// Opens each address in every width and waits for an element of the view.
async fn check(stage: &Stage, views: &[(&str, &str)]) -> anyhow::Result<()> {
    for width in WIDTHS {
        stage.page.size(width, 900).await?;
        for (address, complete) in views {
            stage.view(address).await?;
            stage.page.wait_for(complete).await?;
            fits(stage, address, width).await?;
        }
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
