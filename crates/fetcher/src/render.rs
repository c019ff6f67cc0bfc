//! Seam of browsers that run the scripts of fetched pages.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use file_types::FileKind;
use model::OrganizationId;

use crate::page::FetchedPage;

/// Browser that runs the scripts of a page.
///
/// Every connection of a script follows the fetcher's connection policy, and nothing is kept from one page to the next.
#[async_trait]
pub trait Renderer: Send + Sync {
    /// Runs the scripts of a page and returns its document as HTML in UTF-8. The page itself is not requested again. The
    /// future can be dropped at any time.
    async fn render(&self, request: RenderRequest<'_>) -> Result<Bytes, RenderError>;
}

/// Request to render one page.
#[derive(Clone, Copy, Debug)]
pub struct RenderRequest<'a> {
    /// Organization whose turn it is.
    pub organization_id: OrganizationId,
    pub page: &'a FetchedPage,
    /// Waits for its turn however long that takes, instead of being refused.
    pub is_patient: bool,
}

/// Failure to render a page.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// Too many pages are being rendered. Says nothing about this one.
    #[error("too many pages are being rendered")]
    Overloaded { retry_after: Duration },
    #[error("no browser is available: {reason}")]
    Unavailable { reason: String },
    #[error("the scripts did not end in time")]
    Timeout,
    #[error("the scripts exceeded the limit of `{limit}` bytes")]
    TooLarge { limit: usize },
    #[error("the browser ended while it rendered the page")]
    Crashed,
    #[error("the browser failed: {reason}")]
    Failed { reason: String },
}

impl RenderError {
    /// Names of all failures.
    pub const NAMES: [&str; 6] = ["overloaded", "unavailable", "timeout", "too_large", "crashed", "failed"];

    /// Returns the stable snake_case name.
    pub fn as_str(&self) -> &'static str {
        match self {
            RenderError::Overloaded { .. } => "overloaded",
            RenderError::Unavailable { .. } => "unavailable",
            RenderError::Timeout => "timeout",
            RenderError::TooLarge { .. } => "too_large",
            RenderError::Crashed => "crashed",
            RenderError::Failed { .. } => "failed",
        }
    }
}

impl FetchedPage {
    /// Returns the page with the document that its scripts made. It has no validators: those of the server tell nothing of
    /// that document.
    pub fn rendered(&self, html: Bytes) -> Self {
        Self {
            kind: FileKind::Html,
            charset: Some("utf-8".to_owned()),
            body: html,
            validators: None,
            final_url: self.final_url.clone(),
            status: self.status,
            content_type: self.content_type.clone(),
            redirects: self.redirects,
        }
    }
}
