//! Disagreements: other numbers and dates in almost the same sentences of other sources.

use std::collections::{BTreeMap, BTreeSet};

use super::super::quotes::excerpts::Excerpt;
use super::super::quotes::{self, Quote};
use super::super::state::State;
use super::super::text::identifiers::identifiers;
use super::super::text::{dates, numbers};

/// Shared words of sentences about the same fact.
const SAME_FACT: f64 = 0.5;
/// Sentences that are compared with each other.
const MAX_SENTENCES: usize = 40;
/// Values that are named for one fact.
const MAX_VALUES: usize = 4;
/// Facts that are named for one question.
const MAX_FACTS: usize = 3;

/// Values of one fact in several sources.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// Each value as its sentence writes it, with the sentence.
    pub values: Vec<(String, Quote)>,
}

/// A sentence with the values and the products that it names.
struct Sentence<'a> {
    excerpt: &'a Excerpt,
    values: Values,
    identifiers: BTreeSet<String>,
}

impl<'a> Sentence<'a> {
    /// Reads a sentence; `None` if it has no values.
    fn of(state: &State, excerpt: &'a Excerpt) -> Option<Self> {
        let text = quotes::text(state, excerpt.quote);
        let values = values(text, state.sources[excerpt.source].language.as_deref());
        (!values.is_empty()).then(|| Self { excerpt, values, identifiers: identifiers(text) })
    }

    /// Returns true for almost the same sentence about the same product. `asked`: products that the question names.
    fn is_same_fact(&self, other: &Self, asked: &BTreeSet<String>) -> bool {
        let (own, others) = (&self.identifiers, &other.identifiers);
        let is_same_product = own.is_subset(others) || others.is_subset(own);
        let is_asked_in_both = asked.iter().all(|name| own.contains(name) == others.contains(name));
        is_same_product && is_asked_in_both && self.excerpt.gist.resemblance(&other.excerpt.gist) >= SAME_FACT
    }
}

/// Finds the disagreements between the best sentences of a question.
pub(crate) fn find(state: &State, question: usize, candidates: &[Excerpt]) -> Vec<Difference> {
    let asked = state.questions.get(question).map(|asked| identifiers(&asked.search_text())).unwrap_or_default();
    let sentences: Vec<Sentence<'_>> =
        candidates.iter().filter_map(|excerpt| Sentence::of(state, excerpt)).take(MAX_SENTENCES).collect();
    let mut differences: Vec<Difference> = Vec::new();
    let mut used: BTreeSet<Quote> = BTreeSet::new();
    for (at, sentence) in sentences.iter().enumerate() {
        let one = sentence.excerpt;
        if used.contains(&one.quote) {
            continue;
        }
        for (unit, (values, written)) in &sentence.values {
            let mut named = vec![(written.clone(), one.quote)];
            let mut known = values.clone();
            for rival in &sentences[at + 1..] {
                let other = rival.excerpt;
                let is_other = other.source != one.source && !one.also.contains(&other.source);
                if !is_other || used.contains(&other.quote) || !sentence.is_same_fact(rival, &asked) {
                    continue;
                }
                if let Some((other_values, written)) = rival.values.get(unit)
                    && other_values.is_disjoint(&known)
                    && named.len() < MAX_VALUES
                {
                    named.push((written.clone(), other.quote));
                    known.extend(other_values.iter().cloned());
                }
            }
            if named.len() > 1 && differences.len() < MAX_FACTS {
                used.extend(named.iter().map(|(_, quote)| *quote));
                differences.push(Difference { values: named });
            }
        }
    }
    differences
}

/// Values by unit, and how the text writes them.
type Values = BTreeMap<String, (BTreeSet<String>, String)>;

fn values(text: &str, language: Option<&str>) -> Values {
    let mut found = Values::new();
    let mut add = |unit: &str, value: String, written: &str| {
        let (values, texts) = found.entry(unit.to_owned()).or_default();
        if values.insert(value) {
            let separator = if texts.is_empty() { "" } else { ", " };
            texts.push_str(separator);
            texts.push_str(written.trim());
        }
    };
    let dates = dates::dates(text);
    for (bytes, date) in &dates {
        add("date", date.iso(), &text[bytes.clone()]);
    }
    for quantity in numbers::quantities_in(text, language) {
        let in_date = dates.iter().any(|(bytes, _)| bytes.contains(&quantity.bytes.start));
        let Some(value) = quantity.value.filter(|_| !in_date) else { continue };
        // A year before a word has no unit.
        let (unit, mut bytes) = if quantity.is_year {
            ("year", quantity.digits.clone())
        } else {
            (&*quantity.unit, quantity.bytes.clone())
        };
        if value.is_sign_negative() {
            let sign = text[..bytes.start].chars().next_back();
            bytes.start -= sign.map_or(0, char::len_utf8);
        }
        add(unit, format!("{value}"), &text[bytes]);
    }
    found
}
