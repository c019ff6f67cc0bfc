//! Reads of one or several documents for one answer.

use api_types::{Content, ContentRequest, Passage, ReadDocument, Selection};
use app::documents::ReadRequest;
use app::{Deadline, Work};
use futures_util::{StreamExt, stream};

use crate::call::Context;
use crate::documents::view;
use crate::failure::Failure;
use crate::memory::Gathered;
use crate::pipeline::caught;

/// Concurrent reads of one request.
const CONCURRENT: usize = 8;

/// Maximum characters of the documents of one answer: it is built in memory.
const MAX_CHARS: i64 = 8_000_000;

/// Bytes of a passage beside its text: ids, offsets and headings.
const PASSAGE_BYTES: usize = 256;

/// Returns the maximum characters of each of `count` documents.
pub(crate) fn share(count: usize) -> i64 {
    MAX_CHARS / i64::try_from(count.max(1)).unwrap_or(MAX_CHARS)
}

/// Limits the text of a whole document. Selected passages are few.
pub(crate) fn limit(content: &mut ContentRequest, most: i64) {
    if content.selection == Selection::FullDocument {
        content.max_chars = Some(content.max_chars.map_or(most, |max| max.min(most)));
        if let Some(range) = &mut content.range {
            range.max_chars = range.max_chars.map(|max| max.min(most));
        }
    }
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
    memory.add(bytes_of(document.content.as_ref(), document.passages.as_deref())).await?;
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
    let reads = requests.into_iter().map(async |request| {
        let reading = held(context, request?, deadline, memory);
        caught(reading).await.and_then(|outcome| outcome)
    });
    stream::iter(reads).buffered(CONCURRENT).collect().await
}

/// Estimates the bytes of a document in an answer.
pub(crate) fn bytes_of(content: Option<&Content>, passages: Option<&[Passage]>) -> usize {
    let content = content.map_or(0, |content| content.text.len());
    let passages: usize = passages.into_iter().flatten().map(|passage| passage.text.len() + PASSAGE_BYTES).sum();
    // Ends of lines and quotation marks take two bytes.
    (content + passages) / 16 * 17
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
    use super::*;

    #[test]
    fn documents_share_the_memory_of_an_answer() {
        let limited = |selection, max_chars, count| {
            let mut content = ContentRequest { selection, max_chars, ..ContentRequest::default() };
            limit(&mut content, share(count));
            content.max_chars
        };
        assert_eq!(limited(Selection::FullDocument, None, 1), Some(8_000_000));
        assert_eq!(limited(Selection::FullDocument, None, 50), Some(160_000));
        assert_eq!(limited(Selection::FullDocument, Some(9), 50), Some(9));
        assert_eq!(limited(Selection::TopPassages, None, 50), None, "a limit would select more");
    }
}
