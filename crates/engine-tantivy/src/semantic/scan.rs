//! Selection of candidates by their sketches and that of the query.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use tantivy::DocId;

use super::bound::Nearest;
use super::exact::Comparison;
use super::passages::{self, PASSAGES, of_document};
use super::sketches::{QuerySketch, Sketches};
use super::{LargeSegment, Threads, kernels, parallel};

/// Number of vectors whose distances are computed at a time. They fit into the CPU cache.
const CHUNK: usize = 4_096;

/// Number of vectors that a thread takes at a time.
const PART: usize = 32_768;

/// Minimum number of vectors per thread. For fewer, starting a thread costs more than it saves.
const VECTORS_PER_THREAD: usize = 100_000;

/// Vector that may be among the nearest.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Distance that is expected from both sketches.
    distance: u16,
    pub segment: u32,
    /// Position among the sketches of the segment.
    position: u32,
    pub doc: DocId,
    /// First value in the column of codes.
    pub row: u32,
    /// Closer estimate of the cosine.
    pub cosine: f32,
}

/// Returns the `limit` vectors with the nearest sketches, in the order of documents, but for those that are too far to be one of the best
/// `hits` documents. The result does not depend on `threads`.
pub fn nearest(
    segments: &[LargeSegment],
    limit: usize,
    hits: usize,
    comparison: &mut Comparison,
    threads: &Threads,
) -> tantivy::Result<Vec<Candidate>> {
    let sample = Nearest::new(segments, limit, hits);
    let of_hits = sample.bound_of_hits(segments, hits, comparison).unwrap_or(u16::MAX);
    if let Some(bound) = sample.bound(limit).filter(|bound| *bound < of_hits) {
        let found = nearest_within(segments, bound, limit, threads)?;
        if found.len() >= limit {
            return Ok(found);
        }
    }
    nearest_within(segments, of_hits, limit, threads)
}

/// Returns the `limit` vectors with the nearest sketches of those within a distance.
fn nearest_within(
    segments: &[LargeSegment],
    bound: u16,
    limit: usize,
    threads: &Threads,
) -> tantivy::Result<Vec<Candidate>> {
    let parts = parts(segments, bound);
    // A thread takes the next part when it is done with one: another thread may begin late, or be interrupted.
    let next = AtomicUsize::new(0);
    let scan_parts = |()| {
        let mut collector = Collector::new(limit, bound);
        let taken = std::iter::repeat_with(|| parts.get(next.fetch_add(1, Ordering::Relaxed)));
        for (number, ranges) in taken.map_while(|part| part) {
            ranges.iter().for_each(|range| scan_range(&segments[*number], *number, range.clone(), &mut collector));
        }
        collector.candidates
    };
    let scan_all = |threads: usize| parallel::join((), (1..threads).map(|_| ()), &scan_parts);
    let total: usize = parts.iter().flat_map(|(_, ranges)| ranges).map(ExactSizeIterator::len).sum();
    let mut all = threads.use_up_to(total / VECTORS_PER_THREAD, scan_all)?;
    // In the order in which they are offered, which decides between candidates at the same distance.
    all.sort_unstable_by_key(|candidate| (candidate.segment, candidate.position));
    keep_nearest(&mut all, limit);
    all.sort_unstable_by_key(|candidate| (candidate.segment, candidate.doc, candidate.row));
    Ok(all)
}

/// Returns the ranges of positions that are scanned for vectors within a distance, in parts with the number of their segment.
fn parts(segments: &[LargeSegment], bound: u16) -> Vec<(usize, Vec<Range<usize>>)> {
    let mut parts = Vec::new();
    for (number, LargeSegment { sketches, query, .. }) in segments.iter().enumerate() {
        let mut part = Vec::new();
        let mut length = 0;
        let Some(bits) = query.bits_within(bound) else { continue };
        for range in sketches.clusters.within(&query.bits, bits) {
            let mut start = range.start;
            while start < range.end {
                let end = sketches.document_start(range.end.min(start + PART - length)).min(range.end);
                part.push(start..end);
                length += end - start;
                start = end;
                if length >= PART {
                    parts.push((number, std::mem::take(&mut part)));
                    length = 0;
                }
            }
        }
        if !part.is_empty() {
            parts.push((number, part));
        }
    }
    parts
}

/// Keeps the `limit` nearest candidates, the first ones of those at the same distance, in their order.
fn keep_nearest(candidates: &mut Vec<Candidate>, limit: usize) {
    if candidates.len() <= limit {
        return;
    }
    let mut distances: Vec<u16> = candidates.iter().map(|candidate| candidate.distance).collect();
    let (_, furthest, _) = distances.select_nth_unstable(limit.saturating_sub(1));
    let furthest = *furthest;
    let nearer = candidates.iter().filter(|candidate| candidate.distance < furthest).count();
    let mut of_furthest = limit.saturating_sub(nearer);
    candidates.retain(|candidate| {
        let is_first = candidate.distance == furthest && of_furthest > 0;
        of_furthest -= usize::from(is_first);
        is_first || candidate.distance < furthest
    });
}

