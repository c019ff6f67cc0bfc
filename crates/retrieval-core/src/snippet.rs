//! The part of a text that shows why it was found.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use crate::analysis::{Analyzers, Language};
use crate::chars;
use crate::markdown::{self, Kind};
use crate::question::Question;
use crate::sentences;

/// Length of a snippet in characters that suits most answers.
pub const SNIPPET_CHARS: usize = 300;

/// Characters of a cut sentence that lead up to the first matched word.
const LEAD: usize = 60;

/// [`Snippets::snippet`] for one text of unknown language.
pub fn snippet(query: &str, text: &str, max_chars: usize) -> String {
    Snippets::new(query).snippet(text, None, max_chars)
}

/// Makes snippets of many texts for one query.
pub struct Snippets<'a> {
    query: &'a str,
    analyzers: Analyzers,
    /// The query under each language that was asked for.
    questions: Vec<(Option<Language>, Question)>,
}

impl<'a> Snippets<'a> {
    pub fn new(query: &'a str) -> Self {
        Self { query, analyzers: Analyzers::default(), questions: Vec::new() }
    }

    /// At most `max_chars` characters of `text` (markdown or plain; mostly a passage): consecutive whole sentences that
    /// hold as many different words of the query as possible. Where one sentence is longer, the part of it around the
    /// words; where nothing matches, the beginning.
    ///
    /// Verbatim, marks included, but for white space: each run of it is one space. Headings, table rules, code fences and
    /// rules between paragraphs neither begin nor end a snippet, unless there is nothing else. No mark is added where something was
    /// cut, and no word is cut that is not longer than the snippet itself. `language` is the ISO 639-1 code of the text.
    pub fn snippet(&mut self, text: &str, language: Option<&str>, max_chars: usize) -> String {
        let language = language.and_then(Language::from_code);
        let question = match self.questions.iter().position(|(known, _)| *known == language) {
            Some(index) => &self.questions[index].1,
            None => {
                let question = Question::new(self.query, &[language.unwrap_or(Language::English)]);
                self.questions.push((language, question));
                &self.questions[self.questions.len() - 1].1
            }
        };
        let mut matches = Vec::new();
        self.analyzers.of(language).tokens(text, |token| {
            if let Some(term) = question.term_of(&token) {
                matches.push(Match { bytes: token.bytes, term });
            }
        });
        // Bigrams come after their second character.
        matches.sort_by_key(|found| found.bytes.start);
        let sentences = sentences_of(text);
        let Some(window) = best_window(text, &sentences, &matches, question, max_chars) else { return String::new() };
        collapsed(&text[window])
    }
}

/// An occurrence of a term of the query.
struct Match {
    bytes: Range<usize>,
    term: u16,
}

/// The sentences and other units that a snippet may begin and end with, in order.
fn sentences_of(text: &str) -> Vec<Range<usize>> {
    let mut units = Vec::new();
    let mut paragraph = 0..0;
    let flush = |paragraph: &mut Range<usize>, units: &mut Vec<Range<usize>>| {
        let range = std::mem::take(paragraph);
        let mut from = range.start;
        for start in sentences::starts(&text[range.clone()]).map(|start| range.start + start).chain([range.end]) {
            if start > from {
                units.push(from..start);
            }
            from = start;
        }
    };
    for line in markdown::lines(text) {
        match line.kind {
            Kind::Text if !paragraph.is_empty() => paragraph.end = line.range.end,
            Kind::Text | Kind::Item => {
                flush(&mut paragraph, &mut units);
                paragraph = line.range;
            }
            // A heading says where a text stands, not what it says: answers show it by itself.
            Kind::Heading { .. }
            | Kind::Blank
            | Kind::Underline
            | Kind::TableRule
            | Kind::ThematicBreak
            | Kind::FenceOpen
            | Kind::FenceClose
            | Kind::Definition => flush(&mut paragraph, &mut units),
            Kind::Code | Kind::IndentedCode | Kind::TableRow | Kind::FrontMatter => {
                flush(&mut paragraph, &mut units);
                units.push(line.range);
            }
        }
    }
    flush(&mut paragraph, &mut units);
    units
}

