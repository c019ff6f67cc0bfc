//! The report of a model, reduced to what the notes support.
//!
//! - Marks that name no note of the prompt are dropped.
//! - A sentence without a mark gets one if a sentence of a note has most of its words; otherwise it is removed.
//! - A sentence with words in quotation marks that no cited note contains is removed.
//! - Addresses that are not those of a source are removed, also from headings. Links, images and HTML become text.

use retrieval_core::sentences;

use super::super::assignment::Format;
use super::super::quotes::addresses::without_unknown_addresses;
use super::super::quotes::{self, Quote};
use super::super::state::State;
use super::super::text::display;
use super::super::text::similar::Gist;
use super::layout::{Block, Piece, Section};
use super::marks;

/// Shared words that make a note the source of a sentence without a mark.
const SUPPORTS: f64 = 0.5;
/// Words in quotation marks that are a quote and not a term.
const QUOTE_WORDS: usize = 3;
const MAX_HEADING_CHARS: usize = 200;
/// Citations of one sentence.
const MAX_MARKS: usize = 6;

/// Returns the sections of the model's text that the notes support.
pub(super) fn sections(state: &State, text: &str, shown: &[usize], format: Format) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let mut paragraph = String::new();
    for line in text.lines().map(str::trim) {
        let heading = line.starts_with('#').then(|| line.trim_start_matches('#').trim());
        let item = item(line);
        let is_rule =
            !line.is_empty() && line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '`' | '|' | ':' | ' '));
        if line.is_empty() || heading.is_some() || item.is_some() || is_rule || line.starts_with("```") {
            flush(state, &mut paragraph, shown, format, &mut sections);
        }
        if let Some(text) = heading {
            sections.push(Section { heading: shown_heading(state, text, format), blocks: Vec::new() });
        } else if let Some(item) = item {
            add(state, item, true, shown, format, &mut sections);
        } else if !is_rule && !line.starts_with("```") {
            paragraph.push_str(line);
            paragraph.push('\n');
        }
    }
    flush(state, &mut paragraph, shown, format, &mut sections);
    sections.retain(|section| !section.blocks.is_empty());
    sections
}

/// Returns a heading as it is shown. `None` if nothing but marks and unknown addresses is in it.
fn shown_heading(state: &State, text: &str, format: Format) -> Option<String> {
    // As plain text, so that neither marks nor invisible characters hide an address.
    let text = display::line(&marks::take(text).0, Format::Text);
    let text = display::name(&without_unknown_addresses(state, &text), MAX_HEADING_CHARS, format);
    text.chars().any(char::is_alphanumeric).then_some(text)
}

fn item(line: &str) -> Option<&str> {
    if let Some(text) = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(text);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..).filter(|_| (1..=3).contains(&digits))?;
    rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
}

fn flush(state: &State, paragraph: &mut String, shown: &[usize], format: Format, sections: &mut [Section]) {
    let text = std::mem::take(paragraph);
    add(state, &text, false, shown, format, sections);
}

fn add(state: &State, text: &str, is_item: bool, shown: &[usize], format: Format, sections: &mut [Section]) {
    let mut pieces: Vec<Piece> = Vec::new();
    for sentence in sentences_with_marks(text) {
        let Some((statement, citations)) = supported(state, &sentence, shown) else { continue };
        if !pieces.is_empty() {
            pieces.push(Piece::Text(" ".to_owned()));
        }
        pieces.push(Piece::Text(format!("{} ", display::line(&statement, format))));
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

/// Returns the sentence without marks, and its citations. `None` if nothing supports it.
fn supported(state: &State, sentence: &str, shown: &[usize]) -> Option<(String, Vec<Quote>)> {
    let (text, numbers) = marks::take(sentence);
    let text = without_unknown_addresses(state, &text);
    if !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    let gist = Gist::of(&text);
    let named = numbers.into_iter().filter_map(|number| number.checked_sub(1)).filter(|note| shown.contains(note));
    let mut citations: Vec<Quote> = Vec::new();
    for (quote, _) in named.filter_map(|note| quotes::closest(state, note, &gist)) {
        if !citations.contains(&quote) && citations.len() < MAX_MARKS {
            citations.push(quote);
        }
    }
    if citations.is_empty() {
        let closest = shown.iter().filter_map(|note| quotes::closest(state, *note, &gist));
        let (quote, share) = closest.max_by(|a, b| a.1.total_cmp(&b.1))?;
        if share < SUPPORTS {
            return None;
        }
        citations.push(quote);
    }
    let is_in_note = |words: &String| citations.iter().any(|quote| contains(&state.notes[quote.note].text, words));
    let quotes_notes = quoted(&text).all(|words| is_in_note(&words));
    quotes_notes.then_some((text, citations))
}

/// Returns the phrases in quotation marks that are long enough to be quotes, folded.
fn quoted(text: &str) -> impl Iterator<Item = String> {
    let mut phrases = Vec::new();
    for (open, close) in [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」')] {
        let mut rest = text;
        while let Some((_, inside)) = rest.split_once(open) {
            let Some((phrase, after)) = inside.split_once(close) else { break };
            phrases.push(fold(phrase));
            rest = after;
        }
    }
    phrases.into_iter().filter(|phrase| phrase.split(' ').count() >= QUOTE_WORDS)
}

fn contains(note: &str, words: &str) -> bool {
    fold(note).contains(words)
}

/// Letters and digits in lowercase, with single spaces between words.
fn fold(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
