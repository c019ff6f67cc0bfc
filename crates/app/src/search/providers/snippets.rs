//! Snippets of search results as documents of the organization that searched.

use docstore::{Capture, Document, LoadedDocument, NewDocument, NewPageRead, PageRead};
use ingest::prepare::{self, Content, Extent, Source};
use model::{Collection, OrganizationId, Timestamp};

use super::super::candidate::Candidate;
use super::super::{RECORD_TIMEOUT, Search};
use super::found::FoundPage;
use crate::App;

/// Builds the document of a result. Its language is the provider's, or detected if there is none.
pub fn document(page: &FoundPage, organization_id: OrganizationId, now: Timestamp) -> LoadedDocument {
    let result = &page.result;
    let source = Source {
        collection: Collection::Web,
        canonical_url: result.url.as_str().to_owned(),
        source_url: result.source_url.clone(),
        source_uri: None,
        mime: None,
        country: None,
        listed: false,
    };
    let texts = [result.snippet.as_str(), result.title.as_str(), result.url.as_str()];
    let text = texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let content = Content {
        markdown: text.to_owned(),
        title: Some(result.title.clone()).filter(|title| !title.is_empty()),
        language: result.language.clone(),
        published_at: result.published_at,
        extent: Extent::Snippet,
        ..Content::default()
    };
    let NewDocument { mut document, mut capture, passages, parts: _ } = prepare::document(source, content, now);
    document.last_crawled_at = None;
    capture.organization_id = Some(organization_id);
    LoadedDocument { document, capture, passages }
}

impl App {
    /// Stores the snippets among the best candidates for the organization, which alone sees them. A database that cannot be written
    /// does not fail the search.
    pub(in crate::search) async fn store_snippets(&self, search: &Search<'_>, best: &mut [Candidate]) {
        let organization_id = search.organization_id;
        let loaded = best.iter().filter(|one| one.is_new_snippet).filter_map(|one| one.loaded.as_deref());
        let new: Vec<NewPageRead> = loaded.map(|loaded| page_read(organization_id, loaded)).collect();
        if new.is_empty() {
            return;
        }
        let saving = self.store.save_snippets(organization_id, new);
        let saved = match tokio::time::timeout(RECORD_TIMEOUT, saving).await {
            Ok(Ok(saved)) => saved,
            Ok(Err(error)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "search results were not stored");
                return;
            }
            Err(_) => {
                tracing::warn!("search results are not stored yet");
                return;
            }
        };
        for (doc_id, capture_id) in saved {
            let candidate = best.iter_mut().find(|one| one.document.doc_id() == doc_id);
            if let Some(loaded) = candidate.and_then(|candidate| candidate.loaded.as_mut()) {
                loaded.capture.capture_id = capture_id;
            }
        }
    }
}

fn page_read(organization_id: OrganizationId, loaded: &LoadedDocument) -> NewPageRead {
    let LoadedDocument { document, capture, passages } = loaded.clone();
    let Capture { capture_id, .. } = capture;
    let Document {
        doc_id, canonical_url, source_url, title, description, mime, language, labels, published_at, ..
    } = document;
    let read = PageRead {
        organization_id,
        doc_id,
        source_url,
        title,
        description,
        mime,
        language,
        labels,
        published_at,
        first_seen_at: document.first_seen_at,
        last_seen_at: document.last_seen_at,
        last_crawled_at: None,
        stale_at: None,
        latest_capture_id: Some(capture_id),
    };
    NewPageRead { canonical_url, read, capture, passages, parts: None }
}
