//! A new key, copied without the clipboard API, which browsers offer over HTTPS and on the own machine only.

use anyhow::ensure;

use crate::stage::Stage;

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    stage.view("#/keys").await?;
    let page = &stage.page;
    page.script(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined}); \
         document.addEventListener('copy', () => { const e = document.activeElement; \
           window.copied = e.localName === 'textarea' ? e.value.slice(e.selectionStart, e.selectionEnd) : ''; })",
    )
    .await?;
    page.press("Create a key").await?;
    page.type_into("dialog input[type=text]", "laptop").await?;
    page.press("Create").await?;
    page.wait_for(".secret").await?;
    let key = page.text(".secret").await?;
    page.press("Copy the key").await?;
    page.wait_for_text("dialog button", "Copied").await?;
    let copied = page.script("return window.copied ?? null").await?;
    ensure!(copied == key.trim(), "{copied} was copied");
    Ok(())
}
