//! A key that expires after a day, which is that of the user.

use anyhow::ensure;
use serde_json::json;

use crate::stage::Stage;

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let page = &stage.page;
    stage.sign_in().await?;
    for (zone, name) in [("Pacific/Auckland", "east"), ("America/Los_Angeles", "west")] {
        page.command("Emulation.setTimezoneOverride", json!({"timezoneId": zone})).await?;
        page.reload().await?;
        stage.view("#/keys").await?;
        page.press("Create a key").await?;
        page.type_into("dialog input[type=text]", name).await?;
        page.script(
            "const field = document.querySelector('dialog input[type=date]'); field.value = '2100-03-10'; \
             field.dispatchEvent(new Event('input', {bubbles: true}))",
        )
        .await?;
        page.press("Create").await?;
        page.press("Done").await?;
        page.wait_for_text(".keys li", name).await?;
        let entry = format!("[...document.querySelectorAll('.keys li')].find((e) => e.textContent.includes('{name}'))");
        let text = page.script(&format!("return {entry}.innerText")).await?;
        let text = text.as_str().unwrap_or_default();
        ensure!(text.contains("expires Mar 10, 2100, 11:59"), "{zone}: {text}");
    }
    let faults = page.faults().await?;
    ensure!(faults.is_empty(), "{faults:?}");
    Ok(())
}
