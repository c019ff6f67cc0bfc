//! Pseudo-relevance feedback: query expansion with terms of the best candidates.
//!
//! Applies the relevance model RM3 (Lavrenko and Croft, "Relevance-Based Language Models", SIGIR 2001; Abdul-Jaleel et
//! al., "UMass at TREC 2004") within the candidates. The weight of a term is the sum of its shares in the best
//! candidates, weighted by their scores, times its rarity among the candidates of the same language: the commonest words of one
//! language are rare among those of all. The collection frequency is only known for query terms; rarity among the candidates also
//! removes terms that merely belong to the topic. Only candidates that were found by words count: others would make the topic rare.

use super::matching::MatchedCandidate;
use super::parameters::{FEEDBACK_DOCUMENTS, FEEDBACK_SHARPNESS, FEEDBACK_TERMS};
use super::score::Scorer;
use super::vocabulary::Vocabulary;
use crate::analysis::Language;
use crate::bm25::{B, K1, length_norm, saturation};

/// Mixes the evidence of the expansion terms into `scores`. `groups` are the languages of the candidates that were found by words,
/// `None` for the others.
pub(super) fn apply(
    scores: &mut [f64],
    matched: &[MatchedCandidate],
    groups: &[Option<Language>],
    vocabulary: &Vocabulary,
    scorer: &Scorer,
) {
    let expansion = expansion(scores, matched, groups, vocabulary);
    let total: f64 = expansion.iter().map(|(weight, _)| weight).sum();
    if total <= 0.0 {
        return;
    }
    const NONE: usize = usize::MAX;
    let mut slots = vec![NONE; vocabulary.len()];
    for (index, (_, id)) in expansion.iter().enumerate() {
        slots[*id] = index;
    }
    // Few candidates say little about the words of a subject.
    let found = groups.iter().flatten().count();
    let fraction = scorer.feedback() * (found as f64 / FEEDBACK_DOCUMENTS as f64).min(1.0);
    let unit = scorer.matched_weight();
    let mut counts = vec![0.0; expansion.len()];
    for (score, candidate) in scores.iter_mut().zip(matched) {
        counts.fill(0.0);
        for (id, count) in &candidate.terms {
            let slot = slots[*id as usize];
            if slot != NONE {
                counts[slot] = f64::from(*count);
            }
        }
        let norm = length_norm(candidate.length, scorer.body_length(), B);
        let terms = expansion.iter().zip(&counts);
        let evidence: f64 = terms.map(|((weight, _), count)| weight / total * saturation(count / norm, K1)).sum();
        *score = (1.0 - fraction) * *score + fraction * unit * evidence;
    }
}

/// Selects the expansion terms: weight and id, in order of descending weight, equal ones in that of their hashes.
fn expansion(
    scores: &[f64],
    matched: &[MatchedCandidate],
    groups: &[Option<Language>],
    vocabulary: &Vocabulary,
) -> Vec<(f64, usize)> {
    let is_source = |index: &usize| groups[*index].is_some() && scores[*index] > 0.0;
    let mut best: Vec<usize> = (0..matched.len()).filter(is_source).collect();
    best.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    best.truncate(FEEDBACK_DOCUMENTS);
    let Some(highest) = best.first().map(|index| scores[*index]) else { return Vec::new() };

    let hashes = vocabulary.hashes();
    let rarities = Rarity::by_language(matched, groups, hashes.len());
    let (mut weights, mut support) = (vec![0.0; hashes.len()], vec![0_u32; hashes.len()]);
    for index in best {
        let influence = ((scores[index] / highest - 1.0) * FEEDBACK_SHARPNESS).exp();
        let share = influence / matched[index].length.max(1) as f64;
        let Some(rarity) = rarities.iter().find(|rarity| Some(rarity.language) == groups[index]) else { continue };
        for (id, count) in &matched[index].terms {
            let id = *id as usize;
            weights[id] += f64::from(*count) * share * rarity.of_term(id);
            support[id] += 1;
        }
    }
    // A term of only one candidate cannot distinguish the others.
    let terms = (0..hashes.len()).filter(|id| support[*id] >= 2).map(|id| (weights[id], id));
    let mut terms: Vec<(f64, usize)> = terms.filter(|(weight, _)| *weight > 0.0).collect();
    // Ids depend on the words that a term vector has beyond what is read.
    terms.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(hashes[a.1].cmp(&hashes[b.1])));
    terms.truncate(FEEDBACK_TERMS);
    terms
}

/// Rarity of terms among the candidates of one language.
struct Rarity {
    language: Language,
    candidates: u32,
    /// Number of these candidates that contain each term.
    frequency: Vec<u32>,
    /// Rarity by frequency: a term is looked up for each of its occurrences.
    by_frequency: Vec<f64>,
}

impl Rarity {
    fn by_language(matched: &[MatchedCandidate], groups: &[Option<Language>], vocabulary: usize) -> Vec<Self> {
        let mut rarities: Vec<Self> = Vec::new();
        for (candidate, language) in matched.iter().zip(groups) {
            let Some(language) = *language else { continue };
            let known = rarities.iter().position(|rarity| rarity.language == language);
            let at = known.unwrap_or_else(|| {
                let frequency = vec![0; vocabulary];
                rarities.push(Self { language, candidates: 0, frequency, by_frequency: Vec::new() });
                rarities.len() - 1
            });
            let Self { candidates, frequency, .. } = &mut rarities[at];
            *candidates += 1;
            candidate.terms.iter().for_each(|(id, _)| frequency[*id as usize] += 1);
        }
        for Self { candidates, by_frequency, .. } in &mut rarities {
            let count = f64::from(*candidates);
            let of = |frequency: u32| ((count + 1.0) / (f64::from(frequency) + 0.5)).ln().max(0.0);
            *by_frequency = (0..=*candidates).map(of).collect();
        }
        rarities
    }

    fn of_term(&self, id: usize) -> f64 {
        // A damaged term vector may contain a term twice, which is then in more documents than there are.
        self.by_frequency.get(self.frequency[id] as usize).copied().unwrap_or_default()
    }
}
