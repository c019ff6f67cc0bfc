//! Server, browser and page of one scenario.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::arguments::Arguments;
use crate::driver::Driver;
use crate::page::Page;
use crate::server::Server;

pub struct Stage {
    pub server: Server,
    pub page: Page,
    pub key: String,
    pub axe: Option<String>,
    pub screenshots: Option<PathBuf>,
    /// Deleted at the end.
    _profile: TempDir,
}

impl Stage {
    /// Starts a server and a browser with a new profile.
    pub async fn new(arguments: &Arguments, driver: &Driver, axe: Option<&str>) -> anyhow::Result<Self> {
        let server = Server::start(&arguments.server)?;
        let key = server.key()?;
        let profile = tempfile::tempdir()?;
        let page = Page::new(driver.session(&arguments.chromium, profile.path()).await?);
        page.size(1280, 900).await?;
        let screenshots = arguments.screenshots.clone();
        Ok(Stage { server, page, key, axe: axe.map(str::to_owned), screenshots, _profile: profile })
    }

    /// Opens the console with the first key, as the banner's address does, and closes the notice about keys of links.
    pub async fn sign_in(&self) -> anyhow::Result<()> {
        self.page.open(&self.server.console_with(&self.key)).await?;
        self.page.wait_for("header .who-name").await?;
        self.page.press("Close").await
    }

    /// Forgets the key, after which the page takes another one.
    pub async fn sign_out(&self) -> anyhow::Result<()> {
        self.page.click("header .who button").await?;
        self.page.wait_for("#key").await
    }

    /// Opens a view by its address.
    pub async fn view(&self, fragment: &str) -> anyhow::Result<()> {
        self.page.script(&format!("location.hash = {}", serde_json::json!(fragment))).await?;
        Ok(())
    }
}
