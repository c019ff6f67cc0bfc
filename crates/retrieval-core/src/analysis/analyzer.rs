use std::borrow::Cow;
use std::ops::Range;

use frostem::Algorithm;

use super::MAX_TERM_BYTES;
use super::address::Addresses;
use super::fold::{fold_into, lower_into, truncate};
use super::ignorable::{Origins, without_ignorable};
use super::language::Language;
use super::segment::{Segment, Segments, Shape};
use super::stemming::{CachedStems, DOCUMENT_SLOTS, NoStems, Stems};

/// Kind of a token.
///
/// `Word` and `Character` tokens are positional: consecutive, one per position, and the units of phrases. The others
/// are additional terms for the same text that ranking uses and phrases ignore.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TokenKind {
    /// A word, number or identifier.
    Word,
    /// One character of a script without spaces.
    Character,
    /// Two neighbouring characters of a script without spaces, at the position of the first.
    Bigram,
    /// Words joined by single `-`, `_`, `.` or `&`, concatenated (`e-mail`: `email`), at the position of the first.
    Compound,
    /// Part of a word: `parseUrl` contains `parse` and `url`, `10kg` contains `10` and `kg`. Also a word or character in
    /// the address of a Markdown link, which belongs to the word before it.
    Part,
}

impl TokenKind {
    /// Returns true if the token occupies a position, so that phrases include it.
    pub fn is_positional(self) -> bool {
        matches!(self, TokenKind::Word | TokenKind::Character)
    }
}

/// One token, borrowed from the analyzer until the next one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Token<'a> {
    pub kind: TokenKind,
    /// Byte range in the source, at character boundaries. Includes ignorable characters inside and right after the token.
    pub bytes: Range<usize>,
    /// Number of the positional token that it is or belongs to, counted from 0. Also 0 in an address at the start of
    /// the text.
    pub position: u32,
    /// Folded, not stemmed form. Never empty, at most [`MAX_TERM_BYTES`] long.
    pub word: &'a str,
    /// Stem. Never empty, of similar maximum length.
    pub stem: &'a str,
    /// Stem of the word typed without diacritics, if different: a second term for the same occurrence, so that `brulee`
    /// finds `brûlée` although the French stemmer shortens only the latter.
    pub loose_stem: Option<&'a str>,
}

/// Analyzer for documents of one language. Reuse it: it caches stems (about 400 kB).
pub struct Analyzer {
    stems: CachedStems,
    scratch: Scratch,
}

#[derive(Default)]
struct Scratch {
    lower: String,
    word: String,
    previous: String,
    bigram: String,
    compound: String,
}

/// Compound under construction.
#[derive(Default)]
struct Compound {
    start: usize,
    end: usize,
    position: u32,
    words: u32,
}

/// Place of a segment among the positional tokens.
#[derive(Clone, Copy)]
struct Place {
    /// Number of its positional token; in an address, of the last one before it.
    position: u32,
    in_address: bool,
}

impl Place {
    /// Returns the kind of a token here that has this kind in running text.
    fn kind(self, in_text: TokenKind) -> TokenKind {
        if self.in_address { TokenKind::Part } else { in_text }
    }
}

/// Longer chains are paths or sentences, not names that a user would type as one word.
const MAX_COMPOUND_WORDS: u32 = 4;

impl Analyzer {
    /// Creates an analyzer for documents of a language, or of an unknown one (see [`Language`]).
    pub fn new(language: Option<Language>) -> Self {
        Self::with_algorithm(Language::algorithm(language), DOCUMENT_SLOTS)
    }

    pub(super) fn with_algorithm(algorithm: Algorithm, slots: usize) -> Self {
        Self { stems: CachedStems::new(algorithm, slots), scratch: Scratch::default() }
    }

    /// Passes the tokens of the text to `sink`, ordered by their end. Accepts any text.
    pub fn tokens(&mut self, text: &str, sink: impl FnMut(Token<'_>)) {
        Walk { stems: &mut self.stems, scratch: &mut self.scratch }.tokens(text, sink);
    }
}

/// Passes byte range and position of each token of [`Analyzer::tokens`] to `sink`, in the same order, under any language.
pub(crate) fn places(text: &str, mut sink: impl FnMut(Range<usize>, u32)) {
    let mut scratch = Scratch::default();
    Walk { stems: &mut NoStems, scratch: &mut scratch }.tokens(text, |token| sink(token.bytes, token.position));
}

/// Walk over the tokens of a text.
struct Walk<'a, S> {
    stems: &'a mut S,
    scratch: &'a mut Scratch,
}

