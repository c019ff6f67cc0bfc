//! Term vectors: documents analysed once and ranked many times.

use std::ops::Range;

use super::stem_key::StemIds;
use crate::analysis::{self, Analyzer, Analyzers, Language};
use crate::passages::PassageSpan;
use crate::stem_hash;

/// Text of a document for ranking and quoting.
#[derive(Clone, Copy, Debug, Default)]
pub struct DocumentText<'a> {
    pub title: &'a str,
    pub description: &'a str,
    pub content: &'a str,
    /// Passages of `content` from [`crate::passages::split`].
    pub passages: &'a [PassageSpan],
    /// ISO 639-1 code of the language the document was indexed in; `None` if unknown.
    pub language: Option<&'a str>,
}

/// Terms of a document in order, by field and passage: the input of ranking in place of the text. Independent of the
/// query. About 8 bytes per word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TermVector {
    pub(super) language: Option<Language>,
    /// Hashes of the distinct stems of all fields.
    pub(super) stems: Box<[u64]>,
    /// Stems of words typed without diacritics, if different: token number (title tokens are numbered after those of
    /// the body) and stem id.
    pub(super) loose: Box<[(u32, u32)]>,
    pub(super) title: Box<[TermToken]>,
    pub(super) body: Box<[TermToken]>,
    /// Stems of the description.
    pub(super) description: Box<[FieldStem]>,
    /// Stems of each heading, in text order.
    pub(super) headings: Vec<Box<[FieldStem]>>,
    pub(super) units: Box<[Unit]>,
    /// Headings above the units, outermost first, concatenated for all units.
    pub(super) paths: Box<[u32]>,
    pub(super) passages: usize,
    pub(super) content_bytes: usize,
    /// Bytes up to which the content was analysed.
    pub(super) analysed: usize,
}

/// Token of a field: its stem id, and the step from the previous position to its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TermToken(u32);

/// Bits of a step. Positions usually advance by one; tokens that stand for several words step back over a few.
const STEP_BITS: u32 = 4;
const STEP_BIAS: i64 = 1 << (STEP_BITS - 1);
/// Bits of the step to the next position.
pub(super) const NEXT_STEP: u8 = STEP_BIAS as u8 + 1;

impl TermToken {
    fn new(stem: u32, step: i64) -> Self {
        Self(stem << STEP_BITS | (step + STEP_BIAS).clamp(0, 2 * STEP_BIAS - 1) as u32)
    }

    /// Returns the token of a stem id and of the bits of its step. `None` if one of them does not fit.
    pub fn from_bits(stem: u32, step: u8) -> Option<Self> {
        let fits = stem >> (u32::BITS - STEP_BITS) == 0 && step >> STEP_BITS == 0;
        fits.then_some(Self(stem << STEP_BITS | u32::from(step)))
    }

    /// Returns the bits of the step.
    pub fn step_bits(self) -> u8 {
        (self.0 & ((1 << STEP_BITS) - 1)) as u8
    }

    pub fn stem(self) -> u32 {
        self.0 >> STEP_BITS
    }

    /// Returns the position of the token given that of the previous token, which is -1 for the first.
    pub fn position(self, before: i64) -> i64 {
        before + i64::from(self.step_bits()) - STEP_BIAS
    }
}

/// Stem id in a field without positions. The stem of a word typed without diacritics, if different, follows that of the word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FieldStem(u32);

impl FieldStem {
    fn new(stem: u32, is_loose: bool) -> Self {
        Self(stem << 1 | u32::from(is_loose))
    }

    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub fn bits(self) -> u32 {
        self.0
    }

    pub fn stem(self) -> u32 {
        self.0 >> 1
    }

    /// Returns true for a second stem of the word before.
    pub fn is_loose(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Passage, or the whole body if there are no passages. Exists only for analysed text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    /// End of its text in the content.
    pub byte_end: usize,
    /// End of its tokens in the body.
    pub token_end: u32,
    /// End of the headings above it in the paths.
    pub path_end: u32,
}

impl DocumentText<'_> {
    /// Returns a key of the texts beside the content: with another key, the document has another [`TermVector`].
    pub fn key(&self) -> u64 {
        let texts = [self.title, self.description, self.language.unwrap_or_default()];
        texts.into_iter().fold(0, |key, text| stem_hash::mix(key, stem_hash::hash(text)))
    }
}

