//! Distances beyond which there are no candidates, estimated from a sample of the documents.
//!
//! A scan that begins with them visits little more than the candidates. Without them, a scan takes several times as many vectors for
//! candidates before it has seen enough nearer ones.

use tantivy::DocId;

use super::exact::Comparison;
use super::passages::{self, PASSAGES, of_document};
use super::{LargeSegment, PRELOADED, kernels};

/// One of this many documents is in the sample.
const SAMPLED: usize = 64;

/// Minimum number of vectors of the sample within the distance. Fewer tell too little.
const ENOUGH: usize = 100;

/// Number of candidates that are expected within the distance, relative to the number that is needed: the sample may be unlucky.
const MARGIN: f32 = 1.3;

/// Number of vectors of the sample that are compared, and some for each hit.
const COMPARED: usize = 64;
const COMPARED_PER_HIT: usize = 2;

/// A candidate differs from the query in at most this many standard deviations of the number of bits more than a hit is expected to.
const DEVIATIONS: f32 = 3.0;

/// Vectors of a sample, the nearest ones first.
pub struct Sample(Vec<Sampled>);

struct Sampled {
    distance: u16,
    segment: u32,
    position: u32,
    /// Number of candidates that it stands for.
    candidates: f32,
}

impl Sample {
    pub fn new(segments: &[LargeSegment]) -> Self {
        let mut sample = Vec::new();
        for (number, segment) in segments.iter().enumerate() {
            add_segment(number, segment, &mut sample);
        }
        sample.sort_unstable_by_key(|sampled| sampled.distance);
        Self(sample)
    }

    /// Returns a distance within which there probably are `limit` candidates; `None` if the sample does not tell one.
    pub fn bound(&self, limit: usize) -> Option<u16> {
        let mut expected = 0.0;
        let is_enough = |sampled: &Sampled| {
            expected += sampled.candidates;
            expected >= MARGIN * limit as f32
        };
        let at = self.0.iter().position(is_enough)?;
        self.0.get(at.max(ENOUGH - 1)).map(|sampled| sampled.distance)
    }

    /// Returns the distance within which the best documents are found: they are not worse than the best of the sample, whose vectors are
    /// compared. `None` if the sample has fewer than `hits` documents.
    pub fn bound_of_hits(&self, segments: &[LargeSegment], hits: usize, comparison: &mut Comparison) -> Option<u16> {
        let count = hits.saturating_mul(COMPARED_PER_HIT).saturating_add(COMPARED);
        let compare = |Sampled { segment, position, .. }: &Sampled| {
            let LargeSegment { sketches, columns, .. } = &segments[*segment as usize];
            let vector = &sketches.vectors[*position as usize];
            let cosine = comparison.best(&columns.vectors, [vector.row].into_iter())?;
            Some((*segment, vector.doc, cosine))
        };
        let mut compared: Vec<(u32, DocId, f32)> = self.0.iter().take(count).filter_map(compare).collect();
        compared.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)));
        compared.dedup_by_key(|(segment, doc, _)| (*segment, *doc));
        compared.sort_unstable_by(|a, b| b.2.total_cmp(&a.2));
        let (.., least) = compared.get(hits.checked_sub(1)?)?;
        segments.iter().map(|segment| segment.query.distance_within(*least, DEVIATIONS)).max()
    }
}

/// Adds the sample of a segment.
fn add_segment(number: usize, segment: &LargeSegment, sample: &mut Vec<Sampled>) {
    let LargeSegment { sketches, query, filter, columns } = segment;
    let vectors = sketches.len();
    let step = (SAMPLED * vectors).div_ceil(columns.vectors.documents().max(1)).max(1);
    let mut position = 0;
    let mut preloaded = 0;
    while let Some(vector) = sketches.vectors.get(position) {
        if position >= preloaded {
            preloaded = position + PRELOADED * step;
            passages::preload(&sketches.vectors, (position..preloaded).step_by(step));
        }
        let passages = of_document(&sketches.vectors, position);
        position = passages.end.max(position + step);
        if !filter.admits(vector.doc) {
            continue;
        }
        // Each of its vectors draws a document, so it stands for fewer the more it has.
        let candidates = (step as f32 / passages.len() as f32).max(1.0);
        let distance = |at: usize| (query.expected(kernels::distance(sketches.sketch(at), &query.bits)), at);
        let mut distances: Vec<(u16, usize)> = passages.map(distance).collect();
        distances.sort_unstable();
        sample.extend(distances.into_iter().take(PASSAGES).map(|(distance, at)| Sampled {
            distance,
            segment: number as u32,
            position: at as u32,
            candidates,
        }));
    }
}
