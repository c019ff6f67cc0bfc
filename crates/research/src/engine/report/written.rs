//! The report of a model, reduced to what the notes support.
//!
//! - Marks that name no note of the prompt are dropped.
//! - A sentence without a mark gets one if a sentence of a note has most of its words; otherwise it is removed.
//! - A sentence with words in quotation marks that no cited note contains is removed. So is one with a number that neither a
//!   cited note nor the assignment states, unless it follows from others of the sentence.
//! - The sentence in which a truncated text ends is removed, unless its marks are there.
//! - Addresses that are not those of a source are removed, also from headings. Links, images and HTML become text.

use std::collections::BTreeMap;
use std::iter;

use retrieval_core::sentences;

use super::super::assignment::{Assignment, Format};
use super::super::quotes::Quote;
use super::super::quotes::addresses::without_unknown_addresses;
use super::super::quotes::note_sentences::NoteSentences;
use super::super::state::{Note, State};
use super::super::text::figures::{Figures, are_stated, stated_part};
use super::super::text::similar::{Gist, is_unspaced};
use super::super::text::{dates, display, marks};
use super::layout::{Block, Piece, Section};

/// Shared words that make a note the source of a sentence without a mark.
const SUPPORTS: f64 = 0.5;
/// Words in quotation marks that are a quote and not a term.
const QUOTE_WORDS: usize = 3;
/// Characters that count as a word in scripts without spaces.
const UNSPACED_WORD_CHARS: usize = 2;
/// Quotation marks: the opening one, and those that close it.
const QUOTATION_MARKS: [(char, &[char]); 9] = [
    ('"', &['"']),
    ('“', &['”']),
    ('„', &['“', '”']),
    ('”', &['”']),
    ('«', &['»']),
    ('»', &['«', '»']),
    ('‹', &['›']),
    ('「', &['」']),
    ('『', &['』']),
];
const MAX_HEADING_CHARS: usize = 200;
/// Citations of one sentence.
const MAX_MARKS: usize = 6;
/// Sentences without a mark that are compared with all notes. More do not fit into a report.
const MAX_UNMARKED: usize = 500;

/// Notes that the model was shown, prepared for many comparisons.
struct Shown<'a> {
    state: &'a State,
    notes: &'a [usize],
    sentences: NoteSentences,
    /// Texts of the notes, folded: as they are and as plain text, each with the numbers of their marks, which the model saw, and
    /// without.
    folded: BTreeMap<usize, [String; 4]>,
    /// Numbers of the notes, with those of the title and date that the model saw.
    figures: BTreeMap<usize, Figures>,
    /// Numbers of the assignment.
    asked: Figures,
    /// Sentences without a mark that may still be compared with all notes.
    unmarked: usize,
}

impl<'a> Shown<'a> {
    fn of(state: &'a State, assignment: &Assignment, notes: &'a [usize]) -> Self {
        let text = |note: &usize| {
            let text = &state.notes.get(*note)?.text;
            let with_numbers = display::line(&marks::rounded(text), Format::Text);
            let without = marks::take(&display::line(text, Format::Text)).0;
            Some((*note, [fold(text), fold(&marks::take(text).0), fold(&with_numbers), fold(&without)]))
        };
        let figures = |note: &usize| Some((*note, figures_of(state, state.notes.get(*note)?)));
        let wishes = assignment.instructions.as_deref().unwrap_or_default();
        Self {
            state,
            notes,
            sentences: NoteSentences::of(state, notes.iter().copied()),
            folded: notes.iter().filter_map(text).collect(),
            figures: notes.iter().filter_map(figures).collect(),
            asked: Figures::of(&format!("{}\n{wishes}", assignment.query)),
            unmarked: MAX_UNMARKED,
        }
    }
}

fn figures_of(state: &State, note: &Note) -> Figures {
    let source = state.sources.get(note.source);
    let title = source.and_then(|source| source.title.as_deref()).unwrap_or_default();
    let date = source.and_then(|source| dates::of(source.published_at?)).map(dates::Date::iso).unwrap_or_default();
    Figures::of(&format!("{title}\n{date}\n{}", note.text))
}