impl TermVector {
    /// Analyses a document: the passages of its content that end within `limit` bytes, at least the first.
    pub fn of(document: &DocumentText<'_>, limit: usize, analyzers: &mut Analyzers) -> Self {
        Self::of_prefix(document, document.content.len(), limit, analyzers)
    }

    /// Analyses a document like [`of`](Self::of), given the beginning of its content and the passages in it.
    /// `content_bytes` is the length of the whole content.
    pub fn of_prefix(
        document: &DocumentText<'_>,
        content_bytes: usize,
        limit: usize,
        analyzers: &mut Analyzers,
    ) -> Self {
        let language = document.language.and_then(Language::from_code);
        let mut builder = Builder { analyzer: analyzers.of(language), stems: StemIds::default(), loose: Vec::new() };
        let units = units(document, limit);
        let read = units.last().map_or(0, |unit| unit.byte_end);

        let mut body = Vec::new();
        builder.field(&document.content[..read], &mut body, 0);
        // Tokens are ordered by their end; a passage contains those that begin before its end.
        let mut units: Vec<Unit> = units;
        let mut at = 0;
        for unit in &mut units {
            while at < body.len() && body[at].1 < unit.byte_end {
                at += 1;
            }
            unit.token_end = at as u32;
        }
        let mut title = Vec::new();
        builder.field(document.title, &mut title, body.len() as u32);
        let description = builder.stems_of(document.description);
        let (headings, paths) = builder.headings(document.passages, &mut units);

        let mut stems = vec![0; builder.stems.len()];
        builder.stems.iter().for_each(|(hash, number)| stems[*number as usize] = *hash);
        let tokens = |field: Vec<(TermToken, usize)>| field.into_iter().map(|(token, _)| token).collect();
        Self {
            language,
            stems: stems.into(),
            loose: builder.loose.into(),
            title: tokens(title),
            body: tokens(body),
            description: description.into(),
            headings,
            units: units.into(),
            paths: paths.into(),
            passages: document.passages.len(),
            content_bytes,
            // The same for every limit that reaches the end.
            analysed: if read < content_bytes { limit } else { content_bytes },
        }
    }

    /// Returns the language that the document was analysed in; `None` if it was not known.
    pub fn language(&self) -> Option<Language> {
        self.language
    }

    /// Returns the length of the document's content, analysed or not.
    pub fn content_bytes(&self) -> usize {
        self.content_bytes
    }

    /// Returns the number of passages of the content, at least 1, estimated from those that end within `limit` bytes: the same
    /// for all vectors that [cover](Self::covers) it.
    pub fn passages(&self, limit: usize) -> f64 {
        let units = self.units_within(limit);
        match units.last().map_or(0, |unit| unit.byte_end) {
            0 => 1.0,
            read => units.len() as f64 * (self.content_bytes as f64 / read as f64).max(1.0),
        }
    }

    /// Returns true if analysing the document up to `limit` would add nothing.
    pub fn covers(&self, limit: usize) -> bool {
        self.analysed >= limit || self.read_bytes() >= self.content_bytes
    }

    /// Returns true if analysing the document only up to `limit` would leave nothing out.
    pub fn is_within(&self, limit: usize) -> bool {
        self.units_within(limit).len() == self.units.len()
    }

    /// Finds the terms in the passage of this position, without stemming its words again: `term_of` returns the term with a stem
    /// of this [`hash`](stem_hash::hash). `content` is the text that was analysed. Returns the terms with their places in it, ordered by
    /// their ends. `None` if the passage was not analysed up to this `end`, or has other tokens by itself.
    pub(crate) fn find_terms(
        &self,
        content: &str,
        passage: usize,
        end: usize,
        term_of: impl Fn(u64) -> Option<u16>,
    ) -> Option<Vec<(Range<usize>, u16)>> {
        let unit = self.units.get(passage).filter(|unit| unit.byte_end == end)?;
        let before = passage.checked_sub(1).map(|before| self.units[before]);
        let (start, first) = before.map_or((0, 0), |before| (before.byte_end, before.token_end));
        let tokens = self.body.get(first as usize..unit.token_end as usize)?;
        let mut loose = self.loose[self.loose.partition_point(|(token, _)| *token < first)..].iter().peekable();
        let text = content.get(start..end)?;
        let term_of_stem = |stem: u32| term_of(self.stems[stem as usize]);
        let (mut found, mut count, mut is_same, mut position, mut last_end) = (Vec::new(), 0, true, -1, 0);
        analysis::places(text, |bytes, at| {
            let Some(token) = tokens.get(count) else {
                is_same = false;
                return;
            };
            let step = TermToken::new(0, i64::from(at) - position);
            // The position before the first one is not known.
            is_same &= count == 0 || step.step_bits() == token.step_bits();
            (position, last_end) = (i64::from(at), bytes.end);
            let other = loose.next_if(|(number, _)| *number as usize == first as usize + count);
            if let Some(term) = term_of_stem(token.stem()).or_else(|| other.and_then(|(_, stem)| term_of_stem(*stem))) {
                found.push((start + bytes.start..start + bytes.end, term));
            }
            count += 1;
        });
        // The stem of a word that goes on behind the passage is that of the whole word.
        let is_cut = last_end == text.len() && content[end..].chars().next().is_some_and(analysis::may_continue_word);
        (is_same && count == tokens.len() && !is_cut).then_some(found)
    }

