//! Browser with its connection, started or joined.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;

use crate::devtools::{CallError, Devtools, remote};
use crate::options::{BrowserSource, ChromiumOptions, Sandbox, StartError};
use crate::process::Process;
use crate::proxy::Proxy;

/// Time for a program to start and answer.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for the exit of a program that has closed its pipes, whose last words explain it.
const LAST_WORDS: Duration = Duration::from_millis(300);

pub struct Browser {
    pub devtools: Devtools,
    /// Name and version, such as `Chrome/120.0.6099.109`.
    pub product: String,
    /// Of a program that this process started.
    process: Mutex<Option<Process>>,
    /// Pages that it has begun to render.
    renders: AtomicU32,
    is_broken: AtomicBool,
}

impl Browser {
    /// Starts or joins the configured browser. `has_confined` is set once one has started with its sandbox: later failures to start
    /// then have other causes, and never lead to a browser without it.
    pub async fn open(options: &ChromiumOptions, proxy: &Proxy, has_confined: &AtomicBool) -> Result<Self, StartError> {
        // A document in JSON takes at most six bytes per character.
        let max_message = options.max_bytes.saturating_mul(6).saturating_add(1 << 20);
        match &options.source {
            BrowserSource::Remote(url) => {
                let devtools = remote::connect(url, max_message).await?;
                let unreachable = |error: NoVersion| StartError::unreachable(url, error.to_string());
                let product = version(&devtools).await.map_err(unreachable)?;
                Ok(Self::new(devtools, product, None))
            }
            BrowserSource::Program(program) => {
                let start = async |is_confined| {
                    let (process, devtools) = Process::start(program, proxy.address, is_confined, max_message)?;
                    match version(&devtools).await {
                        Ok(product) => Ok(Self::new(devtools, product, Some(process))),
                        Err(error) => {
                            tokio::time::sleep(LAST_WORDS).await;
                            let said = process.said();
                            let reason = if said.is_empty() { error.to_string() } else { format!("{error}: {said}") };
                            Err(match error {
                                NoVersion::Call(CallError::Closed) => StartError::Ended { reason },
                                NoVersion::Call(CallError::Refused { .. }) | NoVersion::TimedOut => {
                                    StartError::Silent { reason }
                                }
                            })
                        }
                    }
                };
                let confined = start(true).await;
                if confined.is_ok() {
                    has_confined.store(true, Ordering::Relaxed);
                }
                match (confined, options.sandbox) {
                    (Err(StartError::Ended { reason }), Sandbox::BestEffort)
                        if !has_confined.load(Ordering::Relaxed) =>
                    {
                        let browser = start(false).await?;
                        tracing::warn!(reason, "Chromium runs WITHOUT its sandbox: hostile pages may harm this system");
                        Ok(browser)
                    }
                    (outcome, _) => outcome,
                }
            }
        }
    }

    fn new(devtools: Devtools, product: String, process: Option<Process>) -> Self {
        Self {
            devtools,
            product,
            process: Mutex::new(process),
            renders: AtomicU32::new(0),
            is_broken: AtomicBool::new(false),
        }
    }

    /// Takes one of the renders after which the browser is replaced. Returns false if it can take no more.
    pub fn take(&self, limit: u32) -> bool {
        let is_usable = self.devtools.is_open() && !self.is_broken.load(Ordering::Relaxed);
        is_usable && self.renders.fetch_add(1, Ordering::Relaxed) < limit.max(1)
    }

    /// Marks a browser that does not respond. It is replaced.
    pub fn give_up(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    /// Ends the browser if it is a process of ours, and with it the pages that it renders.
    pub async fn close(&self) {
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(process) = process {
            self.devtools.send(None, "Browser.close", json!({}));
            process.end().await;
        }
    }
}

/// Failure of a browser to name its version.
#[derive(Debug, thiserror::Error)]
enum NoVersion {
    #[error(transparent)]
    Call(CallError),
    #[error("no answer within {:?}", START_TIMEOUT)]
    TimedOut,
}

async fn version(devtools: &Devtools) -> Result<String, NoVersion> {
    let version = devtools.call(None, "Browser.getVersion", json!({}));
    match tokio::time::timeout(START_TIMEOUT, version).await {
        Ok(Ok(version)) => Ok(version["product"].as_str().unwrap_or("unknown browser").to_owned()),
        Ok(Err(error)) => Err(NoVersion::Call(error)),
        Err(_) => Err(NoVersion::TimedOut),
    }
}