/// Offers the vectors of a range, which begins and ends with a document, to the collector.
fn scan_range(segment: &LargeSegment, number: usize, range: Range<usize>, collector: &mut Collector) {
    let LargeSegment { sketches, query, filter, .. } = segment;
    // Of the first bound, not of the present one: what a thread finds must not depend on what it has found before.
    let leading = query.bits_within(collector.bound).and_then(|bits| sketches.leading_limit(bits));
    let (mut distances, mut within) = (Vec::new(), Vec::new());
    let mut start = range.start;
    while start < range.end {
        let end = sketches.document_start(range.end.min(start + CHUNK)).min(range.end);
        let vectors = &sketches.vectors[start..end];
        if let Some(bits) = query.bits_within(collector.needed()) {
            within_bits(sketches, query, start..end, bits, leading, &mut distances, &mut within);
        }
        passages::preload(vectors, within.iter().map(|at| *at as usize));
        sketches.preload(within.iter().map(|at| start + *at as usize));
        let mut next = 0;
        for at in within.drain(..).map(|at| at as usize) {
            if at < next {
                continue;
            }
            let passages = of_document(vectors, at);
            next = passages.end;
            let doc = vectors[at].doc;
            if !filter.admits(doc) {
                continue;
            }
            let distance = |at: usize| query.expected(kernels::distance(sketches.sketch(start + at), &query.bits));
            let mut offer = |at: usize, distance: u16| {
                if collector.accepts(distance) {
                    let (row, cosine) = (vectors[at].row, sketches.cosine(start + at, query));
                    let (segment, position) = (number as u32, (start + at) as u32);
                    collector.add(Candidate { distance, segment, position, doc, row, cosine });
                }
            };
            if passages.len() == 1 {
                offer(at, distance(at));
            } else {
                let mut passages: Vec<(u16, usize)> = passages.map(|at| (distance(at), at)).collect();
                passages.sort_unstable();
                passages.truncate(PASSAGES);
                // Back in the order of the document, as all candidates are.
                passages.sort_unstable_by_key(|(_, at)| *at);
                passages.into_iter().for_each(|(distance, at)| offer(at, distance));
            }
        }
        start = end;
    }
}

/// Appends the positions, in a range, of the vectors whose sketches differ in at most `bits` bits. If there is a limit of the leading
/// words, a few vectors that differ in nearly as many are left out.
fn within_bits(
    sketches: &Sketches,
    query: &QuerySketch,
    range: Range<usize>,
    bits: u16,
    leading: Option<u16>,
    distances: &mut Vec<u16>,
    positions: &mut Vec<u32>,
) {
    distances.resize(range.len(), 0);
    let Some(limit) = leading else {
        let words = query.bits.len();
        kernels::distances(&sketches.bits[range.start * words..range.end * words], &query.bits, distances);
        return kernels::positions_within(distances, bits, positions);
    };
    let words = sketches.leading.len() / sketches.len().max(1);
    let leading = &sketches.leading[range.start * words..range.end * words];
    kernels::distances(leading, &query.bits[..words], distances);
    kernels::positions_within(distances, limit, positions);
    let distance = |at: u32| kernels::distance(sketches.sketch(range.start + at as usize), &query.bits);
    positions.retain(|at| distance(*at) <= bits);
}

/// Collector of the nearest candidates. Documents are offered in ascending order of segments and positions.
struct Collector {
    limit: usize,
    bound: u16,
    /// Distance of the furthest candidate that may be among the nearest.
    furthest: u16,
    /// Numbers of candidates by distance.
    counts: Vec<usize>,
    /// Number of candidates up to the distance `furthest`.
    count: usize,
    candidates: Vec<Candidate>,
}

impl Collector {
    /// Creates a collector of candidates within a distance.
    fn new(limit: usize, bound: u16) -> Self {
        let counts = vec![0; usize::from(bound) + 1];
        Self { limit: limit.max(1), bound, furthest: bound, counts, count: 0, candidates: Vec::new() }
    }

    /// Tells if a candidate at this distance may be among the nearest.
    fn accepts(&self, distance: u16) -> bool {
        distance < self.furthest || distance == self.furthest && self.count < self.limit
    }

    /// Adds a candidate that it accepts.
    fn add(&mut self, candidate: Candidate) {
        self.candidates.push(candidate);
        self.counts[usize::from(candidate.distance)] += 1;
        self.count += 1;
        while self.furthest > 0 && self.count - self.counts[usize::from(self.furthest)] >= self.limit {
            self.count -= self.counts[usize::from(self.furthest)];
            self.furthest -= 1;
        }
        if self.candidates.len() >= self.limit.saturating_mul(4) {
            self.candidates.retain(|candidate| candidate.distance <= self.furthest);
        }
    }

    /// Returns the largest distance that the next candidate needs. Later candidates of the largest distance come after those
    /// that are known.
    fn needed(&self) -> u16 {
        if self.count >= self.limit { self.furthest.saturating_sub(1) } else { self.furthest }
    }
}
