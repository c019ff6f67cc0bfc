//! Distances beyond which there are no candidates, estimated from a sample of the documents.
//!
//! A scan that begins with them visits little more than the candidates. Without them, a scan takes several times as many vectors for
//! candidates before it has seen enough nearer ones.

use tantivy::DocId;

use super::exact::Comparison;
use super::passages::PASSAGES;
use super::{LargeSegment, PRELOADED, kernels};

/// Minimum number of vectors of the sample within the distance. Fewer tell too little.
const ENOUGH: usize = 100;

/// Number of candidates that are expected within the distance, relative to the number that is needed: the sample may be unlucky.
const MARGIN: f32 = 1.3;

/// Number of vectors around the nearest centers of clusters that are searched for better hits than those of the sample.
const PROBED: usize = 4_096;

/// Number of the nearest of these vectors that are compared, and some for each hit.
const COMPARED: usize = 64;
const COMPARED_PER_HIT: usize = 2;

/// A candidate differs from the query in at most this many standard deviations of the number of bits more than a hit is expected to.
const DEVIATIONS: f32 = 3.0;

/// Nearest vectors of a sample, the nearest ones first.
pub struct Nearest(Vec<Sampled>);

/// Vector near the query. The nearest ones come first.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
struct Near {
    distance: u16,
    segment: u32,
    position: u32,
}

struct Sampled {
    vector: Near,
    /// Number of candidates that it stands for.
    candidates: f32,
}

impl Nearest {
    /// Returns as many vectors of the samples as the bounds of `limit` candidates and `hits` hits need.
    pub fn new(segments: &[LargeSegment], limit: usize, hits: usize) -> Self {
        let mut sampled = Vec::new();
        for (number, segment) in segments.iter().enumerate() {
            add_segment(number, segment, &mut sampled);
        }
        let least = sampled.iter().map(|sampled| sampled.candidates).fold(f32::INFINITY, f32::min);
        let of_candidates = (MARGIN * limit as f32 / least) as usize + 2;
        let needed = of_candidates.max(ENOUGH).max(compared(hits));
        if needed < sampled.len() {
            sampled.select_nth_unstable_by_key(needed, |sampled| sampled.vector.distance);
            sampled.truncate(needed);
        }
        sampled.sort_unstable_by_key(|sampled| sampled.vector.distance);
        Self(sampled)
    }

    /// Returns a distance within which there probably are `limit` candidates; `None` if the sample does not tell one.
    pub fn bound(&self, limit: usize) -> Option<u16> {
        let mut expected = 0.0;
        let is_enough = |sampled: &Sampled| {
            expected += sampled.candidates;
            expected >= MARGIN * limit as f32
        };
        let at = self.0.iter().position(is_enough)?;
        self.0.get(at.max(ENOUGH - 1)).map(|sampled| sampled.vector.distance)
    }

    /// Returns the distance within which the best documents are found: they are not worse than the best of the sample and of the nearest
    /// clusters, whose nearest vectors are compared. `None` if these are of fewer than `hits` documents.
    pub fn bound_of_hits(&self, segments: &[LargeSegment], hits: usize, comparison: &mut Comparison) -> Option<u16> {
        let mut nearest: Vec<Near> = self.0.iter().take(compared(hits)).map(|sampled| sampled.vector).collect();
        for (number, segment) in segments.iter().enumerate() {
            add_nearest_clusters(number, segment, &mut nearest);
        }
        if compared(hits) < nearest.len() {
            nearest.select_nth_unstable(compared(hits));
            nearest.truncate(compared(hits));
        }
        let mut best: Vec<(u32, DocId, f32)> = Vec::new();
        for nearest in nearest.chunks(PRELOADED) {
            let vector = |Near { segment, position, .. }: &Near| {
                let LargeSegment { sketches, columns, .. } = &segments[*segment as usize];
                (*segment, sketches.vectors[*position as usize], &columns.vectors)
            };
            for (_, vector, columns) in nearest.iter().map(vector) {
                comparison.preload(columns, vector.row);
            }
            best.extend(nearest.iter().map(vector).filter_map(|(segment, vector, columns)| {
                Some((segment, vector.doc, comparison.best(columns, [vector.row].into_iter())?))
            }));
        }
        best.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)));
        best.dedup_by_key(|(segment, doc, _)| (*segment, *doc));
        best.sort_unstable_by(|a, b| b.2.total_cmp(&a.2));
        let (.., least) = best.get(hits.checked_sub(1)?)?;
        segments.iter().map(|segment| segment.query.distance_within(*least, DEVIATIONS)).max()
    }
}

/// Returns the number of vectors that are compared.
fn compared(hits: usize) -> usize {
    hits.saturating_mul(COMPARED_PER_HIT).saturating_add(COMPARED)
}

/// Adds the sample of a segment.
fn add_segment(number: usize, segment: &LargeSegment, sampled: &mut Vec<Sampled>) {
    let LargeSegment { sketches, query, filter, .. } = segment;
    let sample = &sketches.sample;
    let mut distances = vec![0; sample.docs.len()];
    kernels::distances(&sample.bits, &query.bits, &mut distances);
    let mut nearest: Vec<(u16, u32)> = Vec::new();
    let mut start = 0;
    for docs in sample.docs.chunk_by(|a, b| a == b) {
        let passages = start..start + docs.len();
        start = passages.end;
        if !filter.admits(docs[0]) {
            continue;
        }
        nearest.clear();
        nearest.extend(passages.map(|at| (query.expected(distances[at]), sample.positions[at])));
        nearest.sort_unstable();
        // Each of its vectors draws a document, so it stands for fewer the more it has.
        let candidates = (sample.step as f32 / docs.len() as f32).max(1.0);
        sampled.extend(nearest.iter().take(PASSAGES).map(|(distance, position)| Sampled {
            vector: Near { distance: *distance, segment: number as u32, position: *position },
            candidates,
        }));
    }
}

/// Adds the nearest vector of each document around the nearest centers of a segment, with its distance and position.
fn add_nearest_clusters(number: usize, segment: &LargeSegment, nearest: &mut Vec<Near>) {
    let LargeSegment { sketches, query, filter, .. } = segment;
    let words = query.bits.len();
    let mut distances = Vec::new();
    for range in sketches.clusters.nearest(&query.bits, PROBED) {
        distances.resize(range.len(), 0);
        kernels::distances(&sketches.bits[range.start * words..range.end * words], &query.bits, &mut distances);
        let mut start = 0;
        for passages in sketches.vectors[range.clone()].chunk_by(|a, b| a.doc == b.doc) {
            let first = start;
            start += passages.len();
            if filter.admits(passages[0].doc) {
                let distances = (first..).zip(&distances[first..start]);
                nearest.extend(distances.min_by_key(|(_, distance)| **distance).map(|(at, distance)| Near {
                    distance: query.expected(*distance),
                    segment: number as u32,
                    position: (range.start + at) as u32,
                }));
            }
        }
    }
}
