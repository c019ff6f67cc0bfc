//! Lookup of a target among the documents that the viewer may see.

use std::time::Duration;

use docstore::{Grant, NewPage, StoredCapture, VisibleDocument};
use retrieval_core::url::{CanonicalUrl, document_id, parse_workspace_url, workspace_url};

use super::Target;
use crate::error::Result;
use crate::{App, Error, Viewer};

/// Document as the viewer's organization sees it, with its latest capture.
pub(super) type Found = (VisibleDocument, Option<StoredCapture>);

/// Age at which a grant is renewed. More than the docstore's day, which would ignore the renewal.
const RENEWAL: Duration = Duration::from_hours(25);

impl App {
    /// Finds the target with its latest capture. A web page that is neither listed nor known to the viewer's organization is
    /// registered for it, so that its id and its times hold from now on.
    ///
    /// # Errors
    /// `DocumentNotFound` if it is not granted or does not exist, `Invalid` for a malformed URL.
    pub(super) async fn load_document(&self, viewer: &Viewer, target: &Target) -> Result<Found> {
        match target {
            Target::DocId(doc_id) => {
                let organization_id = viewer.organization_id;
                if let Some(found) = self.store.read_granted_document(organization_id, *doc_id).await? {
                    return self.granted(viewer, found).await;
                }
                if !self.unrecorded_grants.contains(organization_id, *doc_id) {
                    return Err(Error::DocumentNotFound);
                }
                self.store.read_document(organization_id, *doc_id).await?.ok_or(Error::DocumentNotFound)
            }
            Target::Url(url) if url.trim_start().to_ascii_lowercase().starts_with("workspace://") => {
                self.find_workspace_document(viewer, url).await
            }
            Target::Url(url) => self.find_page(viewer, url).await,
        }
    }

    async fn find_page(&self, viewer: &Viewer, url: &str) -> Result<Found> {
        let organization_id = viewer.organization_id;
        let canonical = CanonicalUrl::parse(url).map_err(|error| Error::invalid("canonical_url", error.to_string()))?;
        let doc_id = canonical.doc_id();
        if let Some(found) = self.store.read_document(organization_id, doc_id).await? {
            return self.granted(viewer, found).await;
        }
        let page = NewPage {
            organization_id,
            doc_id,
            canonical_url: canonical.as_str().to_owned(),
            source_url: url.trim().to_owned(),
        };
        self.store.register_page(page, self.clock.now()).await?;
        self.store.read_document(organization_id, doc_id).await?.ok_or(Error::DocumentNotFound)
    }

    /// Finds a workspace document. Another organization's document and a missing one fail with the same error.
    async fn find_workspace_document(&self, viewer: &Viewer, url: &str) -> Result<Found> {
        let organization_id = viewer.organization_id;
        let (owner, name) = parse_workspace_url(url).ok_or(Error::DocumentNotFound)?;
        if owner != organization_id {
            return Err(Error::DocumentNotFound);
        }
        let doc_id = document_id(&workspace_url(owner, &name));
        let found = self.store.read_document(organization_id, doc_id).await?.ok_or(Error::DocumentNotFound)?;
        self.granted(viewer, found).await
    }

    /// Grants a found document to the viewer's organization, or renews its grant once a day: unused grants expire. A database
    /// that cannot be written does not fail the read.
    async fn granted(&self, viewer: &Viewer, found: Found) -> Result<Found> {
        let (visible, now) = (&found.0, self.clock.now());
        if visible.granted_at.is_none_or(|at| now >= at + RENEWAL) {
            let (organization_id, doc_id) = (viewer.organization_id, visible.document.doc_id);
            let grant = Grant { organization_id, doc_id, granted_at: now };
            if let Err(error) = self.store.grant_document(grant.clone()).await {
                tracing::warn!(%doc_id, error = &error as &dyn std::error::Error, "the grant was not stored");
                self.unrecorded_grants.remember(&[grant]);
            }
        }
        Ok(found)
    }
}
