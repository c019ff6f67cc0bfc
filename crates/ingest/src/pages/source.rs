//! Reading of pages from their sites: fetch, extraction, scripts.

use std::sync::Arc;
use std::time::Duration;

use extract::Extracted;
use extract_worker::{Compartment, Extractor, Input, Lane, Turn, WorkError};
use fetcher::{AdmittedFetch, FetchError, FetchRequest, Fetched, FetchedPage, Fetcher, Validators};
use model::{IndexName, OrganizationId};
use tokio::task::JoinHandle;
use trace_context::{ActiveSpan, SpanKind};
use tracing::Instrument;

use super::failure_cache::Cause;
use super::single_flight::SingleFlight;
use super::{Failure, LONG_BYTES, PageError, UnreadableReason};
use crate::fetched;
use crate::scripted::{Busy, RenderTurn, Rendering, Scripted, Scripts, needs_scripts};

/// Time after which a page may be read again that gave way to others.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Page as its site serves it to everyone.
pub struct SourcePage {
    /// URL after redirects.
    pub final_url: String,
    pub mime: String,
    pub validators: Option<Validators>,
    pub extracted: Extracted,
    /// True if the page needs its scripts, and the text is what it says without them.
    pub lacks_scripts: bool,
    /// Permits of a long page, kept until it is stored, since they bound the pages in memory.
    _held: Option<AdmittedFetch>,
}

/// Result of reading a page.
pub enum Reading {
    Page(Arc<SourcePage>),
    /// The copy that the validators describe is still current.
    NotModified,
}

type Outcome = Result<Arc<SourcePage>, Failure>;

/// Reader of pages. Concurrent reads of one URL share one request, whoever asks: what a site serves does not depend on
/// it. Each organization waits in its own turn until then.
pub struct PageSource {
    fetcher: Fetcher,
    extractor: Arc<dyn Extractor>,
    scripted: Scripted,
    /// CPU time of an extraction.
    extract_timeout: Duration,
    running: SingleFlight<String, Outcome>,
}

impl PageSource {
    pub fn new(
        fetcher: Fetcher,
        extractor: Arc<dyn Extractor>,
        scripted: Scripted,
        extract_timeout: Duration,
    ) -> Arc<Self> {
        Arc::new(Self { fetcher, extractor, scripted, extract_timeout, running: SingleFlight::default() })
    }

    /// Reads the page at `url`, conditionally if there are validators.
    pub async fn read(
        self: &Arc<Self>,
        organization_id: OrganizationId,
        url: &str,
        validators: Option<Validators>,
    ) -> Result<Reading, Failure> {
        let request = FetchRequest { organization_id, url: url.to_owned(), validators };
        if request.validators.is_some() {
            return self.admit(request).await?.read().await;
        }
        let key = url.to_owned();
        let mut is_own = false;
        let running = match self.running.find(&key) {
            Some(running) => running,
            None => {
                let admitted = self.admit(request.clone()).await?;
                // Another organization may have begun meanwhile.
                self.running.join(&key, || {
                    is_own = true;
                    admitted.start()
                })
            }
        };
        match running.outcome().await.unwrap_or_else(|| Err(PageError::Panicked.into())) {
            // The queues of another organization were full.
            Err(failure) if failure.is_refusal() && !is_own => self.admit(request).await?.read().await,
            outcome => outcome.map(Reading::Page),
        }
    }

    /// Waits until the page may be fetched.
    async fn admit(self: &Arc<Self>, request: FetchRequest) -> Result<AdmittedRead, Failure> {
        let (organization_id, url) = (request.organization_id, request.url.clone());
        let waiting = ActiveSpan::begin("fetch wait", SpanKind::Internal).try_around(self.fetcher.admit(request));
        let fetch = waiting.await.map_err(|error| fetch_failed(&url, &error))?;
        Ok(AdmittedRead { source: Arc::clone(self), organization_id, url, fetch })
    }
}

/// Page with its text.
struct Text {
    page: Box<FetchedPage>,
    extracted: Extracted,
    lacks_scripts: bool,
}

/// Read of a page whose turn has come.
struct AdmittedRead {
    source: Arc<PageSource>,
    organization_id: OrganizationId,
    url: String,
    /// Kept to the end of the extraction at least, since it bounds the pages in memory.
    fetch: AdmittedFetch,
}

impl AdmittedRead {
    /// Reads the page in a task of its own.
    fn start(self) -> JoinHandle<Outcome> {
        let reading = trace_context::carried(async move {
            match self.read().await? {
                Reading::Page(page) => Ok(page),
                // Answers a condition that was not made.
                Reading::NotModified => Err(UnreadableReason::HttpStatus(304).into()),
            }
        });
        tokio::spawn(reading.in_current_span())
    }

