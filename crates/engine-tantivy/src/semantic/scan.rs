//! Selection of candidates by their sketches and that of the query.

use super::sketches::QuerySketch;
use super::{LargeSegment, Threads, kernels, parallel};

/// Number of vectors whose distances are computed at a time. They fit into the CPU cache.
const CHUNK: usize = 4_096;

/// Minimum number of vectors per thread. For fewer, starting a thread costs more than it saves.
const VECTORS_PER_THREAD: usize = 100_000;

/// Maximum number of candidates per document, so that a long document does not displace all others.
const PASSAGES: usize = 4;

/// Vector that may be among the nearest.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Candidate {
    /// Distance that is expected from the sketch.
    distance: u16,
    pub segment: usize,
    pub position: usize,
}

/// Returns the `limit` vectors with the nearest sketches, in any order. The result does not depend on `threads`.
pub fn nearest(
    segments: &[LargeSegment],
    query: &[i8],
    limit: usize,
    threads: &Threads,
) -> tantivy::Result<Vec<Candidate>> {
    let queries: Vec<QuerySketch> = segments.iter().map(|segment| segment.sketches.query(query)).collect();
    let total: usize = segments.iter().map(|segment| segment.sketches.len()).sum();
    // Scans a share of the vectors of all segments, numbered one after the other.
    let scan = |part: usize, parts: usize| {
        let mut collector = Collector::new(limit);
        let (start, end) = (total * part / parts, total * (part + 1) / parts);
        let mut offset = 0;
        for (number, segment) in segments.iter().enumerate() {
            let length = segment.sketches.len();
            let position = |at: usize| segment.sketches.document_start(at.saturating_sub(offset).min(length));
            scan_range(segment, number, &queries[number], position(start)..position(end), &mut collector);
            offset += length;
        }
        collector.candidates
    };
    let scan_all = |parts: usize| parallel::join(0, 1..parts, &|part: usize| scan(part, parts));
    let mut all = threads.use_up_to(total / VECTORS_PER_THREAD, scan_all)?;
    if all.len() > limit {
        all.select_nth_unstable(limit - 1);
        all.truncate(limit);
    }
    Ok(all)
}

/// Offers the vectors of a range, which begins and ends with a document, to the collector.
fn scan_range(
    segment: &LargeSegment,
    number: usize,
    query: &QuerySketch,
    range: std::ops::Range<usize>,
    collector: &mut Collector,
) {
    let sketches = &segment.sketches;
    let mut distances = vec![0; CHUNK];
    let mut start = range.start;
    while start < range.end {
        let end = sketches.document_start(range.end.min(start + CHUNK)).min(range.end);
        distances.resize(end - start, 0);
        let words = query.bits.len();
        kernels::distances(&sketches.bits[start * words..end * words], &query.bits, &mut distances);
        let mut next = 0;
        let mut needed = collector.needed();
        let mut bits = query.bits_within(needed);
        while let Some(most) = bits
            && let Some(found) = kernels::first_within(&distances[next..], most)
        {
            let at = next + found;
            let doc = sketches.docs[start + at];
            let passages = of_document(&sketches.docs[start..end], at);
            next = passages.end;
            if !segment.filter.admits(doc) {
                continue;
            }
            let distance = |at: usize| query.expected(distances[at]);
            let candidate = |at: usize| Candidate { distance: distance(at), segment: number, position: start + at };
            if passages.len() == 1 {
                collector.offer(candidate(at));
            } else {
                let mut passages: Vec<Candidate> = passages.map(candidate).collect();
                passages.sort_unstable();
                passages.into_iter().take(PASSAGES).for_each(|passage| collector.offer(passage));
            }
            if collector.needed() != needed {
                needed = collector.needed();
                bits = query.bits_within(needed);
            }
        }
        start = end;
    }
}

/// Returns the range of equal documents around a position.
fn of_document(docs: &[u32], at: usize) -> std::ops::Range<usize> {
    let before = docs[..at].iter().rev().take_while(|doc| **doc == docs[at]).count();
    let after = docs[at..].iter().take_while(|doc| **doc == docs[at]).count();
    at - before..at + after
}

/// Collector of the nearest candidates. Documents are offered in ascending order of segments and positions.
struct Collector {
    limit: usize,
    /// Distance of the furthest candidate that may be among the nearest.
    furthest: u16,
    /// Numbers of candidates by distance.
    counts: Vec<usize>,
    /// Number of candidates up to the distance `furthest`.
    count: usize,
    candidates: Vec<Candidate>,
}

impl Collector {
    fn new(limit: usize) -> Self {
        let counts = vec![0; usize::from(u16::MAX) + 1];
        Self { limit: limit.max(1), furthest: u16::MAX, counts, count: 0, candidates: Vec::new() }
    }

    fn offer(&mut self, candidate: Candidate) {
        let is_full = self.count >= self.limit;
        if candidate.distance > self.furthest || is_full && candidate.distance == self.furthest {
            return;
        }
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

    /// Returns the largest distance that the next document needs. Later candidates of the largest distance come after those
    /// that are known.
    fn needed(&self) -> u16 {
        if self.count >= self.limit { self.furthest.saturating_sub(1) } else { self.furthest }
    }
}
