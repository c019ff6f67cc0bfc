//! Browser for pages that are empty without scripts.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use app::readiness::HostCheck;
use fetcher::{Connector, Renderer};
use ingest::Scripted;
use renderer_chromium::{BrowserSource, Chromium, ChromiumOptions, PROGRAMS, Sandbox, StartError, find_program};
use settings::{Render, Settings};

use crate::compose;

/// Configured browser.
#[derive(Default)]
pub struct Browser(Option<Chromium>);

impl Browser {
    /// Starts the configured browser. One of another machine may come later.
    ///
    /// # Errors
    /// There is no browser to start, or it does not start.
    pub async fn start(settings: &Settings) -> anyhow::Result<Self> {
        let browser = Self::prepare(settings).await?;
        match browser.check(settings).await {
            Err(error) if settings.fetch.chromium_url.is_empty() => Err(error),
            // Logged, and part of `/readyz`.
            Ok(_) | Err(_) => Ok(browser),
        }
    }

    /// Returns the configured browser, which starts with the first page.
    ///
    /// # Errors
    /// There is no browser to start.
    pub async fn prepare(settings: &Settings) -> anyhow::Result<Self> {
        match settings.fetch.render {
            Render::Off => Ok(Self(None)),
            Render::Chromium => {
                let options = options(settings)?;
                let connector = Connector::new(&compose::fetcher_options(settings)).context("fetch")?;
                let chromium = Chromium::new(options, connector).await.context("fetch.chromium_proxy_bind")?;
                Ok(Self(Some(chromium)))
            }
        }
    }

    /// Starts the browser unless it runs, and returns its name and version. `None` without rendering.
    ///
    /// # Errors
    /// The browser does not start; the message names the settings.
    pub async fn check(&self, settings: &Settings) -> anyhow::Result<Option<String>> {
        let Some(chromium) = &self.0 else { return Ok(None) };
        let started = chromium.check().await;
        started.map(Some).map_err(|error| match error {
            StartError::Ended { .. } if settings.fetch.chromium_sandbox == settings::Sandbox::Required => {
                anyhow!(
                    "{error}. Without a sandbox (user namespaces, or Debian's package `chromium-sandbox`) it starts only \
                     with `fetch.chromium_sandbox = \"best_effort\"`"
                )
            }
            StartError::Unreachable { .. } | StartError::InvalidUrl { .. } => {
                anyhow::Error::new(error).context("fetch.chromium_url")
            }
            error => anyhow::Error::new(error).context("fetch.render = `chromium`"),
        })
    }

    /// Returns the reader of pages that need the browser.
    pub fn scripted(&self) -> Scripted {
        Scripted::new(self.0.clone().map(|chromium| Arc::new(chromium) as Arc<dyn Renderer>))
    }

    /// Returns the check for readiness: the outcome of the last start. Not required, since other pages are read without it.
    pub fn host_check(&self) -> Option<HostCheck> {
        let chromium = self.0.clone()?;
        let check = move || chromium.state().transpose();
        Some(HostCheck { name: "renderer", required: false, check: Arc::new(check) })
    }

    pub async fn shutdown(&self) {
        if let Some(chromium) = &self.0 {
            chromium.shutdown().await;
        }
    }
}

fn options(settings: &Settings) -> anyhow::Result<ChromiumOptions> {
    let fetch = &settings.fetch;
    let user_agent = compose::fetcher_options(settings).user_agent;
    let defaults = if fetch.chromium_url.is_empty() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = find_program(&path).with_context(no_program)?;
        ChromiumOptions::new(BrowserSource::Program(program), user_agent)
    } else {
        let remote = BrowserSource::Remote(fetch.chromium_url.clone());
        ChromiumOptions {
            proxy_bind: fetch.chromium_proxy_bind,
            proxy_address: Some(fetch.chromium_proxy_address.clone()).filter(|address| !address.is_empty()),
            ..ChromiumOptions::new(remote, user_agent)
        }
    };
    Ok(ChromiumOptions {
        sandbox: match fetch.chromium_sandbox {
            settings::Sandbox::Required => Sandbox::Required,
            settings::Sandbox::BestEffort => Sandbox::BestEffort,
        },
        renders_at_a_time: usize::try_from(fetch.renders_at_a_time).unwrap_or(usize::MAX),
        timeout: Duration::from_millis(fetch.timeout_ms),
        max_bytes: usize::try_from(fetch.max_bytes).unwrap_or(usize::MAX),
        ..defaults
    })
}

fn no_program() -> String {
    format!(
        "fetch.render = `chromium`, but the PATH has no {}: install it (Debian: `apt-get install chromium`), set \
         `fetch.chromium_url` to the DevTools address of a running one, or set `fetch.render = \"off\"`",
        PROGRAMS.map(|name| format!("`{name}`")).join(", ")
    )
}
