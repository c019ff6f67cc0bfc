//! Freshness of captures: decides if a web page must be fetched before a read.

use std::time::Duration;

use docstore::{Capture, VisibleDocument};
use model::{Collection, Timestamp};

use super::ReadRequest;

/// Maximum ages of captures.
#[derive(Clone, Copy, Debug)]
pub struct CaptureLifetimes {
    /// Captures of text from a search result.
    pub snippet: Duration,
    /// Captures of a whole page.
    pub document: Duration,
}

/// Returns true if the stored capture does not answer the request: the page must be fetched, if the request permits that.
pub fn needs_fetch(
    visible: &VisibleDocument,
    capture: Option<&Capture>,
    request: &ReadRequest,
    lifetimes: CaptureLifetimes,
    now: Timestamp,
) -> bool {
    if request.include.metadata_only() || visible.document.collection != Collection::Web {
        return false;
    }
    let Some(capture) = capture else { return true };
    let is_snippet = capture.format.is_snippet();
    let lifetime = request.max_age.unwrap_or(if is_snippet { lifetimes.snippet } else { lifetimes.document });
    capture.content.trim().is_empty()
        || capture.captured_at + lifetime <= now
        || visible.stale_at.is_some_and(|stale_at| stale_at >= capture.captured_at)
        || (is_snippet && request.needs_whole_page())
}

#[cfg(test)]
mod tests {
    use docstore::{Document, Strings};
    use model::{CaptureFormat, CaptureId, DocId, OrganizationId};
    use uuid::Uuid;

    use super::super::{ContentFormat, Include, Selection, Target};
    use super::*;
    use crate::Deadline;

    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
    const LIFETIMES: CaptureLifetimes =
        CaptureLifetimes { snippet: Duration::from_secs(900), document: Duration::from_hours(24) };

    fn document() -> VisibleDocument {
        let document = Document {
            doc_id: DocId(Uuid::nil()),
            collection: Collection::Web,
            canonical_url: "https://example.com/".to_owned(),
            source_url: "https://example.com/".to_owned(),
            source_uri: None,
            title: None,
            description: None,
            mime: None,
            language: None,
            country: None,
            labels: Strings(Vec::new()),
            published_at: None,
            first_seen_at: NOW,
            last_seen_at: NOW,
            last_crawled_at: None,
            latest_capture_id: None,
            removed_at: None,
            listed: true,
        };
        VisibleDocument { document, stale_at: None, granted_at: Some(Timestamp::UNIX_EPOCH), shown_capture_id: None }
    }

    fn capture(format: CaptureFormat, age_seconds: i64) -> Capture {
        Capture {
            capture_id: CaptureId(Uuid::nil()),
            doc_id: DocId(Uuid::nil()),
            captured_at: Timestamp::from_millis(NOW.as_millis() - age_seconds * 1_000),
            format,
            content_digest: String::new(),
            content: "Content.".to_owned(),
            headings: Strings(Vec::new()),
            fetched_from: None,
            etag: None,
            last_modified: None,
            organization_id: None,
            parts: None,
        }
    }

    fn request(selection: Selection) -> ReadRequest {
        ReadRequest {
            target: Target::DocId(DocId(Uuid::nil())),
            include: Include::ALL,
            query: None,
            selection,
            format: ContentFormat::Markdown,
            max_chars: None,
            include_offsets: false,
            passage_ids: Vec::new(),
            range: None,
            max_passages: None,
            whole_page: false,
            max_age: None,
            cache_only: false,
            capture_id: None,
            deadline: Deadline::default(),
        }
    }

    fn fetched(document: &VisibleDocument, capture: Option<&Capture>, request: &ReadRequest) -> bool {
        needs_fetch(document, capture, request, LIFETIMES, NOW)
    }

