//! Lookup of a target among the documents that the viewer may see.

use std::time::Duration;

use docstore::{Grant, NewPage, ReadCapture, StoredCapture, VisibleDocument};
use model::{CaptureId, Collection, DocId, OrganizationId};
use retrieval_core::url::{CanonicalUrl, document_id, parse_workspace_url, workspace_url};

use super::Target;
use crate::error::Result;
use crate::{App, Error, Viewer};

/// Document as the viewer's organization sees it, with its latest capture.
pub(crate) type Found = (VisibleDocument, Option<StoredCapture>);

/// Age at which a grant is renewed. More than the docstore's day, which would ignore the renewal.
const RENEWAL: Duration = Duration::from_hours(25);

impl App {
    /// Finds the target with its latest capture. A web page that is neither listed nor known to the viewer's organization is
    /// registered for it, so that its id and its times hold from now on.
    ///
    /// # Errors
    /// `DocumentNotFound` if it is not granted or does not exist, `Invalid` for a malformed URL.
    pub(crate) async fn load_document(&self, viewer: &Viewer, target: &Target) -> Result<Found> {
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
            Target::Url(url) if is_workspace_url(url) => self.find_workspace_document(viewer, url).await,
            Target::Url(url) => self.find_page(viewer, url).await,
        }
    }

    /// Finds a capture of the target, which may have been replaced.
    ///
    /// # Errors
    /// As [`load_document`](Self::load_document), and `DocumentNotFound` if the capture is gone or of another document.
    pub(super) async fn load_capture(
        &self,
        viewer: &Viewer,
        target: &Target,
        capture_id: CaptureId,
    ) -> Result<ReadCapture> {
        let organization_id = viewer.organization_id;
        let (doc_id, needs_grant) = match target {
            Target::DocId(doc_id) => (*doc_id, !self.unrecorded_grants.contains(organization_id, *doc_id)),
            Target::Url(url) => (address_id(url)?, false),
        };
        let found = self.find_capture(viewer, doc_id, capture_id).await?.ok_or(Error::DocumentNotFound)?;
        if needs_grant && found.visible.granted_at.is_none() {
            return Err(Error::DocumentNotFound);
        }
        let shown = found.superseded_at.is_none().then_some(&found.stored);
        self.grant(viewer, &found.visible, shown).await;
        Ok(found)
    }

    /// Finds a capture of a document that the viewer's organization may read by its URL.
    pub(crate) async fn find_capture(
        &self,
        viewer: &Viewer,
        doc_id: DocId,
        capture_id: CaptureId,
    ) -> Result<Option<ReadCapture>> {
        let now = self.clock.now();
        let since = now - self.options.retention.evidence;
        Ok(self.store.read_capture(viewer.organization_id, doc_id, capture_id, since, now).await?)
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
    ///
    /// # Errors
    /// `DocumentNotFound`, and `Invalid` for a malformed URL.
    async fn find_workspace_document(&self, viewer: &Viewer, url: &str) -> Result<Found> {
        let organization_id = viewer.organization_id;
        let (owner, name) = file_at(url)?;
        if owner != organization_id {
            return Err(Error::DocumentNotFound);
        }
        let doc_id = document_id(&workspace_url(owner, &name));
        let found = self.store.read_document(organization_id, doc_id).await?.ok_or(Error::DocumentNotFound)?;
        self.granted(viewer, found).await
    }

    async fn granted(&self, viewer: &Viewer, found: Found) -> Result<Found> {
        self.grant(viewer, &found.0, found.1.as_ref()).await;
        Ok(found)
    }

    /// Grants a document to the viewer's organization, or renews its grant once a day: unused grants expire. The grant names the
    /// capture that is shown, so that it is kept. A database that cannot be written does not fail the read.
    async fn grant(&self, viewer: &Viewer, visible: &VisibleDocument, shown: Option<&StoredCapture>) {
        let now = self.clock.now();
        let is_reading = |stored: &&StoredCapture| {
            visible.document.collection == Collection::Web && stored.capture.organization_id.is_some()
        };
        // What an organization read itself is always kept.
        let capture_id = shown.filter(|stored| !is_reading(stored)).map(|stored| stored.capture.capture_id);
        let is_named = capture_id.is_none() || visible.shown_capture_id == capture_id;
        if is_named && visible.granted_at.is_some_and(|at| now < at + RENEWAL) {
            return;
        }
        let (organization_id, doc_id) = (viewer.organization_id, visible.document.doc_id);
        let grant = Grant { organization_id, doc_id, granted_at: now, capture_id };
        if let Err(error) = self.store.grant_document(grant.clone()).await {
            tracing::warn!(%doc_id, error = &error as &dyn std::error::Error, "the grant was not stored");
            self.unrecorded_grants.remember(&[grant]);
        }
    }
}

fn is_workspace_url(url: &str) -> bool {
    url.trim_start().to_ascii_lowercase().starts_with("workspace://")
}

/// Returns the organization and the name of the file at a workspace URL.
///
/// # Errors
/// `Invalid` for a malformed URL, also of another organization: its form says nothing about files.
fn file_at(url: &str) -> Result<(OrganizationId, String)> {
    let expected = "a workspace URL is workspace://{organization_id}/{name}, with the name percent-encoded in UTF-8";
    parse_workspace_url(url).ok_or_else(|| Error::invalid("canonical_url", expected))
}

/// Returns the id of the document at an address.
fn address_id(url: &str) -> Result<DocId> {
    if is_workspace_url(url) {
        let (owner, name) = file_at(url)?;
        return Ok(document_id(&workspace_url(owner, &name)));
    }
    let canonical = CanonicalUrl::parse(url).map_err(|error| Error::invalid("canonical_url", error.to_string()))?;
    Ok(canonical.doc_id())
}
