//! Choice of the sections to read.

use std::ops::Range;

use super::Buckets;
use super::index::{Word, WordHash};
use crate::analysis::{Language, analyze_query};
use crate::bm25::idf;

/// Maximum number of query terms that are looked up.
const MAX_TERMS: usize = 24;
/// Maximum number of words of one phrase that are looked up: its longest, which tend to be rare.
const MAX_PHRASE_WORDS: usize = 8;

/// Words of a query, to be looked up in many documents of one language.
#[derive(Clone, Debug)]
pub struct QueryWords(Vec<(f64, Vec<WordHash>)>);

impl QueryWords {
    /// Analyses the query. `language` is the ISO 639-1 code of the documents.
    pub fn new(query: &str, language: Option<&str>) -> Self {
        let languages = [language.and_then(Language::from_code).unwrap_or(Language::English)];
        let terms = analyze_query(query, &languages).terms.into_iter().take(MAX_TERMS).map(|term| {
            let words = term.variants.iter().map(|variant| WordHash::new(variant)).collect();
            (f64::from(term.weight), words)
        });
        Self(terms.collect())
    }

    /// Returns the query for a document of this many sections.
    pub fn among(&self, sections: usize) -> SectionQuery {
        let terms = self.0.iter().map(|(weight, words)| {
            let words = words.iter().map(|word| word.among(sections)).collect();
            (*weight, words)
        });
        SectionQuery { sections, terms: terms.collect() }
    }
}

/// Query for the sections of one document that answer it.
#[derive(Clone, Debug)]
pub struct SectionQuery {
    sections: usize,
    /// Weight and variants of each term.
    terms: Vec<(f64, Vec<Word>)>,
}

impl SectionQuery {
    /// Analyses the query for a document of this many sections. `language` is the ISO 639-1 code of the document.
    pub fn new(query: &str, language: Option<&str>, sections: usize) -> Self {
        QueryWords::new(query, language).among(sections)
    }

    /// Returns the numbers of the buckets that [`scores`](Self::scores) and [`best`](Self::best) need.
    pub fn buckets(&self) -> Vec<usize> {
        distinct(self.terms.iter().flat_map(|(_, words)| words))
    }

    /// Returns the score of each section: many and rare terms count.
    pub fn scores(&self, buckets: &Buckets) -> Vec<f64> {
        let mut scores = vec![0.0; self.sections];
        let mut found = Vec::new();
        for (weight, words) in &self.terms {
            found.clear();
            words.iter().for_each(|word| word.sections(buckets, &mut found));
            found.sort_unstable();
            found.dedup();
            let rarity = idf(found.len() as f64, self.sections.saturating_sub(found.len()) as f64);
            for section in &found {
                // A damaged list may name sections that do not exist.
                if let Some(score) = scores.get_mut(*section) {
                    *score += weight * rarity;
                }
            }
        }
        scores
    }

    /// Returns the sections with any of the terms, best first. Equal ones are in order.
    pub fn best(&self, buckets: &Buckets) -> Vec<usize> {
        let scores = self.scores(buckets);
        let mut best: Vec<usize> = (0..scores.len()).filter(|section| scores[*section] > 0.0).collect();
        best.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]));
        best
    }
}

/// Words of several phrases, to be looked up in many documents.
#[derive(Clone, Debug)]
pub struct PhraseWords(Vec<Phrase<WordHash>>);

/// Distinct words of a phrase.
#[derive(Clone, Debug)]
struct Phrase<Word> {
    words: Vec<Word>,
    /// The phrase has further words, which may be in a neighbouring section.
    is_cut: bool,
}

impl PhraseWords {
    /// Analyses the phrases. A text without words matches nothing.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let phrases = texts.into_iter().map(|text| {
            let mut words = analyze_query(text, &[]).phrase;
            words.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
            words.dedup();
            let is_cut = words.len() > MAX_PHRASE_WORDS;
            Phrase { words: words.iter().take(MAX_PHRASE_WORDS).map(|word| WordHash::new(word)).collect(), is_cut }
        });
        Self(phrases.filter(|phrase| !phrase.words.is_empty()).collect())
    }

    /// Returns the query for a document of this many sections.
    pub fn among(&self, sections: usize) -> PhraseSections {
        let among = |phrase: &Phrase<WordHash>| Phrase {
            words: phrase.words.iter().map(|word| word.among(sections)).collect(),
            is_cut: phrase.is_cut,
        };
        PhraseSections { sections, phrases: self.0.iter().map(among).collect() }
    }
}

/// Query for the sections of one document that may contain any of several phrases.
#[derive(Clone, Debug)]
pub struct PhraseSections {
    sections: usize,
    phrases: Vec<Phrase<Word>>,
}

impl PhraseSections {
    /// Analyses the phrases for a document of this many sections. A text without words matches nothing.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>, sections: usize) -> Self {
        PhraseWords::new(texts).among(sections)
    }

    /// Returns the numbers of the buckets that [`runs`](Self::runs) needs.
    pub fn buckets(&self) -> Vec<usize> {
        distinct(self.phrases.iter().flat_map(|phrase| &phrase.words))
    }

    /// Returns runs of neighbouring sections that may contain a phrase, in order. A phrase may begin in one section and
    /// end in the next.
    pub fn runs(&self, buckets: &Buckets) -> Vec<Range<usize>> {
        let mut wanted = vec![false; self.sections];
        let mut found = Vec::new();
        for Phrase { words, is_cut } in &self.phrases {
            // Number of words in each section and the next one together, and in each section.
            let mut counts = vec![0_usize; self.sections];
            let mut own = vec![0_usize; self.sections + 1];
            for word in words {
                found.clear();
                word.sections(buckets, &mut found);
                found.iter().filter(|section| **section < self.sections).for_each(|section| own[*section] += 1);
                let mut pairs: Vec<usize> =
                    found.iter().flat_map(|section| [section.checked_sub(1), Some(*section)]).flatten().collect();
                pairs.dedup();
                pairs.into_iter().filter(|pair| *pair < self.sections).for_each(|pair| counts[pair] += 1);
            }
            for (pair, count) in counts.into_iter().enumerate() {
                if count < words.len() {
                    continue;
                }
                // A part without any of these words still may have the others.
                let is_first_wanted = *is_cut || own[pair] > 0;
                wanted[pair] |= is_first_wanted;
                if let Some(next) = wanted.get_mut(pair + 1) {
                    *next |= *is_cut || is_first_wanted && own[pair + 1] > 0;
                }
            }
        }
        let mut runs: Vec<Range<usize>> = Vec::new();
        for section in (0..self.sections).filter(|section| wanted[*section]) {
            match runs.last_mut() {
                Some(run) if run.end == section => run.end += 1,
                _ => runs.push(section..section + 1),
            }
        }
        runs
    }
}

fn distinct<'a>(words: impl Iterator<Item = &'a Word>) -> Vec<usize> {
    let mut buckets: Vec<usize> = words.map(|word| word.bucket).collect();
    buckets.sort_unstable();
    buckets.dedup();
    buckets
}
