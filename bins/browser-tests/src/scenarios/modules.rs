//! Functions of the console's modules: durations and sizes, addresses, names of files in folders.

use anyhow::ensure;
use serde_json::{Value, json};

use crate::stage::Stage;

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    numbers(stage).await?;
    addresses(stage).await?;
    folders(stage).await
}

async fn numbers(stage: &Stage) -> anyhow::Result<()> {
    let durations = json!([0, 9.96, 999.6, 59_940, 59_960, 61_400, 119_600]);
    let shown = value_of(stage, "core/format.js", &format!("{durations}.map(module.duration)")).await?;
    let expected = json!(["0 ms", "10 ms", "1.0 s", "59.9 s", "1 min 0 s", "1 min 1 s", "2 min 0 s"]);
    ensure!(shown == expected, "{shown}");
    let shown = value_of(stage, "core/format.js", "[999, 1500, 999600].map(module.bytes)").await?;
    ensure!(shown == json!(["999 B", "1.5 kB", "1 MB"]), "{shown}");
    Ok(())
}

async fn addresses(stage: &Stage) -> anyhow::Result<()> {
    let entered = json!(["example.com", "localhost:8080/a", "http://localhost:8080/a", "workspace://a/b.md"]);
    let shown = value_of(stage, "core/address.js", &format!("{entered}.map(module.webAddress)")).await?;
    let expected =
        json!(["https://example.com", "https://localhost:8080/a", "http://localhost:8080/a", "workspace://a/b.md"]);
    ensure!(shown == expected, "{shown}");
    Ok(())
}

/// Names begin below a folder that is chosen or dropped alone, and else with the folders, which tell the files apart.
async fn folders(stage: &Stage) -> anyhow::Result<()> {
    let chosen = "['notes/a.md', 'notes/sub/b.md', 'notes/.c.md'].map((path) => ({ name: path.split('/').pop(), webkitRelativePath: path }))";
    let names = "(({ items, skipped }) => [...items.map(({ name }) => name), skipped])";
    let shown =
        value_of(stage, "views/files/drop.js", &format!("{names}(module.fromInput({{ files: {chosen} }}))")).await?;
    ensure!(shown == json!(["a.md", "sub__b.md", 1]), "{shown}");
    let dropped = "((folder) => ({ kind: 'file', getAsFile: () => null, webkitGetAsEntry: () => { \
         const parts = [[{ isFile: true, fullPath: `/${folder}/a.md`, file: (resolve) => resolve({ name: 'a.md' }) }], []]; \
         return { isDirectory: true, createReader: () => ({ readEntries: (resolve) => resolve(parts.shift()) }) }; } }))";
    for (folders, expected) in
        [(json!([".notes"]), json!(["a.md", 0])), (json!(["x", "y"]), json!(["x__a.md", "y__a.md", 0]))]
    {
        let script = format!("{names}(await module.fromDrop({{ items: {folders}.map({dropped}) }}))");
        let shown = value_of(stage, "views/files/drop.js", &script).await?;
        ensure!(shown == expected, "{shown}");
    }
    Ok(())
}

/// Returns the value of an expression about a module of the console.
async fn value_of(stage: &Stage, path: &str, expression: &str) -> anyhow::Result<Value> {
    let address = format!("new URL({}, document.querySelector('script[type=module]').src).href", json!(path));
    stage.page.promise(&format!("const module = await import({address}); return {expression}")).await
}