impl<S: Stems> Walk<'_, S> {
    fn tokens(&mut self, text: &str, mut sink: impl FnMut(Token<'_>)) {
        let analysed = without_ignorable(text);
        let mut origins = matches!(analysed, Cow::Owned(_)).then(|| Origins::new(text));
        self.tokens_of_analysed(&analysed, |mut token| {
            if let Some(origins) = &mut origins {
                token.bytes = origins.range(&token.bytes);
            }
            sink(token);
        });
    }

    /// Passes the tokens of a text without ignorable characters to `sink`, with their places in it.
    fn tokens_of_analysed(&mut self, text: &str, mut sink: impl FnMut(Token<'_>)) {
        let mut next_position: u32 = 0;
        let mut addresses = Addresses::new(text);
        let mut compound = Compound::default();
        // Range of the previous character if a bigram may join it to this one.
        let mut character_before: Option<Range<usize>> = None;
        for segment in Segments::new(text) {
            let source = &text[segment.bytes.clone()];
            let in_address = addresses.contain(segment.bytes.start);
            let place = Place { position: next_position.saturating_sub(u32::from(in_address)), in_address };
            if segment.shape == Shape::Unspaced {
                self.flush_compound(&mut compound, &mut sink);
                if self.character(source, &segment, place, character_before.as_ref(), &mut sink) {
                    character_before = Some(segment.bytes);
                    next_position += u32::from(!in_address);
                } else {
                    character_before = None;
                }
                continue;
            }
            character_before = None;
            if !self.fold(source, segment.shape) {
                continue;
            }
            if !(compound.words > 0 && is_joiner(&text[compound.end..segment.bytes.start])) {
                self.flush_compound(&mut compound, &mut sink);
            }
            self.word(&segment, place, &mut sink);
            if segment.shape == (Shape::Ascii { mixed: true }) {
                self.parts(source, &segment, place.position, &mut sink);
            }
            self.extend_compound(&mut compound, &segment, place.position);
            next_position += u32::from(!in_address);
        }
        self.flush_compound(&mut compound, &mut sink);
    }

    /// Fills the scratch buffers with the forms of a word. Returns false if the result is empty.
    fn fold(&mut self, source: &str, shape: Shape) -> bool {
        let Scratch { lower, word, .. } = &mut self.scratch;
        word.clear();
        if shape == Shape::Unicode {
            lower.clear();
            lower_into(source, lower);
            truncate(lower);
            fold_into(lower, word);
        } else {
            word.push_str(&source[..source.len().min(2 * MAX_TERM_BYTES)]);
            word.make_ascii_lowercase();
            if shape == (Shape::Ascii { mixed: true }) {
                word.retain(|c| c != ',');
            }
        }
        truncate(word);
        !word.is_empty()
    }

    fn word(&mut self, segment: &Segment, place: Place, sink: &mut impl FnMut(Token<'_>)) {
        let Scratch { lower, word, .. } = &*self.scratch;
        let (kind, bytes, position) = (place.kind(TokenKind::Word), segment.bytes.clone(), place.position);
        if segment.shape != Shape::Unicode {
            let stem = self.stems.stem(word);
            sink(Token { kind, bytes, position, word, stem, loose_stem: None });
            return;
        }
        let (stem, loose) = self.stems.both(lower, word);
        sink(Token { kind, bytes, position, word, stem, loose_stem: loose });
    }

    /// Emits the parts of a word of mixed case or of letters and digits.
    fn parts(&mut self, source: &str, segment: &Segment, position: u32, sink: &mut impl FnMut(Token<'_>)) {
        for_each_part(source, |range| {
            let word = &mut self.scratch.bigram;
            word.clear();
            word.push_str(&source[range.clone()]);
            word.make_ascii_lowercase();
            let bytes = segment.bytes.start + range.start..segment.bytes.start + range.end;
            let stem = self.stems.stem(word);
            sink(Token { kind: TokenKind::Part, bytes, position, word, stem, loose_stem: None });
        });
    }

    /// Emits a character, and the bigram with an adjacent preceding one. Returns false if the folded form is empty.
    fn character(
        &mut self,
        source: &str,
        segment: &Segment,
        place: Place,
        before: Option<&Range<usize>>,
        sink: &mut impl FnMut(Token<'_>),
    ) -> bool {
        let Scratch { word, previous, bigram, .. } = &mut self.scratch;
        word.clear();
        if is_plain_cluster(source) {
            word.push_str(source);
        } else {
            lower_into(source, word);
            truncate(word);
        }
        if word.is_empty() {
            return false;
        }
        sink(Token {
            kind: place.kind(TokenKind::Character),
            bytes: segment.bytes.clone(),
            position: place.position,
            word,
            stem: word,
            loose_stem: None,
        });
        if let Some(before) = before.filter(|before| before.end == segment.bytes.start) {
            bigram.clear();
            bigram.push_str(previous);
            bigram.push_str(word);
            truncate(bigram);
            let bytes = before.start..segment.bytes.end;
            let kind = TokenKind::Bigram;
            // In an address, both characters have the same position.
            let position = place.position.saturating_sub(u32::from(!place.in_address));
            sink(Token { kind, bytes, position, word: bigram, stem: bigram, loose_stem: None });
        }
        std::mem::swap(previous, word);
        true
    }

    fn extend_compound(&mut self, compound: &mut Compound, segment: &Segment, position: u32) {
        let Scratch { word, compound: joined, .. } = &mut self.scratch;
        if compound.words == 0 {
            joined.clear();
            *compound = Compound { start: segment.bytes.start, end: 0, position, words: 0 };
        }
        compound.words += 1;
        compound.end = segment.bytes.end;
        if joined.len() <= MAX_TERM_BYTES {
            joined.push_str(word);
        }
    }

    fn flush_compound(&mut self, compound: &mut Compound, sink: &mut impl FnMut(Token<'_>)) {
        let Compound { start, end, position, words } = std::mem::take(compound);
        let word = &self.scratch.compound;
        if (2..=MAX_COMPOUND_WORDS).contains(&words) && word.len() <= MAX_TERM_BYTES {
            let stem = self.stems.stem(word);
            sink(Token { kind: TokenKind::Compound, bytes: start..end, position, word, stem, loose_stem: None });
        }
    }
}

/// Analyzers by language, created on first use. Keep one per thread: mixed batches switch between languages often.
#[derive(Default)]
pub struct Analyzers(Vec<(Algorithm, Analyzer)>);

impl Analyzers {
    /// Returns the analyzer of the language, or of an unknown one.
    pub fn of(&mut self, language: Option<Language>) -> &mut Analyzer {
        let algorithm = Language::algorithm(language);
        let at = self.0.iter().position(|(known, _)| *known == algorithm).unwrap_or_else(|| {
            self.0.push((algorithm, Analyzer::with_algorithm(algorithm, DOCUMENT_SLOTS)));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

/// Returns true for exactly one joiner.
fn is_joiner(between: &str) -> bool {
    matches!(between, "-" | "_" | "." | "&" | "\u{2010}" | "\u{2011}")
}

/// Returns true for Han, kana without combining voicing marks and Hangul syllables: already normalized and caseless.
fn is_plain_cluster(source: &str) -> bool {
    let mut chars = source.chars();
    let plain = matches!(
        chars.next(),
        Some(
            '\u{3041}'..='\u{3096}'
            | '\u{30a1}'..='\u{30fa}'
            | '\u{30fc}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}',
        )
    );
    plain && chars.next().is_none()
}

/// Calls `part` for the parts of a word: split at changes from lower to upper case (`parseUrl`), before the last of
/// several capitals (`HTTPServer`), and at a single change between letters and digits (`10kg`). A word with more such
/// changes is a code or a digest whose parts are meaningless.
fn for_each_part(source: &str, mut part: impl FnMut(Range<usize>)) {
    let bytes = source.as_bytes();
    if bytes.len() > MAX_TERM_BYTES || bytes.contains(&b',') {
        return;
    }
    let is_digit = |at: usize| bytes[at].is_ascii_digit() || bytes[at] == b'.';
    let changes = (1..bytes.len()).filter(|at| is_digit(*at) != is_digit(*at - 1)).count();
    if changes > 1 {
        return;
    }
    let mut start = 0;
    for at in 1..=bytes.len() {
        let ends = at == bytes.len()
            || is_digit(at) != is_digit(at - 1)
            || (bytes[at].is_ascii_uppercase()
                && (bytes[at - 1].is_ascii_lowercase() || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase)));
        if !ends {
            continue;
        }
        let range = start..at;
        start = at;
        // Single letters carry no meaning, and a single digit only next to a word (`NLGI2`, not `u2`).
        let long_enough = range.len() >= 2 || (is_digit(range.start) && bytes.len() >= 4);
        if long_enough && range.len() < bytes.len() && bytes[range.clone()].iter().any(u8::is_ascii_alphanumeric) {
            part(range);
        }
    }
}