/// Returns the sections of the model's text that the notes support.
pub(super) fn sections(
    state: &State,
    assignment: &Assignment,
    text: &str,
    shown: &[usize],
    truncated: bool,
) -> Vec<Section> {
    let format = assignment.output.format;
    let mut shown = Shown::of(state, assignment, shown);
    let mut sections = vec![Section::default()];
    let mut paragraph = String::new();
    let mut lines = text.trim_end().lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let heading = line.starts_with('#').then(|| line.trim_start_matches('#').trim());
        let item = item(line);
        let is_rule =
            !line.is_empty() && line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '`' | '|' | ':' | ' '));
        if line.is_empty() || heading.is_some() || item.is_some() || is_rule || line.starts_with("```") {
            flush(&mut shown, &mut paragraph, format, &mut sections);
        }
        if let Some(text) = heading {
            sections.push(Section { heading: shown_heading(&shown, text, format), blocks: Vec::new() });
        } else if let Some(item) = item {
            let item = if truncated && lines.peek().is_none() { finished(item) } else { item };
            add(&mut shown, item, true, format, &mut sections);
        } else if !is_rule && !line.starts_with("```") {
            paragraph.push_str(line);
            paragraph.push('\n');
        }
    }
    if truncated {
        paragraph.truncate(finished(&paragraph).len());
    }
    flush(&mut shown, &mut paragraph, format, &mut sections);
    sections.retain(|section| !section.blocks.is_empty());
    sections
}

/// Returns a heading as it is shown. `None` if nothing but marks and unknown addresses is in it, or a number that neither a
/// note nor the assignment states. The number of a section is not one.
fn shown_heading(shown: &Shown<'_>, text: &str, format: Format) -> Option<String> {
    let text = known_text(shown.state, &marks::take(text).0);
    let figures: Vec<&Figures> = iter::once(&shown.asked).chain(shown.figures.values()).collect();
    let name = display::name(&text, MAX_HEADING_CHARS, format);
    (name.chars().any(char::is_alphanumeric) && are_stated(without_section_number(&text), &figures)).then_some(name)
}

/// Returns a paragraph without the sentence in which it was cut off. A sentence with marks at its end is complete.
fn finished(text: &str) -> &str {
    let Some(last) = sentences::units(text).pop() else { return text };
    let sentence = &text[last.clone()];
    // Those at its beginning belong to the sentence before.
    if marks::is_last(sentence) { text } else { &text[..last.start + marks::leading(sentence)] }
}

fn item(line: &str) -> Option<&str> {
    if let Some(text) = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(text);
    }
    outline_number(line).filter(|(number, _)| number.ends_with(['.', ')'])).map(|(_, text)| text)
}

/// Splits a text after its outline number: `13.`, `4)`, `2.1` or `1.1.`.
fn outline_number(text: &str) -> Option<(&str, &str)> {
    let (number, rest) = text.split_once(' ')?;
    let levels = number.strip_suffix(['.', ')']).unwrap_or(number);
    let is_level = |level: &str| (1..=3).contains(&level.len()) && level.bytes().all(|byte| byte.is_ascii_digit());
    levels.split('.').all(is_level).then_some((number, rest))
}

/// Returns a heading without the number of its section. One before a lowercase word is an amount unless a mark ends it: `2.5
/// million users`.
fn without_section_number(heading: &str) -> &str {
    let is_title = |text: &str| text.starts_with(|c: char| c.is_alphabetic() && !c.is_lowercase());
    let is_section =
        |(number, text): &(&str, &str)| number.ends_with(['.', ')']) || (number.contains('.') && is_title(text));
    outline_number(heading).filter(is_section).map_or(heading, |(_, text)| text)
}

fn flush(shown: &mut Shown<'_>, paragraph: &mut String, format: Format, sections: &mut [Section]) {
    let text = std::mem::take(paragraph);
    add(shown, &text, false, format, sections);
}

fn add(shown: &mut Shown<'_>, text: &str, is_item: bool, format: Format, sections: &mut [Section]) {
    let mut pieces: Vec<Piece> = Vec::new();
    for sentence in sentences_with_marks(text) {
        let Some((statement, citations)) = supported(shown, &sentence) else { continue };
        if !pieces.is_empty() {
            pieces.push(Piece::Text(" ".to_owned()));
        }
        pieces.push(Piece::Text(format!("{} ", display::plain_line(&statement, format))));
        pieces.extend(citations.into_iter().map(Piece::Cite));
    }
    if let Some(section) = sections.last_mut()
        && !pieces.is_empty()
    {
        section.blocks.push(Block { is_item, pieces });
    }
}

