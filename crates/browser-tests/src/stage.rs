//! Server, browser and page of one scenario.

use std::path::PathBuf;

use anyhow::Context;

use crate::Arguments;
use crate::driver::Driver;
use crate::page::Page;
use crate::scenarios;
use crate::server::Server;

pub struct Stage {
    pub server: Server,
    pub page: Page,
    pub key: String,
    pub axe: Option<String>,
    pub screenshots: Option<PathBuf>,
}

/// Runs the scenario with a new server and a new browser.
pub async fn run(name: &str, arguments: &Arguments, driver: &Driver, axe: Option<&str>) -> anyhow::Result<()> {
    let server = Server::start(&arguments.server)?;
    let key = server.key()?;
    let profile = tempfile::tempdir()?;
    let client = driver.session(&arguments.chromium, profile.path()).await?;
    let page = Page::new(client.clone());
    page.size(1280, 900).await?;
    let mut stage =
        Stage { server, page, key, axe: axe.map(str::to_owned), screenshots: arguments.screenshots.clone() };
    let outcome = scenarios::run(name, &mut stage).await;
    // The state of the page says why.
    let shown = match &outcome {
        Ok(()) => None,
        Err(_) => stage.page.text("body").await.ok(),
    };
    let closed = client.close().await;
    match shown {
        Some(text) => {
            outcome.with_context(|| format!("the page shows: {}", text.chars().take(600).collect::<String>()))
        }
        None => {
            outcome?;
            Ok(closed?)
        }
    }
}

impl Stage {
    /// Opens the console with the first key, as the banner's address does.
    pub async fn sign_in(&self) -> anyhow::Result<()> {
        self.page.open(&self.server.console_with(&self.key)).await?;
        self.page.wait_for("header .who-name").await
    }

    /// Opens a view by its address.
    pub async fn view(&self, fragment: &str) -> anyhow::Result<()> {
        self.page.script(&format!("location.hash = {}", serde_json::json!(fragment))).await?;
        Ok(())
    }
}
