use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use admission::{FairSemaphore, Limits, Permit};
use async_trait::async_trait;
use bytes::Bytes;
use fetcher::{Connector, FetchedPage, RenderError, RenderRequest, Renderer};
use model::OrganizationId;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::browser::Browser;
use crate::options::{ChromiumOptions, StartError};
use crate::page::{self, Job};
use crate::proxy::Proxy;

/// Time after a failed start until the next attempt.
const START_BACK_OFF: Duration = Duration::from_secs(10);

/// Renderer of pages in Chromium. Clones share the browser.
#[derive(Clone)]
pub struct Chromium {
    shared: Arc<Shared>,
}

struct Shared {
    options: ChromiumOptions,
    proxy: Proxy,
    permits: FairSemaphore,
    current: AsyncMutex<Current>,
    /// A browser has started with its sandbox: this system has what that needs.
    has_confined: AtomicBool,
    /// Outcome of the last start.
    state: Mutex<Option<Result<String, String>>>,
}

#[derive(Default)]
struct Current {
    browser: Option<Arc<Browser>>,
    failed_at: Option<Instant>,
}

impl Chromium {
    /// Listens for the connections of browsers. A browser starts with the first page. `connector` decides which addresses pages
    /// may connect to.
    ///
    /// # Errors
    /// `Listen`.
    pub async fn new(options: ChromiumOptions, connector: Connector) -> Result<Self, StartError> {
        let address = options.proxy_bind;
        let listen = Proxy::start(address, connector).await;
        let proxy = listen.map_err(|source| StartError::Listen { address, source })?;
        let permits = u32::try_from(options.renders_at_a_time).unwrap_or(u32::MAX);
        let limits = Limits {
            permits,
            per_organization: permits - permits / 4,
            max_waiting: options.max_waiting,
            max_wait: options.max_wait,
        };
        let permits = FairSemaphore::new(limits);
        let (current, state) = (AsyncMutex::default(), Mutex::default());
        let has_confined = AtomicBool::new(false);
        Ok(Self { shared: Arc::new(Shared { options, proxy, permits, current, has_confined, state }) })
    }

    /// Starts or joins the browser unless it runs already, and returns its name and version.
    ///
    /// # Errors
    /// One variant per cause; see [`StartError`].
    pub async fn check(&self) -> Result<String, StartError> {
        let mut current = self.shared.current.lock().await;
        match &current.browser {
            Some(browser) if browser.devtools.is_open() => Ok(browser.product.clone()),
            _ => Ok(self.shared.open(&mut current).await?.product.clone()),
        }
    }

    /// Returns the name and version of the browser, or why there is none. `None` before the first start.
    pub fn state(&self) -> Option<Result<String, String>> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the browser, and with it the pages that are being rendered.
    pub async fn shutdown(&self) {
        let browser = self.shared.current.lock().await.browser.take();
        if let Some(browser) = browser {
            browser.close().await;
        }
    }
}

#[async_trait]
impl Renderer for Chromium {
    async fn render(&self, request: RenderRequest<'_>) -> Result<Bytes, RenderError> {
        let RenderRequest { organization_id, page, is_patient } = request;
        let permits = &self.shared.permits;
        let permit = if is_patient {
            permits.wait(organization_id, 1).await
        } else {
            let refused = |refusal: admission::Overloaded| RenderError::Overloaded { retry_after: refusal.retry_after };
            permits.acquire(organization_id, 1).await.map_err(refused)?
        };
        // A task of its own, since a page must be removed even if nobody waits for it any more.
        let stop = CancellationToken::new();
        let _stop_on_drop = stop.clone().drop_guard();
        let render = render(Arc::clone(&self.shared), organization_id, page.clone(), permit, stop);
        match tokio::spawn(render).await {
            Ok(outcome) => outcome,
            Err(error) => Err(RenderError::Failed { reason: error.to_string() }),
        }
    }
}

async fn render(
    shared: Arc<Shared>,
    organization_id: OrganizationId,
    page: FetchedPage,
    _permit: Permit,
    stop: CancellationToken,
) -> Result<Bytes, RenderError> {
    let browser = shared.browser().await?;
    let options = &shared.options;
    let ticket = shared.proxy.admit(options.max_bytes, organization_id);
    let own = shared.proxy.address.to_string();
    let job = Job {
        page: &page,
        ticket: &ticket,
        proxy: options.proxy_address.as_deref().unwrap_or(&own),
        user_agent: &options.user_agent,
        timeout: options.timeout,
        max_bytes: options.max_bytes,
        stop: &stop,
    };
    let (outcome, is_intact) = page::render(&browser.devtools, job).await;
    if !is_intact {
        browser.give_up();
    }
    outcome
}

impl Shared {
    /// Returns the browser for one more page: the present one, or a new one if that has ended or has rendered enough.
    async fn browser(&self) -> Result<Arc<Browser>, RenderError> {
        let mut current = self.current.lock().await;
        if let Some(browser) = &current.browser
            && browser.take(self.options.renders_per_browser)
        {
            return Ok(Arc::clone(browser));
        }
        if current.failed_at.is_some_and(|failed_at| failed_at.elapsed() < START_BACK_OFF) {
            return Err(RenderError::Unavailable { reason: "its last start failed".to_owned() });
        }
        let opened = self.open(&mut current).await;
        let browser = opened.map_err(|error| RenderError::Unavailable { reason: error_causes::describe(&error) })?;
        browser.take(self.options.renders_per_browser);
        Ok(browser)
    }

    async fn open(&self, current: &mut Current) -> Result<Arc<Browser>, StartError> {
        // Ends after the last of its pages.
        current.browser = None;
        let opened = Browser::open(&self.options, &self.proxy, &self.has_confined).await;
        let state = match &opened {
            Ok(browser) => Ok(browser.product.clone()),
            Err(error) => Err(error_causes::describe(error)),
        };
        current.failed_at = state.is_err().then(Instant::now);
        match &state {
            Ok(product) => tracing::info!(product, "a browser for pages that need scripts is ready"),
            Err(error) => tracing::warn!(error, "no browser for pages that need scripts"),
        }
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
        let browser = Arc::new(opened?);
        current.browser = Some(Arc::clone(&browser));
        Ok(browser)
    }
}
