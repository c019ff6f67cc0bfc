//! Pipeline of one page: read it from its site, store it for one organization.

use std::sync::Arc;

use admission::Compute;
use docstore::{Capture, Docstore, NewPageRead};
use fetcher::Validators;
use model::{Clock, Collection, Timestamp};

use super::source::{PageSource, Reading, SourcePage};
use super::{Failure, LONG_BYTES, PageError, PageRequest, SeenCapture, UnreadableReason};
use crate::fetched;
use crate::prepare::Source;
use crate::scripted::says_more;

pub struct PagePipeline {
    pub store: Docstore,
    pub source: Arc<PageSource>,
    pub clock: Arc<dyn Clock>,
    pub compute: Compute,
    /// For long pages.
    pub long_compute: Compute,
}

impl PagePipeline {
    /// Captures the page, unless the organization has a capture of the whole page newer than `request.seen`.
    pub async fn run(&self, request: &PageRequest) -> Result<(), Failure> {
        let (organization_id, doc_id) = (request.organization_id, request.doc_id);
        let own = self.store.find_page_read(organization_id, doc_id).await?;
        let capture = own.and_then(|(_, capture)| capture);
        // A search may have stored a snippet meanwhile.
        if capture.as_ref().is_some_and(|capture| !capture.format.is_snippet() && is_newer(capture, request.seen)) {
            return Ok(());
        }
        // Taken before the fetch: the content is at least as new.
        let read_at = self.clock.now();
        match (self.read(request, capture.as_ref()).await?, capture) {
            (Reading::Page(page), Some(capture)) if is_worse(&page, &capture) => Err(UnreadableReason::NoText.into()),
            (Reading::Page(page), _) => self.save(request, page, read_at).await,
            (Reading::NotModified, Some(capture)) => {
                Ok(self.store.confirm_page_read(organization_id, doc_id, capture.capture_id, read_at).await?)
            }
            (Reading::NotModified, None) => Err(UnreadableReason::HttpStatus(304).into()),
        }
    }

    /// Prepares a page and stores it. A long one keeps neither short computation nor other writes waiting.
    async fn save(&self, request: &PageRequest, page: Arc<SourcePage>, read_at: Timestamp) -> Result<(), Failure> {
        let is_long = page.extracted.markdown.len() > LONG_BYTES;
        let compute = if is_long { &self.long_compute } else { &self.compute };
        let (request, prepared) = (request.clone(), Arc::clone(&page));
        let preparing = compute.run(request.organization_id, move |_| page_read(&request, &prepared, read_at));
        let read = preparing.await.map_err(|_| PageError::Panicked)?;
        let saving = if is_long { self.store.save_long_page_read(read) } else { self.store.save_page_read(read) };
        saving.await?;
        // With the place of a long page among the fetches.
        drop(page);
        Ok(())
    }

    /// Reads the canonical URL. If the host refuses it, tries the URL of the last capture, then the given one.
    async fn read(&self, page: &PageRequest, capture: Option<&Capture>) -> Result<Reading, Failure> {
        let last = capture.and_then(|capture| capture.fetched_from.as_deref());
        let mut urls = vec![page.canonical_url.as_str()];
        for url in [last, page.given_url.as_deref()].into_iter().flatten().map(without_fragment) {
            if !urls.contains(&url) {
                urls.push(url);
            }
        }
        let mut first = None;
        for url in urls {
            match self.source.read(page.organization_id, url, capture.and_then(validators)).await {
                Ok(reading) => return Ok(reading),
                Err(failure) if failure.is_about_the_url() => first = first.or(Some(failure)),
                Err(failure) => return Err(first.unwrap_or(failure)),
            }
        }
        Err(first.unwrap_or_else(|| UnreadableReason::Unreachable.into()))
    }
}

/// Returns true if the organization's capture is not the one that the caller saw but a later one.
fn is_newer(capture: &Capture, seen: Option<SeenCapture>) -> bool {
    seen.is_none_or(|seen| SeenCapture::from(capture) != seen && capture.captured_at >= seen.captured_at)
}

impl From<&Capture> for SeenCapture {
    fn from(capture: &Capture) -> Self {
        Self { capture_id: capture.capture_id, captured_at: capture.captured_at }
    }
}

/// Returns true if the scripts of a page failed, and the capture has the text that they wrote.
fn is_worse(page: &SourcePage, capture: &Capture) -> bool {
    page.lacks_scripts && says_more(&capture.content, &page.extracted.markdown)
}

fn without_fragment(url: &str) -> &str {
    url.trim().split('#').next().unwrap_or_default()
}

/// Returns the validators for a conditional request. `None` unless the capture holds the whole page's text, since a page that
/// is not modified keeps it.
fn validators(capture: &Capture) -> Option<Validators> {
    let has_text = !capture.format.is_snippet() && !capture.content.trim().is_empty();
    let url = capture.fetched_from.clone().filter(|_| has_text)?;
    let (etag, last_modified) = (capture.etag.clone(), capture.last_modified.clone());
    (etag.is_some() || last_modified.is_some()).then_some(Validators { url, etag, last_modified })
}

fn page_read(request: &PageRequest, page: &SourcePage, read_at: Timestamp) -> NewPageRead {
    let source = Source {
        collection: Collection::Web,
        canonical_url: request.canonical_url.clone(),
        source_url: request.given_url.clone().unwrap_or_else(|| request.canonical_url.clone()),
        source_uri: None,
        mime: Some(page.mime.clone()),
        country: None,
        listed: false,
    };
    let (final_url, validators) = (page.final_url.clone(), page.validators.clone());
    let document = fetched::document(source, page.extracted.clone(), final_url, validators, read_at);
    NewPageRead::new(request.organization_id, document)
}
