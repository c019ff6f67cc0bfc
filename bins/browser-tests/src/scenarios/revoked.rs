//! A key that is revoked while the page is open.

use anyhow::ensure;
use serde_json::json;

use crate::stage::Stage;

pub async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    stage.sign_in().await?;
    let created = stage.call("POST", "keys", &stage.key, Some(json!({"name": "short-lived"}))).await?;
    let second = created["key"].as_str().unwrap_or_default().to_owned();
    stage.sign_out().await?;
    stage.page.open(&format!("{}/console/?second#key={second}", stage.server.base())).await?;
    stage.page.wait_for("header .who-name").await?;
    stage.view("#/keys").await?;
    stage.page.wait_for_text(".keys li", "short-lived").await?;

    let id = created["api_key_id"].as_str().unwrap_or_default();
    stage.call("DELETE", &format!("keys/{id}"), &stage.key, None).await?;
    // Servers notice within seconds.
    for _ in 0..50 {
        if stage.call("GET", "me", &second, None).await.is_err() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    stage.view("#/usage").await?;
    stage.page.wait_for_text(".signin [role=alert]", "refused this key").await?;
    let kept = stage.page.script("return JSON.stringify({...sessionStorage})").await?;
    ensure!(!kept.to_string().contains(&second), "the key is kept: {kept}");

    // Another key continues where the first one ended.
    stage.page.type_into("#key", &stage.key).await?;
    stage.page.press("Open").await?;
    stage.page.wait_for(".chart svg").await
}
