//! Comparison of quotes with the stored captures.

use std::collections::BTreeMap;

use app::documents::{ContentFormat, Include, Range, ReadOutcome, ReadRequest, Selection, Target};
use app::{Deadline, Error, Viewer, Work};
use futures_util::future::join_all;
use model::{CaptureId, DocId};
use retrieval_core::chars;

use super::step::OUTAGE_DELAY;
use crate::engine::{Check, CitationCheck, verify};
use crate::runs::Research;

impl Research {
    /// Compares quotes with the captures that they name. A quote whose capture cannot be read is not found.
    pub(super) async fn check(&self, viewer: &Viewer, citations: &[CitationCheck]) -> Vec<Check> {
        let mut by_capture: BTreeMap<(DocId, CaptureId), Vec<CitationCheck>> = BTreeMap::new();
        for citation in citations {
            by_capture.entry((citation.doc_id, citation.capture_id)).or_default().push(citation.clone());
        }
        let mut checking = Vec::with_capacity(by_capture.len());
        for ((_, capture_id), citations) in by_capture {
            checking.push(self.check_capture(viewer, capture_id, citations));
        }
        join_all(checking).await.concat()
    }

    async fn check_capture(&self, viewer: &Viewer, capture_id: CaptureId, citations: Vec<CitationCheck>) -> Vec<Check> {
        let mut checks = Vec::with_capacity(citations.len());
        let window = Window::around(&citations);
        let near = match (citations.first(), &window) {
            (Some(first), Some(window)) => self.content(viewer, first.doc_id, capture_id, Some(window)).await,
            _ => None,
        };
        let mut whole: Option<Option<String>> = None;
        for citation in citations {
            let start = window.as_ref().map_or(0, |window| window.start);
            let shifted = CitationCheck {
                char_start: citation.char_start.map(|at| at.saturating_sub(start)),
                ..citation.clone()
            };
            let mut check = verify::compare(&shifted, near.as_deref());
            check.char_start = check.char_start.map(|at| at + start);
            if check.char_start.is_none() {
                if whole.is_none() {
                    whole = Some(self.content(viewer, citation.doc_id, capture_id, None).await);
                }
                check = verify::compare(&citation, whole.as_ref().and_then(|whole| whole.as_deref()));
            }
            if check.char_start.is_none() {
                check.char_start = self.in_passage(viewer, capture_id, &citation).await;
            }
            checks.push(check);
        }
        checks
    }

    /// Returns the text of a capture, or a part of it; `None` if the capture is gone.
    async fn content(
        &self,
        viewer: &Viewer,
        doc_id: DocId,
        capture_id: CaptureId,
        window: Option<&Window>,
    ) -> Option<String> {
        let range = window.map(|window| Range {
            start_char: window.start as u64,
            max_chars: Some(window.chars as u64),
            capture_id: None,
        });
        let include = Include { metadata: false, passages: false, capture_history: false, content: true };
        let request = ReadRequest { include, range, ..request(doc_id, capture_id, Selection::FullDocument) };
        self.stored(viewer, capture_id, request).await?.content.map(|content| content.text)
    }

    /// Looks for a quote in its passage: snippets of searches can be read by passage only.
    async fn in_passage(&self, viewer: &Viewer, capture_id: CaptureId, citation: &CitationCheck) -> Option<usize> {
        let (passage_id, presumed) = (citation.passage_id?, citation.char_start?);
        let include = Include { metadata: false, passages: true, capture_history: false, content: false };
        let passage_ids = vec![passage_id.to_string()];
        let request =
            ReadRequest { include, passage_ids, ..request(citation.doc_id, capture_id, Selection::PassageIds) };
        let passages = self.stored(viewer, capture_id, request).await?.passages?;
        passages.iter().any(|passage| passage.text.contains(&citation.quote)).then_some(presumed)
    }

    /// Reads stored content; `None` unless it is of this capture. Waits for a busy server and for the database: captures that cannot be
    /// read now are not gone.
    async fn stored(&self, viewer: &Viewer, capture_id: CaptureId, request: ReadRequest) -> Option<ReadOutcome> {
        let read = loop {
            let reading = self.app.read_document(viewer, request.clone());
            match self.app.within_share(viewer, Work::Read, reading).await {
                Err(error) if error.is_database_outage() || matches!(error, Error::Overloaded { .. }) => {
                    tokio::time::sleep(OUTAGE_DELAY).await;
                }
                outcome => break outcome.ok()?,
            }
        };
        let is_same = read.capture.as_ref().is_some_and(|capture| capture.capture_id == capture_id);
        is_same.then_some(read)
    }
}

fn request(doc_id: DocId, capture_id: CaptureId, selection: Selection) -> ReadRequest {
    ReadRequest {
        target: Target::DocId(doc_id),
        capture_id: Some(capture_id),
        include: Include { metadata: false, passages: false, capture_history: false, content: false },
        query: None,
        selection,
        format: ContentFormat::Markdown,
        max_chars: None,
        include_offsets: true,
        passage_ids: Vec::new(),
        range: None,
        max_passages: None,
        whole_page: false,
        max_age: None,
        cache_only: true,
        deadline: Deadline::default(),
    }
}

/// Part of a content, in characters.
struct Window {
    start: usize,
    chars: usize,
}

impl Window {
    /// Returns the part that contains all quotes at their presumed positions; `None` if one is unknown.
    fn around(citations: &[CitationCheck]) -> Option<Self> {
        let mut start = usize::MAX;
        let mut end = 0;
        for citation in citations {
            let at = citation.char_start?;
            start = start.min(at);
            end = end.max(at.saturating_add(chars::count(&citation.quote)));
        }
        (start < end).then(|| Self { start, chars: end - start })
    }
}
