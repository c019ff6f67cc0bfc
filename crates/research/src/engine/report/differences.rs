//! Disagreements: other numbers and dates in almost the same sentences of other sources.

use std::collections::{BTreeMap, BTreeSet};

use super::super::quotes::excerpts::Excerpt;
use super::super::quotes::{self, Quote};
use super::super::state::State;
use super::super::text::similar::Gist;
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

/// Finds the disagreements between the best sentences of a question.
pub(crate) fn find(state: &State, candidates: &[Excerpt]) -> Vec<Difference> {
    let sentences: Vec<(&Excerpt, Values)> = candidates
        .iter()
        .map(|excerpt| {
            let language = state.sources[excerpt.source].language.as_deref();
            (excerpt, values(quotes::text(state, excerpt.quote), language))
        })
        .filter(|(_, values)| !values.is_empty())
        .take(MAX_SENTENCES)
        .collect();
    let mut differences: Vec<Difference> = Vec::new();
    let mut used: BTreeSet<Quote> = BTreeSet::new();
    for (at, (one, own)) in sentences.iter().enumerate() {
        if used.contains(&one.quote) {
            continue;
        }
        for (unit, (values, written)) in own {
            let mut named = vec![(written.clone(), one.quote)];
            let mut known = values.clone();
            for (other, others) in &sentences[at + 1..] {
                let is_other = other.source != one.source && !one.also.contains(&other.source);
                if !is_other || used.contains(&other.quote) || !is_same_fact(&one.gist, &other.gist) {
                    continue;
                }
                if let Some((other_values, written)) = others.get(unit)
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

fn is_same_fact(one: &Gist, other: &Gist) -> bool {
    one.resemblance(other) >= SAME_FACT
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
