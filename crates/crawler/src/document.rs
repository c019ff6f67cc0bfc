//! Documents of the shared web index, from pages that were read.

use docstore::NewDocument;
use extract::{ExtractRequest, Extracted};
use extract_worker::{Compartment, Extractor, Input, Lane, Turn, WorkError};
use fetcher::FetchedPage;
use file_types::FileKind;
use ingest::prepare::{self, Content, Extent, Source};
use model::{Collection, IndexName, OrganizationId, Timestamp};

use crate::address::Address;

/// Extracts the text of a page.
///
/// # Errors
/// Those of the document, and of the workers.
pub async fn extract(extractor: &dyn Extractor, page: &FetchedPage) -> Result<Extracted, WorkError> {
    let request = ExtractRequest {
        base_url: Some(page.final_url.to_string()),
        charset: page.charset.clone(),
        ..ExtractRequest::new(page.kind, file_name(page))
    };
    let turn = Turn {
        organization_id: OrganizationId::NOBODY,
        lane: Lane::Runs,
        compartment: Compartment::new(IndexName::Web.as_str()),
        time_limit: None,
    };
    extractor.extract_to_the_end(&turn, request, Input::Bytes(page.body.clone())).await
}

/// Builds the document of a page. Takes some milliseconds of computation.
pub fn prepare(address: &Address, page: &FetchedPage, extracted: Extracted, read_at: Timestamp) -> NewDocument {
    let source = Source {
        collection: Collection::Web,
        canonical_url: address.url.clone(),
        source_url: address.url.clone(),
        source_uri: None,
        mime: Some(page.media_type()),
        country: None,
        listed: true,
    };
    let content = Content {
        markdown: extracted.markdown,
        title: extracted.title,
        description: extracted.description,
        language: extracted.language,
        published_at: extracted.published_at.map(Timestamp::from_millis),
        labels: extracted.labels,
        page_starts: extracted.page_starts,
        extent: Extent::Whole,
    };
    let mut new = prepare::document(source, content, read_at);
    new.capture.fetched_from = Some(page.final_url.to_string());
    if let Some(validators) = &page.validators {
        (new.capture.etag, new.capture.last_modified) = (validators.etag.clone(), validators.last_modified.clone());
    }
    new
}

/// Returns the file name, the fallback title of a document. Empty for web pages.
fn file_name(page: &FetchedPage) -> String {
    if page.kind == FileKind::Html {
        return String::new();
    }
    let last = page.final_url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
    percent_encoding::percent_decode_str(last).decode_utf8_lossy().into_owned()
}