    #[test]
    fn expired_capture_is_fetched_again() {
        let whole = request(Selection::FullDocument);
        for (format, age, expected) in [
            (CaptureFormat::Markdown, 0, false),
            (CaptureFormat::Markdown, 901, false),
            (CaptureFormat::Markdown, 86_399, false),
            (CaptureFormat::Markdown, 86_400, true),
            // Captured by a server whose clock is ahead.
            (CaptureFormat::Markdown, -60, false),
        ] {
            assert_eq!(fetched(&document(), Some(&capture(format, age)), &whole), expected, "{format} {age}");
        }
        for (age, expected) in [(0, false), (899, false), (900, true)] {
            let part = request(Selection::TopPassages);
            assert_eq!(fetched(&document(), Some(&capture(CaptureFormat::Text, age)), &part), expected, "text {age}");
        }
    }

    #[test]
    fn requested_age_replaces_the_lifetime() {
        let aged =
            |seconds| ReadRequest { max_age: Some(Duration::from_secs(seconds)), ..request(Selection::FullDocument) };
        for (age, max_age, expected) in
            [(0, 0, true), (60, 61, false), (60, 60, true), (100_000, 100_001, false), (100_000, u64::MAX, false)]
        {
            let stored = capture(CaptureFormat::Markdown, age);
            assert_eq!(fetched(&document(), Some(&stored), &aged(max_age)), expected, "{age} {max_age}");
        }
        assert!(fetched(&document(), Some(&capture(CaptureFormat::Text, 1)), &aged(60)), "a snippet is no document");
        let stale = VisibleDocument { stale_at: Some(NOW), ..document() };
        assert!(fetched(&stale, Some(&capture(CaptureFormat::Markdown, 1)), &aged(60)));
    }

    #[test]
    fn missing_or_empty_capture_is_fetched() {
        let whole = request(Selection::FullDocument);
        assert!(fetched(&document(), None, &whole));
        let empty = Capture { content: " \n".to_owned(), ..capture(CaptureFormat::Markdown, 0) };
        assert!(fetched(&document(), Some(&empty), &whole));
    }

    #[test]
    fn snippet_does_not_satisfy_a_full_document_read() {
        assert!(fetched(&document(), Some(&capture(CaptureFormat::Text, 0)), &request(Selection::FullDocument)));
        for selection in [Selection::None, Selection::QueryRelevant, Selection::TopPassages, Selection::PassageIds] {
            assert!(!fetched(&document(), Some(&capture(CaptureFormat::Text, 0)), &request(selection)));
            let whole = ReadRequest { whole_page: true, ..request(selection) };
            assert!(fetched(&document(), Some(&capture(CaptureFormat::Text, 0)), &whole));
            assert!(!fetched(&document(), Some(&capture(CaptureFormat::Markdown, 0)), &whole));
            let stored = ReadRequest { cache_only: true, ..whole };
            assert!(!fetched(&document(), Some(&capture(CaptureFormat::Text, 0)), &stored));
        }
    }

    #[test]
    fn metadata_reads_and_workspace_files_never_fetch() {
        let metadata = Include { metadata: true, passages: false, capture_history: false, content: false };
        let metadata = ReadRequest { include: metadata, ..request(Selection::FullDocument) };
        assert!(!fetched(&document(), None, &metadata));
        let mut file = document();
        file.document.collection = Collection::Workspace(OrganizationId(Uuid::nil()));
        assert!(!fetched(&file, Some(&capture(CaptureFormat::Markdown, 1_000_000)), &request(Selection::FullDocument)));
    }

    #[test]
    fn stale_document_is_fetched_once() {
        let whole = request(Selection::FullDocument);
        let stale = VisibleDocument { stale_at: Some(NOW - Duration::from_secs(10)), ..document() };
        assert!(fetched(&stale, Some(&capture(CaptureFormat::Markdown, 20)), &whole));
        assert!(!fetched(&stale, Some(&capture(CaptureFormat::Markdown, 5)), &whole));
    }
}
