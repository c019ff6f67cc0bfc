//! Lookup of a target among the documents that the viewer may see.

use docstore::Document;
use ingest::clock::to_date_time;
use model::Timestamp;
use retrieval_core::url::{CanonicalUrl, parse_workspace_url, workspace_url};

use super::{DocumentView, Target};
use crate::error::Result;
use crate::{App, Error, Viewer};

/// Result of a lookup.
pub enum Found {
    Stored(Box<Document>),
    /// A web page that was never read, with the metadata that its URL implies.
    Unknown {
        canonical_url: String,
        document: Box<DocumentView>,
    },
}

impl App {
    /// Finds the target.
    ///
    /// # Errors
    /// `DocumentNotFound` if it is not granted or does not exist, `Invalid` for a malformed URL.
    pub(super) async fn find_document(&self, viewer: &Viewer, target: &Target) -> Result<Found> {
        let organization_id = viewer.organization_id;
        match target {
            Target::DocId(doc_id) => {
                let found = self.store.find_granted_document(organization_id, *doc_id).await?;
                found.map(stored).ok_or(Error::DocumentNotFound)
            }
            Target::Url(url) if url.trim_start().to_ascii_lowercase().starts_with("workspace://") => {
                self.find_workspace_document(viewer, url).await
            }
            Target::Url(url) => {
                let canonical =
                    CanonicalUrl::parse(url).map_err(|error| Error::invalid("canonical_url", error.to_string()))?;
                let found = self.store.find_document_by_url(organization_id, canonical.as_str().to_owned()).await?;
                Ok(found.map_or_else(|| unread(&canonical, url, self.clock.now()), stored))
            }
        }
    }

    /// Finds a workspace document. Another organization's document and a missing one fail with the same error.
    async fn find_workspace_document(&self, viewer: &Viewer, url: &str) -> Result<Found> {
        let organization_id = viewer.organization_id;
        let (owner, name) = parse_workspace_url(url).ok_or(Error::DocumentNotFound)?;
        if owner != organization_id {
            return Err(Error::DocumentNotFound);
        }
        let found = self.store.find_document_by_url(organization_id, workspace_url(owner, &name)).await?;
        found.map(stored).ok_or(Error::DocumentNotFound)
    }
}

fn stored(document: Document) -> Found {
    Found::Stored(Box::new(document))
}

fn unread(url: &CanonicalUrl, source_url: &str, now: Timestamp) -> Found {
    let now = to_date_time(now);
    let document = DocumentView {
        doc_id: url.doc_id(),
        canonical_url: url.as_str().to_owned(),
        source_url: source_url.to_owned(),
        title: None,
        meta_description: None,
        headings: Vec::new(),
        content_digest: None,
        latest_capture_id: None,
        published_at: None,
        first_seen_at: now,
        last_seen_at: now,
    };
    Found::Unknown { canonical_url: url.as_str().to_owned(), document: Box::new(document) }
}
