//! The evidence of the query's own terms: fields, neighbours, the best passage.

use super::parameters::{B_SHORT, BEST_PASSAGE, HEADINGS, NEAR, NEAR_POSITIONS, ORDERED, ORDERED_POSITIONS, TITLE};
use super::reading::{Field, Occurrence, Passage, Reading};
use crate::bm25::{B, idf, length_norm, saturation};
use crate::question::Question;
use crate::statistics::CollectionStatistics;

/// How much each term of the query says, and how long texts are.
pub(super) struct Scorer {
    /// By term.
    weights: Vec<f64>,
    title_length: f64,
    headings_length: f64,
    body_length: f64,
    passage_length: f64,
    /// Occurrences by term, in a field of its own each: room that is used again for every candidate.
    counts: [Vec<f64>; 3],
}

impl Scorer {
    pub fn new(question: &Question, readings: &[Reading], statistics: &CollectionStatistics) -> Self {
        let terms = question.terms.len();
        let mean = |lengths: &mut dyn Iterator<Item = usize>| {
            let (total, count) = lengths.fold((0, 0), |(total, count), length| (total + length, count + 1));
            (total as f64 / f64::max(count as f64, 1.0)).max(1.0)
        };
        let body_length = if statistics.average_length >= 1.0 {
            statistics.average_length
        } else {
            mean(&mut readings.iter().map(|reading| reading.body.length))
        };
        let passages = readings.iter().flat_map(|reading| &reading.passages);
        Self {
            weights: weights(question, readings, statistics),
            title_length: mean(&mut readings.iter().map(|reading| reading.title.length)),
            headings_length: mean(&mut readings.iter().map(|reading| reading.headings.length)),
            body_length,
            // A passage is compared with whole documents: it is not more about something for being shorter than most.
            passage_length: mean(&mut passages.map(|passage| passage.length)).max(body_length),
            counts: [vec![0.0; terms], vec![0.0; terms], vec![0.0; terms]],
        }
    }

    /// What all terms say together: the unit of scores.
    pub fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    pub fn body_length(&self) -> f64 {
        self.body_length
    }

    /// The score of a candidate, and those of its passages.
    pub fn score(&mut self, reading: &Reading) -> (f64, Vec<f64>) {
        let title = length_norm(reading.title.length, self.title_length, B_SHORT);
        let headings = length_norm(reading.headings.length, self.headings_length, B_SHORT);
        let body = length_norm(reading.body.length, self.body_length, B);
        count(&reading.title.occurrences, &mut self.counts[0]);
        count(&reading.headings.occurrences, &mut self.counts[1]);
        count(&reading.body.occurrences, &mut self.counts[2]);
        let [in_title, in_headings, in_body] = &self.counts;
        // BM25F: the fields are added up before the frequency saturates (Robertson, Zaragoza and Taylor, "Simple BM25
        // Extension to Multiple Weighted Fields", CIKM 2004).
        let terms = self.weights.iter().enumerate().map(|(term, weight)| {
            let frequency =
                TITLE * in_title[term] / title + HEADINGS * in_headings[term] / headings + in_body[term] / body;
            weight * saturation(frequency)
        });
        let mut score: f64 = terms.sum();
        score += self.neighbours(&reading.body, body) + TITLE * self.neighbours(&reading.title, title);

        let passages: Vec<f64> =
            reading.passages.iter().map(|passage| self.passage(passage, &reading.body.occurrences)).collect();
        let best = passages.iter().copied().fold(0.0, f64::max);
        (score + BEST_PASSAGE * (best - score).max(0.0), passages)
    }

    /// A passage's score as if it were a document, its headings counting as such.
    fn passage(&mut self, passage: &Passage, body: &[Occurrence]) -> f64 {
        if passage.occurrences.is_empty() && passage.heading_terms.is_empty() {
            return 0.0;
        }
        let norm = length_norm(passage.length, self.passage_length, B);
        let [in_headings, _, in_text] = &mut self.counts;
        count(&body[passage.occurrences.clone()], in_text);
        in_headings.fill(0.0);
        passage.heading_terms.iter().for_each(|term| in_headings[usize::from(*term)] = 1.0);
        let terms = self.weights.iter().enumerate();
        terms.map(|(term, weight)| weight * saturation(HEADINGS * in_headings[term] + in_text[term] / norm)).sum()
    }

    /// What neighbours of the query that are neighbours in the text say beyond each by itself.
    fn neighbours(&self, field: &Field, norm: f64) -> f64 {
        let terms = self.weights.len();
        if terms < 2 || field.occurrences.len() < 2 {
            return 0.0;
        }
        // By the later term of each pair.
        let (mut ordered, mut near) = (vec![0.0; terms], vec![0.0; terms]);
        let mut last: Vec<Option<u32>> = vec![None; terms];
        for found in &field.occurrences {
            let term = usize::from(found.term);
            let distance =
                |other: usize| last.get(other).copied().flatten().map(|at| found.position.saturating_sub(at));
            if let Some(distance) = term.checked_sub(1).and_then(distance) {
                ordered[term] += f64::from(u8::from((1..=ORDERED_POSITIONS).contains(&distance)));
                near[term] += f64::from(u8::from(distance <= NEAR_POSITIONS));
            }
            if distance(term + 1).is_some_and(|distance| distance <= NEAR_POSITIONS) {
                near[term + 1] += 1.0;
            }
            last[term] = Some(found.position);
        }
        let pairs = (1..terms).map(|term| {
            let weight = self.weights[term - 1] + self.weights[term];
            weight * (ORDERED * saturation(ordered[term] / norm) + NEAR * saturation(near[term] / norm))
        });
        pairs.sum()
    }
}

/// By term: its rarity in the collection, times how often the query says it.
fn weights(question: &Question, readings: &[Reading], statistics: &CollectionStatistics) -> Vec<f64> {
    // What the candidates hold is held by the collection, whatever its statistics know.
    let mut held = vec![0_u64; question.terms.len()];
    let mut seen_in = vec![usize::MAX; question.terms.len()];
    for (index, reading) in readings.iter().enumerate() {
        for field in [&reading.title, &reading.headings, &reading.body] {
            for term in field.occurrences.iter().map(|found| usize::from(found.term)) {
                if seen_in[term] != index {
                    seen_in[term] = index;
                    held[term] += 1;
                }
            }
        }
    }
    let documents = statistics.documents.max(readings.len() as u64) as f64;
    let terms = question.terms.iter().zip(held).map(|(term, held)| {
        let known = term.variants.iter().filter_map(|variant| statistics.document_frequency.get(variant));
        let frequency = known.copied().max().unwrap_or(0).max(held) as f64;
        // Statistics may be older than the candidates: a term in more documents than there are weighs nothing.
        f64::from(term.weight) * idf(frequency, (documents - frequency).max(-0.5))
    });
    terms.collect()
}

fn count(occurrences: &[Occurrence], counts: &mut [f64]) {
    counts.fill(0.0);
    occurrences.iter().for_each(|found| counts[usize::from(found.term)] += 1.0);
}
