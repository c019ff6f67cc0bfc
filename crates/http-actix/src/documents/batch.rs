//! Reads of one or several documents for one answer.

use api_types::{ContentRange, ContentRequest, ReadDocument, Selection};
use app::documents::ReadRequest;
use app::{Deadline, Work};
use futures_util::{StreamExt, stream};

use crate::call::Context;
use crate::documents::view;
use crate::failure::Failure;
use crate::memory::Gathered;
use crate::metered::length_of;
use crate::pipeline::caught;

/// Concurrent reads of one request.
const CONCURRENT: usize = 8;

/// Maximum characters of the documents of one answer: it is built in memory.
const MAX_CHARS: i64 = 8_000_000;

/// Bytes of a passage beside its text: ids, offsets and headings.
const PASSAGE_BYTES: usize = 256;

/// Bytes of a heading beside its text: quotation marks and a comma.
const HEADING_BYTES: usize = 3;

/// Limit of the text of each document that applies first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Limit {
    /// The maximum in the request.
    Caller,
    /// The budget of the whole response.
    Budget(i64),
    /// The share of [`MAX_CHARS`].
    Share(i64),
}

/// Returns the maximum characters of each of `count` documents.
pub(crate) fn share(count: usize) -> i64 {
    MAX_CHARS / i64::try_from(count.max(1)).unwrap_or(MAX_CHARS)
}

/// Limits the text of a whole document to its share and to a budget. Selected passages are few.
pub(crate) fn limit(content: &mut ContentRequest, budget: Option<i64>, share: i64) -> Limit {
    if content.selection != Selection::FullDocument {
        return Limit::Caller;
    }
    let (most, limit) = match budget {
        Some(budget) if budget <= share => (budget, Limit::Budget(budget)),
        Some(_) | None => (share, Limit::Share(share)),
    };
    let own = match &mut content.range {
        Some(ContentRange { max_chars: Some(max_chars), .. }) => max_chars,
        Some(_) | None => content.max_chars.get_or_insert(i64::MAX),
    };
    if *own <= most {
        return Limit::Caller;
    }
    *own = most;
    limit
}

/// Reads one document.
pub(crate) async fn read(context: &Context, request: ReadRequest, deadline: Deadline) -> Result<ReadDocument, Failure> {
    let reading = context.run_until(deadline, Work::Read, |service, viewer| async move {
        service.read_document(&viewer, request).await
    });
    reading.await.map(view::read_document)
}

/// Reads one document, and takes memory for it until the answer that contains it is complete.
pub(crate) async fn held(
    context: &Context,
    request: ReadRequest,
    deadline: Deadline,
    memory: &Gathered<'_>,
) -> Result<ReadDocument, Failure> {
    let document = read(context, request, deadline).await?;
    memory.add(bytes_of(&document)).await?;
    Ok(document)
}

