//! A page: what a user sees and does.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, Locator};
use http::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

const TIMEOUT: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(40);

pub struct Page {
    client: Client,
}

/// A command of chromedriver beyond WebDriver.
#[derive(Debug)]
struct Extension {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

impl Page {
    pub fn new(client: Client) -> Self {
        Page { client }
    }

    /// Ends the browser.
    pub async fn close(&self) -> anyhow::Result<()> {
        Ok(self.client.clone().close().await?)
    }

    pub async fn open(&self, address: &str) -> anyhow::Result<()> {
        Ok(self.client.goto(address).await?)
    }

    pub async fn reload(&self) -> anyhow::Result<()> {
        Ok(self.client.refresh().await?)
    }

    pub async fn address(&self) -> anyhow::Result<String> {
        Ok(self.script("return location.href").await?.as_str().unwrap_or_default().to_owned())
    }

    /// Runs a command of the browser's own protocol.
    pub async fn command(&self, name: &str, parameters: Value) -> anyhow::Result<Value> {
        let body = json!({"cmd": name, "params": parameters});
        Ok(self.client.issue_cmd(Extension { path: "goog/cdp/execute", body }).await?)
    }

    pub async fn size(&self, width: u32, height: u32) -> anyhow::Result<()> {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.command("Emulation.setDeviceMetricsOverride", metrics).await.map(drop)
    }

    pub async fn scheme(&self, name: &str) -> anyhow::Result<()> {
        let features = json!({"features": [
            {"name": "prefers-color-scheme", "value": name},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]});
        self.command("Emulation.setEmulatedMedia", features).await.map(drop)
    }

    /// Runs the body of a function and returns its value.
    pub async fn script(&self, body: &str) -> anyhow::Result<Value> {
        self.client.execute(body, vec![]).await.with_context(|| format!("in `{body}`"))
    }

    /// Runs the body of an async function and returns its value.
    pub async fn promise(&self, body: &str) -> anyhow::Result<Value> {
        let wrapped = format!(
            "const done = arguments[0]; (async () => {{ {body} }})().then((value) => done({{value}}), (error) => done({{error: String(error)}}))"
        );
        let outcome = self.client.execute_async(&wrapped, vec![]).await?;
        if let Some(error) = outcome["error"].as_str() {
            bail!("{error} in `{}`", body.chars().take(300).collect::<String>());
        }
        Ok(outcome["value"].clone())
    }

    /// Waits until the expression is true.
    pub async fn until(&self, expression: &str) -> anyhow::Result<()> {
        let start = Instant::now();
        while self.script(&format!("return Boolean({expression})")).await? != Value::Bool(true) {
            ensure!(start.elapsed() < TIMEOUT, "not so within {} s: {expression}", TIMEOUT.as_secs());
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    pub async fn wait_for(&self, selector: &str) -> anyhow::Result<()> {
        self.until(&format!("document.querySelector({})", json!(selector))).await
    }

    pub async fn wait_for_text(&self, selector: &str, text: &str) -> anyhow::Result<()> {
        let (selector, text) = (json!(selector), json!(text));
        self.until(&format!("[...document.querySelectorAll({selector})].some((e) => e.textContent.includes({text}))"))
            .await
    }

    pub async fn text(&self, selector: &str) -> anyhow::Result<String> {
        let found =
            self.script(&format!("return document.querySelector({})?.innerText ?? ''", json!(selector))).await?;
        Ok(found.as_str().unwrap_or_default().to_owned())
    }

    pub async fn click(&self, selector: &str) -> anyhow::Result<()> {
        self.wait_for(selector).await?;
        Ok(self.client.find(Locator::Css(selector)).await?.click().await?)
    }

    /// Clicks the first button or link with this text.
    pub async fn press(&self, text: &str) -> anyhow::Result<()> {
        let xpath = format!("//*[self::button or self::a][normalize-space()={}]", json!(text));
        let found = self.client.wait().at_most(TIMEOUT).for_element(Locator::XPath(&xpath)).await;
        Ok(found.with_context(|| format!("no `{text}`"))?.click().await?)
    }

    /// Types into an element.
    pub async fn type_into(&self, selector: &str, text: &str) -> anyhow::Result<()> {
        self.wait_for(selector).await?;
        Ok(self.client.find(Locator::Css(selector)).await?.send_keys(text).await?)
    }

    /// Types into whatever has the focus.
    pub async fn keys(&self, text: &str) -> anyhow::Result<()> {
        Ok(self.client.active_element().await?.send_keys(text).await?)
    }

    /// Drops files of the given names and texts on an element.
    pub async fn drop_files(&self, selector: &str, files: &[(&str, &str)]) -> anyhow::Result<()> {
        self.wait_for(selector).await?;
        let script = format!(
            "const transfer = new DataTransfer(); for (const [name, text] of {}) transfer.items.add(new File([text], name)); \
             document.querySelector({}).dispatchEvent(new DragEvent('drop', {{dataTransfer: transfer, bubbles: true, cancelable: true}}))",
            json!(files),
            json!(selector)
        );
        self.script(&script).await.map(drop)
    }

    /// Returns messages about refused or failed code since the last call. Failed requests are no faults of the page.
    pub async fn faults(&self) -> anyhow::Result<Vec<String>> {
        let entries = self.client.issue_cmd(Extension { path: "se/log", body: json!({"type": "browser"}) }).await?;
        let is_fault = |text: &str| {
            ["Content Security Policy", "Uncaught", "TrustedHTML", "Refused to"].iter().any(|word| text.contains(word))
        };
        let messages = entries.as_array().into_iter().flatten().filter_map(|entry| entry["message"].as_str());
        Ok(messages.filter(|text| is_fault(text)).map(str::to_owned).collect())
    }

    /// Writes a picture of what is in sight.
    pub async fn picture(&self, path: &Path) -> anyhow::Result<()> {
        Ok(std::fs::write(path, self.client.screenshot().await?)?)
    }

    /// Returns the serious findings of axe.
    pub async fn findings(&self, axe: &str) -> anyhow::Result<Vec<String>> {
        self.script(&format!("if (!window.axe) {{ {axe} }}")).await?;
        let found = self
            .promise(
                "const result = await axe.run(document, {resultTypes: ['violations']}); \
                 return result.violations.filter(({impact}) => impact === 'serious' || impact === 'critical') \
                 .map(({id, nodes}) => id + ': ' + nodes.map(({html, any}) => html.slice(0, 120) + ' ' + (any[0]?.message ?? '')).slice(0, 3).join(' | '))",
            )
            .await?;
        Ok(found.as_array().into_iter().flatten().filter_map(|text| text.as_str()).map(str::to_owned).collect())
    }
}
