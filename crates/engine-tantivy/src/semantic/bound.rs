//! Distance within which there are enough candidates, estimated from a sample of the documents.
//!
//! A scan that begins with it visits little more than the candidates. Without it, a scan takes several times as many vectors for
//! candidates before it has seen enough nearer ones.

use super::passages::{self, PASSAGES, of_document};
use super::{LargeSegment, PRELOADED, kernels};

/// One of this many documents is in the sample.
const SAMPLED: usize = 64;

/// Minimum number of vectors of the sample within the distance. Fewer tell too little.
const ENOUGH: usize = 100;

/// Number of candidates that are expected within the distance, relative to the number that is needed: the sample may be unlucky.
const MARGIN: f32 = 1.3;

/// Returns a distance within which there probably are `limit` candidates; `None` if the sample does not tell one.
pub fn estimate(segments: &[LargeSegment], limit: usize) -> Option<u16> {
    let mut sample: Vec<(u16, f32)> = segments.iter().flat_map(of_segment).collect();
    sample.sort_unstable_by_key(|(distance, _)| *distance);
    let mut expected = 0.0;
    let mut is_enough = |candidates: f32| {
        expected += candidates;
        expected >= MARGIN * limit as f32
    };
    let at = sample.iter().position(|(_, candidates)| is_enough(*candidates))?;
    sample.get(at.max(ENOUGH - 1)).map(|(distance, _)| *distance)
}

/// Returns distances of the sample of a segment, each with the number of candidates that it stands for.
fn of_segment(segment: &LargeSegment) -> Vec<(u16, f32)> {
    let LargeSegment { sketches, query, filter, columns } = segment;
    let vectors = sketches.len();
    let step = (SAMPLED * vectors).div_ceil(columns.vectors.documents().max(1)).max(1);
    let mut sample = Vec::with_capacity(vectors.div_ceil(step));
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
        let mut distances: Vec<u16> =
            passages.map(|at| query.expected(kernels::distance(sketches.sketch(at), &query.bits))).collect();
        distances.sort_unstable();
        sample.extend(distances.into_iter().take(PASSAGES).map(|distance| (distance, candidates)));
    }
    sample
}