/// Reads documents, a few at a time, and takes memory for them. Each request is made when its turn comes. Returns the
/// outcomes in order; those that the deadline leaves no time for are `overloaded`.
pub(crate) async fn read_all(
    context: &Context,
    requests: impl IntoIterator<Item = Result<ReadRequest, Failure>>,
    deadline: Deadline,
    memory: &Gathered<'_>,
) -> Vec<Result<ReadDocument, Failure>> {
    let reads = requests
        .into_iter()
        .zip(0_usize..)
        .map(async |(request, number)| (number, read_one(context, request, deadline, memory).await));
    // Unordered: a slow document keeps only its own place, so that the others do not run out of time behind it.
    let mut outcomes: Vec<_> = stream::iter(reads).buffer_unordered(CONCURRENT).collect().await;
    outcomes.sort_unstable_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Reads one of several documents. A panic fails this one only.
async fn read_one(
    context: &Context,
    request: Result<ReadRequest, Failure>,
    deadline: Deadline,
    memory: &Gathered<'_>,
) -> Result<ReadDocument, Failure> {
    caught(held(context, request?, deadline, memory)).await.and_then(|outcome| outcome)
}

/// Estimates the bytes of a document in an answer.
pub(crate) fn bytes_of(document: &ReadDocument) -> usize {
    let content = document.content.as_ref().map_or(0, |content| content.text.len());
    let passages: usize = document.passages.iter().flatten().map(|passage| passage.text.len() + PASSAGE_BYTES).sum();
    let headings: usize = document.doc.headings.iter().map(|heading| heading.len() + HEADING_BYTES).sum();
    // Their details repeat parts of the request.
    let warnings = length_of(&document.warnings).map_or(0, |length| usize::try_from(length.bytes).unwrap_or(0));
    // Ends of lines and quotation marks take two bytes.
    (content + passages + headings + warnings) / 16 * 17
}

/// Returns a failure of the server if every read of every group ended with one: then there is nothing to answer with.
pub(crate) fn fault_of_all<T>(groups: &mut [Vec<Result<T, Failure>>]) -> Option<Failure> {
    let is_fault = |outcome: &Result<T, Failure>| outcome.as_ref().is_err_and(|failure| failure.code.status() >= 500);
    if !groups.iter().flatten().all(is_fault) {
        return None;
    }
    groups.first_mut().and_then(Vec::pop).and_then(Result::err)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn headings_and_warnings_of_a_document_count() {
        let bytes = |headings: Value, warnings: Value| {
            let doc = json!({
                "doc_id": "0190a6d2-6a60-7b11-9c2f-2a8d6e4f7b90",
                "canonical_url": "https://a.example/",
                "source_url": "https://a.example/",
                "first_seen_at": "2026-06-15T12:00:00Z",
                "last_seen_at": "2026-06-15T12:00:00Z",
                "headings": headings,
            });
            let document: ReadDocument = serde_json::from_value(json!({"doc": doc, "warnings": warnings})).unwrap();
            bytes_of(&document)
        };
        assert_eq!(bytes(json!([]), json!([])), 0);
        assert!(bytes(json!(vec!["a"; 10_000]), json!([])) >= 40_000);
        let details = json!({"passage_ids": vec!["b".repeat(100); 1_000]});
        let warning = json!({"code": "stale_passage_id", "message": "m", "details": details});
        assert!(bytes(json!([]), json!([warning])) >= 100_000);
    }

    #[test]
    fn documents_share_the_memory_of_an_answer() {
        let limited = |selection, max_chars, count| {
            let mut content = ContentRequest { selection, max_chars, ..ContentRequest::default() };
            limit(&mut content, None, share(count));
            content.max_chars
        };
        assert_eq!(limited(Selection::FullDocument, None, 1), Some(8_000_000));
        assert_eq!(limited(Selection::FullDocument, None, 50), Some(160_000));
        assert_eq!(limited(Selection::FullDocument, Some(9), 50), Some(9));
        assert_eq!(limited(Selection::TopPassages, None, 50), None, "a limit would select more");
    }

    #[test]
    fn smallest_limit_applies_and_has_its_name() {
        let limited = |max_chars: Option<i64>, range: Option<Option<i64>>, budget: Option<i64>| {
            let range = range.map(|max_chars| ContentRange { max_chars, ..ContentRange::default() });
            let selection = Selection::FullDocument;
            let mut content = ContentRequest { selection, max_chars, range, ..ContentRequest::default() };
            let limit = limit(&mut content, budget, 100);
            (content.range.and_then(|range| range.max_chars).or(content.max_chars), limit)
        };
        assert_eq!(limited(None, None, None), (Some(100), Limit::Share(100)));
        assert_eq!(limited(Some(200), None, Some(300)), (Some(100), Limit::Share(100)));
        assert_eq!(limited(Some(200), Some(None), Some(50)), (Some(50), Limit::Budget(50)));
        assert_eq!(limited(Some(50), None, Some(50)), (Some(50), Limit::Caller));
        assert_eq!(limited(Some(10), Some(Some(80)), Some(70)), (Some(70), Limit::Budget(70)));
        assert_eq!(limited(Some(900), Some(Some(80)), Some(90)), (Some(80), Limit::Caller));
    }
}
