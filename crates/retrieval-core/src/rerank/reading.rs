//! What one pass over a candidate finds.

use super::Candidate;
use super::vocabulary::Vocabulary;
use crate::analysis::Analyzer;

/// Between two headings: no words of one are near words of the next.
const GAP: u32 = 100;

/// An occurrence of a term of the query.
#[derive(Clone, Copy)]
pub(super) struct Occurrence {
    pub term: u16,
    pub position: u32,
}

/// What is found in one field.
#[derive(Default)]
pub(super) struct Field {
    /// Tokens.
    pub length: usize,
    /// In the order of the text.
    pub occurrences: Vec<Occurrence>,
}

/// One passage of the body.
#[derive(Default)]
pub(super) struct Passage {
    pub length: usize,
    /// Its part of the body's occurrences.
    pub occurrences: std::ops::Range<usize>,
    /// Terms in the headings above it.
    pub heading_terms: Vec<u16>,
}

/// What is found in one candidate.
#[derive(Default)]
pub(super) struct Reading {
    pub title: Field,
    /// Headings and description.
    pub headings: Field,
    pub body: Field,
    pub passages: Vec<Passage>,
    /// Terms of title and body, one number a token.
    pub ids: Vec<u32>,
}

impl Reading {
    /// Each passage as a reading of its own, with the headings above it.
    pub fn into_passages(self) -> Vec<Reading> {
        let body = self.body.occurrences;
        let passages = self.passages.into_iter().map(|passage| {
            let headings = passage.heading_terms.iter().map(|term| Occurrence { term: *term, position: 0 });
            Reading {
                headings: Field { length: passage.heading_terms.len(), occurrences: headings.collect() },
                body: Field { length: passage.length, occurrences: body[passage.occurrences].to_vec() },
                ..Reading::default()
            }
        });
        passages.collect()
    }
}

/// Reads a candidate, of its content the first `limit` bytes.
pub(super) fn read(
    candidate: &Candidate<'_>,
    limit: usize,
    analyzer: &mut Analyzer,
    vocabulary: &mut Vocabulary,
) -> Reading {
    let mut reading = Reading::default();
    reading.title.add(candidate.title, analyzer, vocabulary, |id, _| reading.ids.push(id));
    reading.headings.add(candidate.description, analyzer, vocabulary, |_, _| {});
    reading.passages = headings(candidate, analyzer, vocabulary, &mut reading.headings);

    let content = &candidate.content[..candidate.content.floor_char_boundary(limit)];
    let (mut passage, mut before) = (0, 0);
    let passages = &mut reading.passages;
    let body = &mut reading.body;
    body.add(content, analyzer, vocabulary, |id, found| {
        reading.ids.push(id);
        while passage < passages.len() && candidate.passages[passage].bytes.end <= found.byte {
            passages[passage].occurrences = before..found.before;
            before = found.before;
            passage += 1;
        }
        if let Some(passage) = passages.get_mut(passage) {
            passage.length += 1;
        }
    });
    if let Some(last) = passages.get_mut(passage) {
        last.occurrences = before..body.occurrences.len();
    }
    reading
}

/// One reading of each heading, and the terms above each passage.
fn headings(
    candidate: &Candidate<'_>,
    analyzer: &mut Analyzer,
    vocabulary: &mut Vocabulary,
    field: &mut Field,
) -> Vec<Passage> {
    // The headings above the passage before, each with the number of terms up to its end.
    let mut path: Vec<(&str, usize)> = Vec::new();
    let mut terms: Vec<u16> = Vec::new();
    let passages = candidate.passages.iter().map(|span| {
        let same = path.iter().zip(&span.section_path).take_while(|((known, _), heading)| known == heading).count();
        path.truncate(same);
        terms.truncate(path.last().map_or(0, |(_, end)| *end));
        for heading in &span.section_path[same..] {
            let from = field.occurrences.len();
            field.add(heading, analyzer, vocabulary, |_, _| {});
            terms.extend(field.occurrences[from..].iter().map(|found| found.term));
            path.push((heading, terms.len()));
        }
        Passage { heading_terms: terms.clone(), ..Passage::default() }
    });
    passages.collect()
}

/// Where a token stands.
struct Found {
    byte: usize,
    /// Occurrences of the query's terms before it.
    before: usize,
}

impl Field {
    fn add(
        &mut self,
        text: &str,
        analyzer: &mut Analyzer,
        vocabulary: &mut Vocabulary,
        mut each: impl FnMut(u32, Found),
    ) {
        let first = self.occurrences.last().map_or(0, |last| last.position + GAP);
        analyzer.tokens(text, |token| {
            self.length += 1;
            let id = vocabulary.id(token.stem);
            each(id, Found { byte: token.bytes.start, before: self.occurrences.len() });
            let loose = || token.loose_stem.and_then(|stem| vocabulary.term_of(stem));
            if let Some(term) = vocabulary.term(id).or_else(loose) {
                self.occurrences.push(Occurrence { term, position: first.saturating_add(token.position) });
            }
        });
    }
}
