//! Matches of a query in one candidate.

use super::term_vector::{FieldStem, TermToken, TermVector};
use super::vocabulary::Vocabulary;

/// Occurrence of a query term.
#[derive(Clone, Copy)]
pub(super) struct Occurrence {
    pub term: u16,
    pub position: u32,
}

/// Matches in one field.
#[derive(Default)]
pub(super) struct Field {
    /// Length in tokens.
    pub length: usize,
    /// Occurrences in text order.
    pub occurrences: Vec<Occurrence>,
}

/// Matches in one passage of the body.
#[derive(Default)]
pub(super) struct Passage {
    pub length: usize,
    /// Range in the body's occurrences.
    pub occurrences: std::ops::Range<usize>,
    /// Query terms in the headings above the passage.
    pub heading_terms: Vec<u16>,
}

/// Matches in one candidate.
#[derive(Default)]
pub(super) struct MatchedCandidate {
    pub title: Field,
    /// Headings and description.
    pub headings: Field,
    pub body: Field,
    pub passages: Vec<Passage>,
    /// Vocabulary id and number of tokens of each stem of title and body.
    pub terms: Vec<(u32, u32)>,
    /// Number of tokens of title and body.
    pub length: usize,
}

impl MatchedCandidate {
    /// Converts each passage, with the headings above it, to a candidate of its own.
    pub fn into_passages(self) -> Vec<MatchedCandidate> {
        let body = self.body.occurrences;
        let passages = self.passages.into_iter().map(|passage| {
            let headings = passage.heading_terms.iter().map(|term| Occurrence { term: *term, position: 0 });
            MatchedCandidate {
                headings: Field { length: passage.heading_terms.len(), occurrences: headings.collect() },
                body: Field { length: passage.length, occurrences: body[passage.occurrences].to_vec() },
                ..MatchedCandidate::default()
            }
        });
        passages.collect()
    }
}

/// Buffers of [`match_candidate`], reused for every candidate.
#[derive(Default)]
pub(super) struct Scratch {
    /// Vocabulary id by stem of the candidate.
    ids: Vec<u32>,
    /// Tokens of title and body by stem of the candidate.
    counts: Vec<u32>,
    /// Occurrences with their token index.
    title: Vec<(usize, Occurrence)>,
    body: Vec<(usize, Occurrence)>,
}

/// Matches the query in a candidate, in the passages of its content that end within `limit` bytes.
pub(super) fn match_candidate(
    vector: &TermVector,
    limit: usize,
    vocabulary: &mut Vocabulary,
    scratch: &mut Scratch,
) -> MatchedCandidate {
    let Scratch { ids, counts, title: in_title, body: in_body } = scratch;
    ids.clear();
    ids.extend(vector.stems.iter().map(|hash| vocabulary.id(*hash)));
    let term_of = |stem: u32| vocabulary.term(ids[stem as usize]);
    let units = vector.units_within(limit);
    let body = &vector.body[..units.last().map_or(0, |unit| unit.token_end as usize)];
    counts.clear();
    counts.resize(ids.len(), 0);
    vector.title.iter().chain(body).for_each(|token| counts[token.stem() as usize] += 1);
    find_occurrences(&vector.title, vector.body.len(), &vector.loose, term_of, in_title);
    find_occurrences(body, 0, &vector.loose, term_of, in_body);

    let mut passages = Vec::with_capacity(vector.passages);
    let (mut token, mut path, mut occurrence) = (0, 0, 0);
    for unit in units.iter().take(vector.passages) {
        let (token_end, path_end) = (unit.token_end as usize, unit.path_end as usize);
        let end = in_body.partition_point(|(at, _)| *at < token_end);
        let above = vector.paths[path..path_end].iter().flat_map(|heading| vector.headings[*heading as usize].iter());
        passages.push(Passage {
            length: token_end - token,
            occurrences: occurrence..end,
            heading_terms: unordered(above, term_of).0,
        });
        (token, path, occurrence) = (token_end, path_end, end);
    }
    let headings = vector.paths[..path].iter().max().map_or(0, |last| *last as usize + 1);
    let in_headings = vector.headings[..headings].iter().flat_map(|heading| heading.iter());
    // Passages beyond the limit have no matches.
    passages.resize_with(vector.passages, || Passage { occurrences: occurrence..occurrence, ..Passage::default() });

    let (heading_terms, headings_length) = unordered(vector.description.iter().chain(in_headings), term_of);
    let in_headings = heading_terms.into_iter().map(|term| Occurrence { term, position: 0 });
    let field = |length: usize, found: &[(usize, Occurrence)]| Field {
        length,
        occurrences: found.iter().map(|(_, occurrence)| *occurrence).collect(),
    };
    MatchedCandidate {
        terms: ids.iter().copied().zip(counts.iter().copied()).filter(|(_, count)| *count > 0).collect(),
        length: vector.title.len() + body.len(),
        headings: Field { length: headings_length, occurrences: in_headings.collect() },
        title: field(vector.title.len(), in_title),
        body: field(body.len(), in_body),
        passages,
    }
}

/// Replaces `found` by the occurrences of query terms with their token index. `first` is the number of the field's first token in
/// the list of loose stems.
fn find_occurrences(
    tokens: &[TermToken],
    first: usize,
    loose: &[(u32, u32)],
    term_of: impl Fn(u32) -> Option<u16>,
    found: &mut Vec<(usize, Occurrence)>,
) {
    found.clear();
    let mut loose = loose[loose.partition_point(|(token, _)| (*token as usize) < first)..].iter().peekable();
    let mut position = -1;
    for (at, token) in tokens.iter().enumerate() {
        position = token.position(position);
        let other = loose.next_if(|(number, _)| *number as usize == first + at);
        let term = term_of(token.stem()).or_else(|| other.and_then(|(_, stem)| term_of(*stem)));
        if let Some(term) = term {
            found.push((at, Occurrence { term, position: u32::try_from(position).unwrap_or(0) }));
        }
    }
}

/// Returns the query terms of the words in a field without positions, and the number of its words. A word counts once, also if
/// both of its stems are those of a term.
fn unordered<'a>(
    stems: impl Iterator<Item = &'a FieldStem>,
    term_of: impl Fn(u32) -> Option<u16>,
) -> (Vec<u16>, usize) {
    let (mut terms, mut words) = (Vec::new(), 0);
    let mut is_matched = false;
    for stem in stems {
        if !stem.is_loose() {
            words += 1;
            is_matched = false;
        }
        if !is_matched && let Some(term) = term_of(stem.stem()) {
            terms.push(term);
            is_matched = true;
        }
    }
    (terms, words)
}
