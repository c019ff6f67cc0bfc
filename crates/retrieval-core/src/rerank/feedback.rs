//! Terms of the best candidates as a further query (pseudo-relevance feedback).
//!
//! The relevance model RM3 (Lavrenko and Croft, "Relevance-Based Language Models", SIGIR 2001; Abdul-Jaleel et al.,
//! "UMass at TREC 2004") inside the candidates: a term weighs what the best candidates, each by its score, give to it,
//! times its rarity among all candidates. The rarity in the collection is not known for terms that the query does not
//! hold; that among candidates also takes out what merely belongs to the subject.

use super::parameters::{FEEDBACK, FEEDBACK_DOCUMENTS, FEEDBACK_SHARPNESS, FEEDBACK_TERMS};
use super::reading::Reading;
use crate::bm25::{B, length_norm, saturation};

/// Mixes the evidence of the best candidates' terms into `scores`. `unit` is what all terms of the query weigh.
pub(super) fn apply(scores: &mut [f64], readings: &[Reading], vocabulary: usize, body_length: f64, unit: f64) {
    let expansion = expansion(scores, readings, vocabulary);
    let total: f64 = expansion.iter().map(|(weight, _)| weight).sum();
    if total <= 0.0 {
        return;
    }
    const NONE: usize = usize::MAX;
    let mut place = vec![NONE; vocabulary];
    for (index, (_, id)) in expansion.iter().enumerate() {
        place[*id] = index;
    }
    let mut counts = vec![0.0; expansion.len()];
    for (score, reading) in scores.iter_mut().zip(readings) {
        counts.fill(0.0);
        for id in &reading.ids {
            let place = place[*id as usize];
            if place != NONE {
                counts[place] += 1.0;
            }
        }
        let norm = length_norm(reading.ids.len(), body_length, B);
        let terms = expansion.iter().zip(&counts);
        let evidence: f64 = terms.map(|((weight, _), count)| weight / total * saturation(count / norm)).sum();
        *score = (1.0 - FEEDBACK) * *score + FEEDBACK * unit * evidence;
    }
}

/// The terms to expand with: weight and number, the weightiest first.
fn expansion(scores: &[f64], readings: &[Reading], vocabulary: usize) -> Vec<(f64, usize)> {
    let mut best: Vec<usize> = (0..readings.len()).filter(|index| scores[*index] > 0.0).collect();
    best.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    best.truncate(FEEDBACK_DOCUMENTS);
    let Some(highest) = best.first().map(|index| scores[*index]) else { return Vec::new() };

    let (mut weights, mut support) = (vec![0.0; vocabulary], vec![0_u32; vocabulary]);
    let mut seen_in = vec![usize::MAX; vocabulary];
    for index in best {
        let say = ((scores[index] / highest - 1.0) * FEEDBACK_SHARPNESS).exp();
        let share = say / readings[index].ids.len().max(1) as f64;
        for id in readings[index].ids.iter().map(|id| *id as usize) {
            weights[id] += share;
            if seen_in[id] != index {
                seen_in[id] = index;
                support[id] += 1;
            }
        }
    }
    let mut held = vec![0_u32; vocabulary];
    seen_in.fill(usize::MAX);
    for (index, reading) in readings.iter().enumerate() {
        for id in reading.ids.iter().map(|id| *id as usize) {
            if seen_in[id] != index {
                seen_in[id] = index;
                held[id] += 1;
            }
        }
    }

    let candidates = readings.len() as f64;
    // What one candidate alone holds could not tell the others apart.
    let terms = (0..vocabulary).filter(|id| support[*id] >= 2).map(|id| {
        let rarity = ((candidates + 1.0) / (f64::from(held[id]) + 0.5)).ln().max(0.0);
        (weights[id] * rarity, id)
    });
    let mut terms: Vec<(f64, usize)> = terms.filter(|(weight, _)| *weight > 0.0).collect();
    terms.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    terms.truncate(FEEDBACK_TERMS);
    terms
}
