//! Documents as one organization sees them: the shared document, or its own reading of the page.

use std::cmp::{max, min};

use model::{CaptureFormat, CaptureId, Timestamp};

use crate::rows::{Document, PageRead};

/// Document as one organization sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct VisibleDocument {
    /// `latest_capture_id` is the newer of the shared capture and the organization's own. A snippet counts as older than any whole
    /// page.
    pub document: Document,
    /// Time at which the organization reported the content as outdated. Older captures are fetched again.
    pub stale_at: Option<Timestamp>,
    /// Time at which the document was granted to the organization, which may then read it by its id, or the grant renewed.
    pub granted_at: Option<Timestamp>,
    /// Capture that the grant keeps.
    pub shown_capture_id: Option<CaptureId>,
}

/// Grant of a document, as far as it exists.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GrantState {
    pub granted_at: Option<Timestamp>,
    pub capture_id: Option<CaptureId>,
}

/// Captures that compete to be the latest one; `None` for a missing capture.
pub(crate) struct Competitors {
    pub shared: Option<Rank>,
    pub own: Option<Rank>,
}

/// Rank of a capture. A snippet never replaces a whole page, however new it is, so the extent comes first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Rank {
    is_whole: bool,
    captured_at: Timestamp,
}

impl Rank {
    pub(crate) fn of(captured_at: Timestamp, format: CaptureFormat) -> Self {
        Self { is_whole: !format.is_snippet(), captured_at }
    }
}

impl VisibleDocument {
    /// Combines the row of a document with the organization's own reading of it. `None` if the organization may see
    /// neither.
    pub(crate) fn of(
        document: Document,
        read: Option<PageRead>,
        captures: Competitors,
        grant: GrantState,
    ) -> Option<Self> {
        let GrantState { granted_at, capture_id: shown_capture_id } = grant;
        let read = read.filter(|read| is_current(read, document.removed_at));
        let is_shared = document.listed && document.removed_at.is_none();
        let Some(read) = read else {
            return is_shared.then_some(Self { document, stale_at: None, granted_at, shown_capture_id });
        };
        let stale_at = read.stale_at;
        if !is_shared {
            return Some(Self { document: private(document, read), stale_at, granted_at, shown_capture_id });
        }
        let document = match captures.own {
            None => document,
            Some(own) if captures.shared.is_none_or(|shared| own >= shared) => as_read(document, read),
            Some(_) => seen(document, &read),
        };
        Some(Self { document, stale_at, granted_at, shown_capture_id })
    }
}

/// Returns false for a reading from before the operator removed the page.
pub(crate) fn is_current(read: &PageRead, removed_at: Option<Timestamp>) -> bool {
    removed_at.is_none_or(|removed_at| read.last_seen_at > removed_at)
}

/// Returns a page that is not shared: nothing but its URL comes from the shared row.
pub(crate) fn private(document: Document, read: PageRead) -> Document {
    Document {
        source_url: read.source_url,
        source_uri: None,
        title: read.title,
        description: read.description,
        mime: read.mime,
        language: read.language,
        country: None,
        labels: read.labels,
        published_at: read.published_at,
        first_seen_at: read.first_seen_at,
        last_seen_at: read.last_seen_at,
        last_crawled_at: read.last_crawled_at,
        latest_capture_id: read.latest_capture_id,
        removed_at: None,
        listed: false,
        ..document
    }
}

/// Returns a shared page with the content that the organization read.
fn as_read(document: Document, read: PageRead) -> Document {
    let document = seen(document, &read);
    Document {
        title: read.title.or(document.title),
        description: read.description.or(document.description),
        mime: read.mime,
        language: read.language.or(document.language),
        published_at: read.published_at.or(document.published_at),
        last_crawled_at: read.last_crawled_at,
        latest_capture_id: read.latest_capture_id,
        ..document
    }
}

/// Adds the times of the organization's own reading.
fn seen(document: Document, read: &PageRead) -> Document {
    Document {
        first_seen_at: min(document.first_seen_at, read.first_seen_at),
        last_seen_at: max(document.last_seen_at, read.last_seen_at),
        ..document
    }
}