/// The stretch to show; `None` when there is nothing to show.
fn best_window(
    text: &str,
    units: &[Range<usize>],
    matches: &[Match],
    question: &Question,
    max_chars: usize,
) -> Option<Range<usize>> {
    let Some(first) = units.first() else {
        // Headings and marks alone.
        return (!text.trim().is_empty()).then(|| fitted(text, 0..text.len(), max_chars));
    };
    let lengths: Vec<usize> = units.iter().map(|unit| chars::count(&text[unit.clone()])).collect();
    let mut best: Option<(f64, Range<usize>)> = None;
    let mut worth = Worth::new(question);
    // A window begins at a unit that matches and goes as far as it may: one pass with two ends that only move on.
    let (mut next, mut end, mut length) = (0, 0, 0);
    let mut shown = 0..0;
    for (index, unit) in units.iter().enumerate() {
        while next < matches.len() && matches[next].bytes.start < unit.start {
            next += 1;
        }
        if end <= index {
            (end, length) = (index, 0);
        }
        if matches.get(next).is_some_and(|found| found.bytes.start < unit.end) {
            let window = if lengths[index] > max_chars {
                part_of(text, unit, &matches[next..], max_chars)
            } else {
                // What lies between two units is no more than marks and white space, but is shown too.
                while end < units.len() && length + lengths[end] <= max_chars {
                    length += lengths[end];
                    end += 1;
                }
                unit.start..units[end - 1].end
            };
            while shown.end < matches.len() && matches[shown.end].bytes.end <= window.end {
                worth.enter(matches[shown.end].term);
                shown.end += 1;
            }
            while shown.start < shown.end && matches[shown.start].bytes.start < window.start {
                worth.leave(matches[shown.start].term);
                shown.start += 1;
            }
            let value = worth.value();
            if best.as_ref().is_none_or(|(highest, _)| value > *highest + 1e-9) {
                best = Some((value, window));
            }
        }
        length = length.saturating_sub(lengths[index]);
    }
    let window = best.map_or(first.start..text.len(), |(_, window)| window);
    Some(fitted(text, window, max_chars))
}

/// What a window is worth: each different term by its weight, and a little for saying it again.
struct Worth<'a> {
    question: &'a Question,
    counts: Vec<u32>,
}

impl<'a> Worth<'a> {
    fn new(question: &'a Question) -> Self {
        Self { question, counts: vec![0; question.terms.len()] }
    }

    fn enter(&mut self, term: u16) {
        self.counts[usize::from(term)] += 1;
    }

    fn leave(&mut self, term: u16) {
        self.counts[usize::from(term)] -= 1;
    }

    fn value(&self) -> f64 {
        let terms = self.question.terms.iter().zip(&self.counts).filter(|(_, count)| **count > 0);
        terms.map(|(term, count)| f64::from(term.weight) + 0.1 * f64::from((*count).min(3))).sum()
    }
}

/// The part of a unit that is too long, from a little before the matches that stand closest together.
fn part_of(text: &str, unit: &Range<usize>, matches: &[Match], max_chars: usize) -> Range<usize> {
    let matches: Vec<&Match> = matches.iter().take_while(|found| found.bytes.start < unit.end).collect();
    // Bytes stand for characters here: in a script of more bytes the stretch is only chosen more narrowly.
    let reach = max_chars.saturating_sub(LEAD).max(1);
    let (mut densest, mut most, mut end) = (0, 0, 0);
    for (index, found) in matches.iter().enumerate() {
        while end < matches.len() && matches[end].bytes.end <= found.bytes.start + reach {
            end += 1;
        }
        if end.saturating_sub(index) > most {
            (densest, most) = (index, end - index);
        }
    }
    let match_start = matches.get(densest).map_or(unit.start, |found| found.bytes.start);
    let lead = text.floor_char_boundary(match_start.saturating_sub(LEAD.min(max_chars / 4))).max(unit.start);
    // From the first word that begins in the lead.
    let start = if lead == unit.start {
        lead
    } else {
        let after_space = text[lead..match_start].find(char::is_whitespace).map(|at| lead + at);
        after_space.map_or(match_start, |at| match_start - text[at..match_start].trim_start().len())
    };
    start..unit.end
}

