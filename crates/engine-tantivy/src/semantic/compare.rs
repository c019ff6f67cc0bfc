//! Exact comparison of candidates: of the most promising ones, and then of all that may still be among the nearest.

use engine::VectorKind;
use retrieval_core::embeddings::QuantizedVector;
use tantivy::DocId;

use super::exact::Comparison;
use super::scan::Candidate;
use super::{LargeSegment, PRELOADED, Threads, parallel};
use crate::top_hits::TopHits;

/// Number of documents that are compared in any case, and some for each hit.
const FIRST: usize = 500;
const FIRST_PER_HIT: usize = 10;

/// A document is compared if its expected cosine is at most this many errors below the least of the hits.
const MARGIN: f32 = 2.0;

/// Minimum number of documents per thread. For fewer, starting a thread costs more than it saves.
const DOCUMENTS_PER_THREAD: usize = 1_000;

/// Candidates of one document.
struct Document<'a> {
    passages: &'a [Candidate],
    /// Expected cosine of the nearest passage.
    expected: f32,
}

/// Document with the cosine of its nearest candidate.
struct Compared {
    segment: usize,
    doc: DocId,
    cosine: f32,
    expected: f32,
}

/// Offers the documents of the candidates that may be among the first `limit` hits. The candidates are in the order of documents.
pub fn offer_nearest(
    segments: &[LargeSegment],
    candidates: &[Candidate],
    vector: &QuantizedVector,
    kind: VectorKind,
    limit: usize,
    threads: &Threads,
    hits: &mut TopHits,
) -> tantivy::Result<()> {
    let expected = |passages: &[Candidate]| passages.iter().map(|passage| passage.cosine).fold(f32::MIN, f32::max);
    let document = |passages| Document { passages, expected: expected(passages) };
    let mut documents: Vec<Document> =
        candidates.chunk_by(|a, b| (a.segment, a.doc) == (b.segment, b.doc)).map(document).collect();
    let first = limit.saturating_mul(FIRST_PER_HIT).saturating_add(FIRST).min(documents.len());
    if first < documents.len() {
        documents.select_nth_unstable_by(first, |a, b| b.expected.total_cmp(&a.expected));
    }
    let mut others = documents.split_off(first);
    let offer = |compared: &[Compared], hits: &mut TopHits| {
        for Compared { segment, doc, cosine, .. } in compared {
            hits.offer(*cosine, || segments[*segment].columns.ids.id(*doc));
        }
    };
    let compared = compare(segments, &documents, vector, kind, threads)?;
    offer(&compared, hits);
    let needed = hits.least().unwrap_or(f32::MIN) - MARGIN * error(segments, &compared);
    others.retain(|document| document.expected >= needed);
    offer(&compare(segments, &others, vector, kind, threads)?, hits);
    Ok(())
}

/// Returns the error of the expected cosines: that of the compared documents, and at least that of a random vector. The documents that
/// are expected to be nearest are so by errors in their favour, so the others have larger ones.
fn error(segments: &[LargeSegment], compared: &[Compared]) -> f32 {
    let square = |compared: &Compared| (compared.expected - compared.cosine).powi(2);
    let mean_square = compared.iter().map(square).sum::<f32>() / compared.len().max(1) as f32;
    segments.iter().map(|segment| segment.query.levels.error()).fold(mean_square.sqrt(), f32::max)
}

/// Compares the candidates of each document, in their order.
fn compare(
    segments: &[LargeSegment],
    documents: &[Document],
    vector: &QuantizedVector,
    kind: VectorKind,
    threads: &Threads,
) -> tantivy::Result<Vec<Compared>> {
    let compare = |documents: &[Document]| {
        let mut comparison = Comparison::new(vector, kind);
        let mut compared = Vec::with_capacity(documents.len());
        for documents in documents.chunks(PRELOADED) {
            for candidate in documents.iter().flat_map(|document| document.passages) {
                let segment = &segments[candidate.segment as usize];
                comparison.preload(&segment.columns.vectors, candidate.row);
            }
            compared.extend(documents.iter().filter_map(|Document { passages, expected }| {
                let first = passages.first()?;
                let segment = &segments[first.segment as usize];
                let rows = passages.iter().map(|candidate| candidate.row);
                let cosine = comparison.best(&segment.columns.vectors, rows)?;
                Some(Compared { segment: first.segment as usize, doc: first.doc, cosine, expected: *expected })
            }));
        }
        compared
    };
    threads.use_up_to(documents.len() / DOCUMENTS_PER_THREAD, |parts| {
        let mut parts = documents.chunks(documents.len().div_ceil(parts).max(1));
        parallel::join(parts.next().unwrap_or_default(), parts, &compare)
    })
}
