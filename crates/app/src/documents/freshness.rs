//! Whether what is stored of a web page answers a request, or the page is fetched first.

use std::time::Duration;

use docstore::{Capture, Document};

use super::{ReadRequest, Selection};

/// How old captures may become.
#[derive(Clone, Copy, Debug)]
pub struct CaptureLifetimes {
    /// Of those that come from a search result.
    pub snippet: Duration,
    /// Of those that were fetched whole.
    pub document: Duration,
}

/// Whether the page must be fetched. `now` in milliseconds since the Unix epoch.
pub fn needs_fetch(
    document: &Document,
    capture: Option<&Capture>,
    request: &ReadRequest,
    lifetimes: CaptureLifetimes,
    now: i64,
) -> bool {
    if request.include.metadata_only() || document.organization_id.is_some() {
        return false;
    }
    let Some(capture) = capture else { return true };
    let is_snippet = is_snippet(capture);
    let lifetime = if is_snippet { lifetimes.snippet } else { lifetimes.document };
    let lifetime = i64::try_from(lifetime.as_millis()).unwrap_or(i64::MAX);
    capture.content.trim().is_empty()
        || now.saturating_sub(capture.captured_at) >= lifetime
        || document.stale_at.is_some_and(|stale_at| stale_at >= capture.captured_at)
        || (is_snippet && request.selection == Selection::FullDocument)
}

/// Whether the capture holds what a search result showed, not the whole page.
pub fn is_snippet(capture: &Capture) -> bool {
    capture.format == "text"
}

#[cfg(test)]
mod tests {
    use docstore::{Id, Strings};
    use uuid::Uuid;

    use super::super::{ContentFormat, Include, Target};
    use super::*;

    const NOW: i64 = 1_790_000_000_000;
    const LIFETIMES: CaptureLifetimes =
        CaptureLifetimes { snippet: Duration::from_secs(900), document: Duration::from_hours(24) };

    fn document() -> Document {
        Document {
            doc_id: Id(Uuid::nil()),
            organization_id: None,
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
            stale_at: None,
        }
    }

    fn capture(format: &str, age_seconds: i64) -> Capture {
        Capture {
            capture_id: Id(Uuid::nil()),
            doc_id: Id(Uuid::nil()),
            captured_at: NOW - age_seconds * 1_000,
            format: format.to_owned(),
            content_digest: String::new(),
            content: "Content.".to_owned(),
            headings: Strings(Vec::new()),
            fetched_from: None,
            etag: None,
            last_modified: None,
        }
    }

    fn request(selection: Selection) -> ReadRequest {
        ReadRequest {
            target: Target::DocId(Uuid::nil()),
            include: Include::ALL,
            query: None,
            selection,
            format: ContentFormat::Markdown,
            max_chars: None,
            include_offsets: false,
            passage_ids: Vec::new(),
            range: None,
        }
    }

    fn fetched(document: &Document, capture: Option<&Capture>, request: &ReadRequest) -> bool {
        needs_fetch(document, capture, request, LIFETIMES, NOW)
    }

    #[test]
    fn a_page_is_fetched_when_its_capture_has_had_its_time() {
        let whole = request(Selection::FullDocument);
        for (format, age, expected) in [
            ("markdown", 0, false),
            ("markdown", 901, false),
            ("markdown", 86_399, false),
            ("markdown", 86_400, true),
            // From a clock ahead of ours.
            ("markdown", -60, false),
        ] {
            assert_eq!(fetched(&document(), Some(&capture(format, age)), &whole), expected, "{format} {age}");
        }
        for (age, expected) in [(0, false), (899, false), (900, true)] {
            let part = request(Selection::TopPassages);
            assert_eq!(fetched(&document(), Some(&capture("text", age)), &part), expected, "text {age}");
        }
    }

    #[test]
    fn what_was_never_read_or_has_no_text_is_fetched() {
        let whole = request(Selection::FullDocument);
        assert!(fetched(&document(), None, &whole));
        let empty = Capture { content: " \n".to_owned(), ..capture("markdown", 0) };
        assert!(fetched(&document(), Some(&empty), &whole));
    }

    #[test]
    fn the_full_document_is_more_than_a_snippet() {
        assert!(fetched(&document(), Some(&capture("text", 0)), &request(Selection::FullDocument)));
        for selection in [Selection::None, Selection::QueryRelevant, Selection::TopPassages, Selection::PassageIds] {
            assert!(!fetched(&document(), Some(&capture("text", 0)), &request(selection)));
        }
    }

    #[test]
    fn metadata_alone_and_files_are_never_fetched() {
        let metadata = Include { metadata: true, passages: false, capture_history: false, content: false };
        let metadata = ReadRequest { include: metadata, ..request(Selection::FullDocument) };
        assert!(!fetched(&document(), None, &metadata));
        let file = Document { organization_id: Some(Id(Uuid::nil())), ..document() };
        assert!(!fetched(&file, Some(&capture("markdown", 1_000_000)), &request(Selection::FullDocument)));
    }

    #[test]
    fn what_is_said_to_be_stale_is_fetched_once() {
        let whole = request(Selection::FullDocument);
        let stale = Document { stale_at: Some(NOW - 10_000), ..document() };
        assert!(fetched(&stale, Some(&capture("markdown", 20)), &whole));
        assert!(!fetched(&stale, Some(&capture("markdown", 5)), &whole));
    }
}