/// The window cut to `max_chars` characters, at the end of a word where there is one.
fn fitted(text: &str, window: Range<usize>, max_chars: usize) -> Range<usize> {
    let start = window.end - text[window.clone()].trim_start().len();
    let shown = text[start..window.end].trim_end();
    let cut = chars::truncate(shown, max_chars);
    if cut.len() == shown.len() {
        return start..start + shown.len();
    }
    let next = shown[cut.len()..].chars().next();
    let mut end = cut.len();
    if next.is_some_and(|next| !next.is_whitespace()) {
        // In the middle of a word, or of a text without spaces.
        let word = cut.rfind(char::is_whitespace).map_or(cut, |at| &cut[at..]);
        let spaced = word.len() < cut.len() && word.trim_start().starts_with(|first: char| first.is_ascii());
        if spaced {
            end = cut.len() - word.len();
        } else {
            // Between two characters, but not before a mark that belongs to the one before.
            while end > 0 && shown[end..].chars().next().is_some_and(is_combining_mark) {
                end = shown.floor_char_boundary(end - 1);
            }
        }
    }
    start..start + shown[..end].trim_end().len()
}

fn collapsed(text: &str) -> String {
    let mut snippet = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !snippet.is_empty() {
            snippet.push(' ');
        }
        snippet.push_str(word);
    }
    snippet
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "# Pump manual\n\nThe pump came to market in 1985. It has seen many owners.\n\n\
        Its bearing takes NLGI 2 grease. Use no other\ngrease, or the bearing wears out. Call us for help.\n\n\
        ```\ncode()\n```\n\n| part | price |\n|---|---|\n| bearing | 12 |\n";

    #[test]
    fn whole_sentences_around_the_words_are_shown() {
        assert_eq!(
            snippet("which grease for the bearings", TEXT, 100),
            "Its bearing takes NLGI 2 grease. Use no other grease, or the bearing wears out. Call us for help."
        );
        assert_eq!(snippet("grease", TEXT, 40), "Its bearing takes NLGI 2 grease.");
        assert_eq!(snippet("1985", TEXT, 60), "The pump came to market in 1985. It has seen many owners.");
        assert_eq!(snippet("price", TEXT, 20), "| part | price |");
        assert_eq!(snippet("code", TEXT, 10), "code()");
    }

    #[test]
    fn without_a_match_the_beginning_is_shown() {
        assert_eq!(snippet("submarine", TEXT, 30), "The pump came to market in");
        assert_eq!(snippet("manual", TEXT, 50), "The pump came to market in 1985. It has seen many");
        assert_eq!(snippet("title", "# Title\n\n", 50), "# Title");
        assert_eq!(snippet("", "short text", 300), "short text");
        assert_eq!(snippet("x", " \n ", 300), "");
        assert_eq!(snippet("x", "", 300), "");
    }

    #[test]
    fn a_sentence_that_is_too_long_is_cut_between_words() {
        let text = format!("{} needle in the haystack {}", "hay ".repeat(200), "straw ".repeat(200));
        let cut = snippet("needle", &text, 100);
        assert!(cut.contains("needle in the haystack") && cut.starts_with("hay") && cut.ends_with("straw"), "{cut}");
        assert!((60..=100).contains(&cut.chars().count()));
        let chinese = format!("{}上海是一座城市{}", "字".repeat(500), "词".repeat(500));
        let cut = snippet("上海", &chinese, 50);
        assert!(cut.contains("上海") && cut.chars().count() <= 50, "{cut}");
    }

    #[test]
    fn texts_are_read_under_their_language() {
        let text = "Erst das eine. Die Häuser wurden verkauft.";
        assert_eq!(Snippets::new("Haus").snippet(text, Some("de"), 30), "Die Häuser wurden verkauft.");
    }

    proptest! {
        #[test]
        fn snippets_are_verbatim_and_short(
            query in "[a-c 日]{0,10}",
            text in "(?s)[a-c日本กั. \n#|é`-]{0,200}",
            max in 0usize..80,
        ) {
            let shown = snippet(&query, &text, max);
            prop_assert!(shown.chars().count() <= max);
            prop_assert!(collapsed(&text).contains(&shown), "{:?} is not in {:?}", shown, text);
        }

        #[test]
        fn any_input_gives_a_snippet(query in "\\PC{0,30}", text in "(?s).{0,300}", max in 0usize..400) {
            prop_assert!(snippet(&query, &text, max).chars().count() <= max);
        }
    }
}