    async fn read(mut self) -> Result<Reading, Failure> {
        let url = &self.url;
        let page = match ActiveSpan::begin("fetch", SpanKind::Client).try_around(self.fetch.run()).await {
            Ok(Fetched::Page(page)) => page,
            Ok(Fetched::NotModified) => return Ok(Reading::NotModified),
            Err(error) => return Err(fetch_failed(url, &error)),
        };
        let Text { page, extracted, lacks_scripts } = self.text(page).await?;
        if extracted.markdown.trim().is_empty() {
            return Err(failed(url, "the page has no text", UnreadableReason::NoText));
        }
        let (mime, final_url) = (page.media_type(), page.final_url.to_string());
        let may_change = needs_scripts(&page, &extracted.markdown);
        let held = (extracted.markdown.len() > LONG_BYTES).then_some(self.fetch);
        let validators = page.validators.filter(|_| !may_change);
        Ok(Reading::Page(Arc::new(SourcePage { final_url, mime, validators, extracted, lacks_scripts, _held: held })))
    }

    /// Extracts the text, that of the scripts if there is hardly any other.
    async fn text(&self, page: Box<FetchedPage>) -> Result<Text, Failure> {
        let extracted = self.extract(&page).await?;
        let turn = RenderTurn { organization_id: self.organization_id, is_patient: false };
        let rendering = self.source.scripted.render(turn, &page, &extracted.markdown).await;
        let busy = |Busy { retry_after }| Failure::from(PageError::Overloaded { retry_after });
        let rendered = match rendering.map_err(busy)? {
            Rendering::NotNeeded => return Ok(Text { page, extracted, lacks_scripts: false }),
            Rendering::Failed => return Ok(Text { page, extracted, lacks_scripts: true }),
            Rendering::Rendered(rendered) => rendered,
        };
        let written = match self.extract(&rendered).await {
            Ok(written) => Some(written),
            Err(failure) if failure.is_refusal() => return Err(failure),
            Err(_) => None,
        };
        match Scripts::compare(*rendered, written, &extracted.markdown) {
            Scripts::Wrote(written) => {
                let (page, extracted) = *written;
                Ok(Text { page: Box::new(page), extracted, lacks_scripts: false })
            }
            Scripts::NotNeeded => Ok(Text { page, extracted, lacks_scripts: false }),
            Scripts::Failed => Ok(Text { page, extracted, lacks_scripts: true }),
        }
    }

    async fn extract(&self, page: &FetchedPage) -> Result<Extracted, Failure> {
        let request = fetched::extract_request(page);
        let turn = Turn {
            organization_id: self.organization_id,
            lane: Lane::Pages,
            // The page is what its site serves to everyone, whichever organization asked first.
            compartment: Compartment::new(IndexName::Web.as_str()),
            time_limit: Some(self.source.extract_timeout),
        };
        let extracting = self.source.extractor.extract(&turn, request, Input::Bytes(page.body.clone()));
        match ActiveSpan::begin("extract", SpanKind::Internal).try_around(extracting).await {
            Ok(extracted) => Ok(extracted),
            Err(WorkError::Document(error)) => Err(failed(&self.url, &error.to_string(), error.kind.into())),
            // Too many pages wait, or other work had the cores: the page is not remembered as unreadable.
            Err(WorkError::Overloaded { retry_after }) => Err(PageError::Overloaded { retry_after }.into()),
            Err(WorkError::Postponed | WorkError::Unavailable(_)) => {
                Err(PageError::Overloaded { retry_after: RETRY_AFTER }.into())
            }
        }
    }
}

fn fetch_failed(url: &str, error: &FetchError) -> Failure {
    if let FetchError::Overloaded { retry_after } = error {
        return PageError::Overloaded { retry_after: *retry_after }.into();
    }
    let cause = Cause { retry_after: error.retry_after(), ..Cause::from(UnreadableReason::from(error)) };
    Failure { cause: Some(cause), ..failed(url, &error.to_string(), cause.reason) }
}

/// Logs a failure with the host only, since the rest of a URL may contain secrets, and returns it.
fn failed(url: &str, message: &str, reason: UnreadableReason) -> Failure {
    let host = retrieval_core::url::CanonicalUrl::parse(url).map(|url| url.host().to_owned());
    tracing::info!(host = host.unwrap_or_default(), reason = message, "a page could not be read");
    reason.into()
}
