//! Documents of the shared web index, from pages that were read.

use docstore::NewDocument;
use extract::Extracted;
use extract_worker::{Compartment, Extractor, Input, Lane, Turn, WorkError};
use fetcher::FetchedPage;
use ingest::fetched;
use ingest::prepare::Source;
use model::{Collection, IndexName, OrganizationId, Timestamp};

use crate::address::Address;

/// Extracts the text of a page.
///
/// # Errors
/// Those of the document, and of the workers.
pub async fn extract(extractor: &dyn Extractor, page: &FetchedPage) -> Result<Extracted, WorkError> {
    let turn = Turn {
        organization_id: OrganizationId::NOBODY,
        lane: Lane::Runs,
        compartment: Compartment::new(IndexName::Web.as_str()),
        time_limit: None,
    };
    extractor.extract_to_the_end(&turn, fetched::extract_request(page), Input::Bytes(page.body.clone())).await
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
    fetched::document(source, extracted, page.final_url.to_string(), page.validators.clone(), read_at)
}