    /// Returns the approximate memory use in bytes.
    pub fn memory(&self) -> usize {
        let headings: usize = self.headings.iter().map(|heading| 4 * heading.len() + 16).sum();
        size_of::<Self>()
            + size_of_val(&*self.stems)
            + size_of_val(&*self.loose)
            + size_of_val(&*self.title)
            + size_of_val(&*self.body)
            + size_of_val(&*self.description)
            + size_of_val(&*self.units)
            + size_of_val(&*self.paths)
            + headings
    }

    fn read_bytes(&self) -> usize {
        self.units.last().map_or(0, |unit| unit.byte_end)
    }

    /// Returns the units that end within `limit` bytes, at least the first.
    pub(super) fn units_within(&self, limit: usize) -> &[Unit] {
        let within = self.units.partition_point(|unit| unit.byte_end <= limit);
        &self.units[..within.max(1).min(self.units.len())]
    }
}

/// Returns the passages that end within the limit, at least the first, or the beginning of a content without passages.
fn units(document: &DocumentText<'_>, limit: usize) -> Vec<Unit> {
    let unit = |byte_end| Unit { byte_end, token_end: 0, path_end: 0 };
    if document.passages.is_empty() {
        let end = document.content.floor_char_boundary(limit);
        return if end == 0 { Vec::new() } else { vec![unit(end)] };
    }
    // Hand-made passages may extend beyond the content or end inside a character.
    let end_of = |span: &PassageSpan| document.content.floor_char_boundary(span.bytes.end);
    let within = document.passages.iter().take_while(|span| span.bytes.end <= limit).count().max(1);
    let mut last = 0;
    let ends = document.passages[..within].iter().map(|span| {
        last = end_of(span).max(last);
        unit(last)
    });
    ends.collect()
}

struct Builder<'a> {
    analyzer: &'a mut Analyzer,
    /// Stem ids by hash.
    stems: StemIds,
    loose: Vec<(u32, u32)>,
}

impl Builder<'_> {
    /// Adds the tokens of a text, each with its start byte. `before` is the number of its first token.
    fn field(&mut self, text: &str, tokens: &mut Vec<(TermToken, usize)>, before: u32) {
        let Self { analyzer, stems, loose } = self;
        let mut position = -1;
        analyzer.tokens(text, |token| {
            if let Some(stem) = token.loose_stem {
                loose.push((before + tokens.len() as u32, stem_id(stems, stem)));
            }
            let term = TermToken::new(stem_id(stems, token.stem), i64::from(token.position) - position);
            position = term.position(position);
            tokens.push((term, token.bytes.start));
        });
    }

    fn stems_of(&mut self, text: &str) -> Vec<FieldStem> {
        let Self { analyzer, stems, .. } = self;
        let mut found = Vec::new();
        analyzer.tokens(text, |token| {
            found.push(FieldStem::new(stem_id(stems, token.stem), false));
            found.extend(token.loose_stem.map(|stem| FieldStem::new(stem_id(stems, stem), true)));
        });
        found
    }

    /// Returns the headings above the units without repetition, and the heading numbers above each unit.
    fn headings(&mut self, spans: &[PassageSpan], units: &mut [Unit]) -> (Vec<Box<[FieldStem]>>, Vec<u32>) {
        let (mut headings, mut paths) = (Vec::new(), Vec::new());
        // Headings above the previous passage.
        let mut path: Vec<(&str, u32)> = Vec::new();
        for (span, unit) in spans.iter().zip(units) {
            let same = path.iter().zip(&span.section_path).take_while(|((known, _), heading)| known == heading).count();
            path.truncate(same);
            for heading in &span.section_path[same..] {
                path.push((heading, headings.len() as u32));
                headings.push(self.stems_of(heading).into());
            }
            paths.extend(path.iter().map(|(_, number)| *number));
            unit.path_end = paths.len() as u32;
        }
        (headings, paths)
    }
}