/// Splits a paragraph into sentences, each with the marks that follow it.
fn sentences_with_marks(text: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for range in sentences::units(text) {
        let sentence = &text[range];
        let (before, own) = sentence.split_at(marks::leading(sentence));
        match list.last_mut() {
            Some(last) => last.push_str(before),
            None if !before.is_empty() => list.push(before.to_owned()),
            None => {}
        }
        if !own.trim().is_empty() {
            list.push(own.to_owned());
        }
    }
    list
}

/// Returns the sentence as plain text without marks, and its citations. `None` if nothing supports it.
fn supported(shown: &mut Shown<'_>, sentence: &str) -> Option<(String, Vec<Quote>)> {
    let (text, numbers) = marks::take(sentence);
    let text = known_text(shown.state, &text);
    if !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    let gist = Gist::of(&text);
    let mut citations: Vec<Quote> = Vec::new();
    for note in numbers.into_iter().filter_map(|number| number.checked_sub(1)) {
        if citations.len() == MAX_MARKS {
            break;
        }
        if shown.notes.contains(&note) && citations.iter().all(|known| known.note != note) {
            citations.extend(shown.sentences.closest(note, &gist).map(|(quote, _)| quote));
        }
    }
    if citations.is_empty() {
        shown.unmarked = shown.unmarked.checked_sub(1)?;
        let (quote, share) = shown.sentences.closest_of_all(&gist)?;
        if share < SUPPORTS {
            return None;
        }
        citations.push(quote);
    }
    let notes: Vec<&String> = citations.iter().filter_map(|quote| shown.folded.get(&quote.note)).flatten().collect();
    if !quoted(&text).all(|words| notes.iter().any(|note| note.contains(words.as_str()))) {
        return None;
    }
    let figures = citations.iter().filter_map(|quote| shown.figures.get(&quote.note));
    let figures: Vec<&Figures> = figures.chain([&shown.asked]).collect();
    Some((stated_part(text, &figures)?, citations))
}

/// Returns a text as plain text without unknown addresses. Neither marks nor invisible characters hide one.
fn known_text(state: &State, text: &str) -> String {
    without_unknown_addresses(state, &display::line(text, Format::Text))
}

/// Returns the phrases in quotation marks that are long enough to be quotes, folded.
fn quoted(text: &str) -> impl Iterator<Item = String> {
    let mut phrases = Vec::new();
    for (open, close) in QUOTATION_MARKS {
        let mut rest = text;
        while let Some((_, inside)) = rest.split_once(open) {
            rest = inside;
            let before = &text[..text.len() - inside.len() - open.len_utf8()];
            if matches!(open, '”' | '»') && !may_open(before, inside) {
                continue;
            }
            let Some((phrase, after)) = inside.split_once(close) else { break };
            phrases.push(fold(phrase));
            rest = after;
        }
    }
    phrases.into_iter().filter(|phrase| is_quote(phrase))
}

/// Returns true if a quotation mark that closes in most languages stands where a quote begins.
fn may_open(before: &str, inside: &str) -> bool {
    let is_apart = |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '–' | '—');
    before.chars().next_back().is_none_or(is_apart) && inside.starts_with(char::is_alphanumeric)
}

/// Returns true if a folded phrase is long enough to be a quote.
fn is_quote(phrase: &str) -> bool {
    let unspaced = phrase.chars().filter(|c| is_unspaced(*c)).count();
    let words = phrase.split(|c: char| c == ' ' || is_unspaced(c)).filter(|word| !word.is_empty()).count();
    words + unspaced / UNSPACED_WORD_CHARS >= QUOTE_WORDS
}

/// Letters and digits in lowercase, with single spaces between words. Beside scripts without spaces there are none: they are line
/// breaks, or a matter of style.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if !folded.is_empty() && !folded.ends_with(is_unspaced) && !word.starts_with(is_unspaced) {
            folded.push(' ');
        }
        folded.push_str(&word.to_lowercase());
    }
    folded
}