fn stem_id(stems: &mut StemIds, stem: &str) -> u32 {
    let next = stems.len() as u32;
    *stems.entry(stem_hash::hash(stem)).or_insert(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passages::split;

    fn vector(content: &str, limit: usize) -> TermVector {
        let spans = split(content);
        let document = DocumentText { title: "T", content, passages: &spans, ..DocumentText::default() };
        TermVector::of(&document, limit, &mut Analyzers::default())
    }

    #[test]
    fn a_vector_covers_the_analysed_part() {
        let content = format!("# One\n\n{}\n\n# Two\n\n{}", "some words ".repeat(80), "other words ".repeat(80));
        let whole = vector(&content, usize::MAX);
        assert!(whole.covers(usize::MAX) && whole.units.len() > 1 && whole.body.len() > 300);
        let part = vector(&content, 10);
        assert_eq!(part.units.len(), 1, "at least one passage is analysed");
        assert!(part.covers(10) && !part.covers(content.len()));
        assert!(part.memory() < whole.memory());
        let bytes_a_word = whole.memory() / content.split_whitespace().count();
        assert!(bytes_a_word < 10, "{bytes_a_word}");
        assert!(vector("", 0).covers(usize::MAX));
    }

    #[test]
    fn number_of_passages_is_estimated_from_the_same_beginning() {
        let sections: String = (0..200).map(|number| format!("# Part {number}\n\nA few words.\n\n")).collect();
        let content = format!("{}\n\n{sections}", "some words about tides. ".repeat(400));
        let limit = 5_000;
        let (part, whole) = (vector(&content, limit), vector(&content, usize::MAX));
        assert!(part.units.len() < whole.units.len());
        assert_eq!(part.passages(limit), whole.passages(limit));
        assert_eq!(vector("", limit).passages(limit), 1.0);
    }

    #[test]
    fn a_prefix_is_analysed_like_the_whole() {
        let content = "some words about tides. ".repeat(400);
        let limit = content.len() / 2;
        let whole = vector(&content, limit);
        let spans = split(&content);
        let known: Vec<PassageSpan> = spans.iter().take_while(|span| span.bytes.end <= limit).cloned().collect();
        let end = known.last().map_or(0, |span| span.bytes.end);
        let document = DocumentText { title: "T", content: &content[..end], passages: &known, ..Default::default() };
        let prefix = TermVector::of_prefix(&document, content.len(), limit, &mut Analyzers::default());
        assert_eq!((prefix.body.len(), prefix.units.len()), (whole.body.len(), whole.units.len()));
        assert!(prefix.content_bytes() == content.len() && !prefix.covers(limit + 1));
        assert!(prefix.covers(limit) && whole.covers(limit), "the passage at the limit is not read again");
    }

    #[test]
    fn positions_match_the_analysis() {
        for text in ["some e-mail and a state-of-the-art parseUrl call", "東京都の天気 and 10kg", "a-b-c-d e.f.g.h"]
        {
            let mut expected = Vec::new();
            Analyzers::default().of(None).tokens(text, |token| expected.push(i64::from(token.position)));
            let mut position = -1;
            let vector = vector(text, usize::MAX);
            let read = vector.body.iter().map(|token| {
                position = token.position(position);
                position
            });
            assert_eq!(read.collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn passages_beyond_the_content_are_clamped() {
        let mut spans = split("été été été");
        spans[0].bytes = 3..1_000;
        let document = DocumentText { content: "été été", passages: &spans, ..DocumentText::default() };
        assert_eq!(TermVector::of(&document, usize::MAX, &mut Analyzers::default()).body.len(), 2);
        spans[0].bytes = 0..1;
        let document = DocumentText { content: "été été", passages: &spans, ..DocumentText::default() };
        assert!(TermVector::of(&document, usize::MAX, &mut Analyzers::default()).body.is_empty());
    }
}
