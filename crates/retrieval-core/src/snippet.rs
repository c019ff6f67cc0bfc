//! Snippets: the part of a text that shows why it matched.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use crate::analysis::{Analyzer, Analyzers, Language};
use crate::chars;
use crate::query_matcher::QueryMatcher;
use crate::rerank::TermVector;
use crate::sentences;

/// Default length of a snippet in characters.
pub const SNIPPET_CHARS: usize = 300;

/// Characters of a truncated sentence before the first matched word.
const LEAD_CHARS: usize = 60;

/// Makes a snippet of one text of unknown language; see [`Snippets::snippet`].
pub fn snippet(query: &str, text: &str, max_chars: usize) -> String {
    Snippets::new(query, &mut Analyzers::default()).snippet(text, None, max_chars)
}

/// Snippet generator for many texts and one query.
pub struct Snippets<'a> {
    query: &'a str,
    analyzers: &'a mut Analyzers,
    /// Analysed query for each language used so far.
    matchers: Vec<(Option<Language>, QueryMatcher)>,
}

impl<'a> Snippets<'a> {
    /// Creates a generator that reuses the stems of `analyzers`, which are most of its work.
    pub fn new(query: &'a str, analyzers: &'a mut Analyzers) -> Self {
        Self { query, analyzers, matchers: Vec::new() }
    }

    /// Returns at most `max_chars` characters of `text` (Markdown or plain text, usually a passage): consecutive whole
    /// sentences with as many different query words as possible. If one sentence is too long, the part around the
    /// words; without a match, the beginning.
    ///
    /// The snippet is verbatim, marks included, except that runs of white space become one space. It neither begins nor
    /// ends with a heading, table rule, code fence or thematic break unless there is nothing else. No ellipsis is
    /// added, and only a word longer than the snippet is split. `language` is the ISO 639-1 code of the text.
    pub fn snippet(&mut self, text: &str, language: Option<&str>, max_chars: usize) -> String {
        let language = language.and_then(Language::from_code);
        let matcher = matcher(&mut self.matchers, self.query, language);
        let matches = matches(self.analyzers.of(language), matcher, text);
        of_matches(text, matches, matcher, max_chars)
    }

    /// Returns the snippet of a passage like [`Snippets::snippet`], at a fraction of its cost: `terms` are those of the document.
    pub fn snippet_of(&mut self, passage: &KnownPassage<'_>, language: Option<&str>, max_chars: usize) -> String {
        let KnownPassage { terms, content, position, bytes } = passage;
        let language = language.and_then(Language::from_code);
        let matcher = matcher(&mut self.matchers, self.query, language);
        let text = content.get(bytes.clone()).unwrap_or_default();
        let known = match terms.language() == language {
            true => terms.find_terms(content, *position, bytes.end, |hash| matcher.term_of_hash(hash)),
            false => None,
        };
        let known = known.map(|found| {
            // Text between two passages belongs to none.
            let within = found.into_iter().filter(|(place, _)| place.start >= bytes.start);
            let relative = |place: Range<usize>| place.start - bytes.start..place.end - bytes.start;
            within.map(|(place, term)| Match { bytes: relative(place), term }).collect()
        });
        let matches = known.unwrap_or_else(|| matches(self.analyzers.of(language), matcher, text));
        of_matches(text, matches, matcher, max_chars)
    }
}

/// Passage of a document whose terms are known.
pub struct KnownPassage<'a> {
    pub terms: &'a TermVector,
    /// Text that the terms were analysed from.
    pub content: &'a str,
    /// Position of the passage in the document, from 0.
    pub position: usize,
    /// Range of the passage in the content.
    pub bytes: Range<usize>,
}

/// Returns the query analysed for texts of the language.
fn matcher<'m>(
    matchers: &'m mut Vec<(Option<Language>, QueryMatcher)>,
    query: &str,
    language: Option<Language>,
) -> &'m QueryMatcher {
    let at = matchers.iter().position(|(known, _)| *known == language).unwrap_or_else(|| {
        matchers.push((language, QueryMatcher::new(query, &[language.unwrap_or(Language::English)])));
        matchers.len() - 1
    });
    &matchers[at].1
}

/// Returns the occurrences of query terms.
fn matches(analyzer: &mut Analyzer, matcher: &QueryMatcher, text: &str) -> Vec<Match> {
    let mut matches = Vec::new();
    analyzer.tokens(text, |token| {
        if let Some(term) = matcher.term_of(&token) {
            matches.push(Match { bytes: token.bytes, term });
        }
    });
    matches
}

/// Returns the snippet of a text with these occurrences, ordered by their ends.
fn of_matches(text: &str, mut matches: Vec<Match>, matcher: &QueryMatcher, max_chars: usize) -> String {
    // Bigrams end after the character that follows their first.
    matches.sort_by_key(|found| found.bytes.start);
    let sentences = sentences::units(text);
    let window = best_window(text, &sentences, &matches, matcher, max_chars);
    window.map(|window| collapse_whitespace(&text[window])).unwrap_or_default()
}

/// Occurrence of a query term.
struct Match {
    bytes: Range<usize>,
    term: u16,
}

/// Returns the range to show, or `None` if there is nothing to show.
fn best_window(
    text: &str,
    units: &[Range<usize>],
    matches: &[Match],
    matcher: &QueryMatcher,
    max_chars: usize,
) -> Option<Range<usize>> {
    let Some(first) = units.first() else {
        // Only headings and marks.
        return (!text.trim().is_empty()).then(|| truncate_window(text, 0..text.len(), max_chars));
    };
    let lengths: Vec<usize> = units.iter().map(|unit| chars::count(&text[unit.clone()])).collect();
    let mut best: Option<(f64, Range<usize>)> = None;
    let mut score = WindowScore::new(matcher);
    // Sliding window: begins at a unit that matches and extends as far as possible. Both ends move forward.
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
                part_of_unit(text, unit, &matches[next..], max_chars)
            } else {
                // Only marks and white space lie between two units; they are shown too.
                while end < units.len() && length + lengths[end] <= max_chars {
                    length += lengths[end];
                    end += 1;
                }
                unit.start..units[end - 1].end
            };
            // Only what is shown counts. In a mix of scripts the end of a word can lie before the end of the previous window.
            let window = truncate_window(text, window, max_chars);
            while shown.end > shown.start && matches[shown.end - 1].bytes.end > window.end {
                shown.end -= 1;
                score.remove(matches[shown.end].term);
            }
            while shown.end < matches.len() && matches[shown.end].bytes.end <= window.end {
                score.add(matches[shown.end].term);
                shown.end += 1;
            }
            while shown.start < shown.end && matches[shown.start].bytes.start < window.start {
                score.remove(matches[shown.start].term);
                shown.start += 1;
            }
            let value = score.value();
            if best.as_ref().is_none_or(|(highest, _)| value > *highest + 1e-9) {
                best = Some((value, window));
            }
        }
        length = length.saturating_sub(lengths[index]);
    }
    Some(best.map_or_else(|| truncate_window(text, first.start..text.len(), max_chars), |(_, window)| window))
}

/// Score of a window: the weight of each distinct term, plus a little for repetitions.
struct WindowScore<'a> {
    matcher: &'a QueryMatcher,
    counts: Vec<u32>,
}

impl<'a> WindowScore<'a> {
    fn new(matcher: &'a QueryMatcher) -> Self {
        Self { matcher, counts: vec![0; matcher.terms.len()] }
    }

    fn add(&mut self, term: u16) {
        self.counts[usize::from(term)] += 1;
    }

    fn remove(&mut self, term: u16) {
        self.counts[usize::from(term)] -= 1;
    }

    fn value(&self) -> f64 {
        let terms = self.matcher.terms.iter().zip(&self.counts).filter(|(_, count)| **count > 0);
        terms.map(|(term, count)| f64::from(term.weight) + 0.1 * f64::from((*count).min(3))).sum()
    }
}

/// Returns the part of an overlong unit that starts shortly before its densest matches.
fn part_of_unit(text: &str, unit: &Range<usize>, matches: &[Match], max_chars: usize) -> Range<usize> {
    let matches: Vec<&Match> = matches.iter().take_while(|found| found.bytes.start < unit.end).collect();
    // Bytes approximate characters here: for multi-byte scripts the range is only narrower.
    let reach = max_chars.saturating_sub(LEAD_CHARS).max(1);
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
    let lead = text.floor_char_boundary(match_start.saturating_sub(LEAD_CHARS.min(max_chars / 4))).max(unit.start);
    // Start at the first word that begins in the lead.
    let start = if lead == unit.start {
        lead
    } else {
        let after_space = text[lead..match_start].find(char::is_whitespace).map(|at| lead + at);
        after_space.map_or(match_start, |at| match_start - text[at..match_start].trim_start().len())
    };
    start..unit.end
}

/// Truncates the window to `max_chars` characters, at the end of a word if possible.
fn truncate_window(text: &str, window: Range<usize>, max_chars: usize) -> Range<usize> {
    let start = window.end - text[window.clone()].trim_start().len();
    let shown = text[start..window.end].trim_end();
    let cut = chars::truncate(shown, max_chars);
    if cut.len() == shown.len() {
        return start..start + shown.len();
    }
    let end = last_end(shown, cut.len());
    start..start + shown[..end].trim_end().len()
}

/// Returns the last place up to `limit` where the text can end. If a word begins the text and is longer, `limit`, but not before
/// a combining mark.
fn last_end(text: &str, limit: usize) -> usize {
    let mut after = text[limit..].chars().next();
    for (at, before) in text[..limit].char_indices().rev() {
        if after.is_none_or(|after| chars::can_end_between(before, after)) {
            return at + before.len_utf8();
        }
        after = Some(before);
    }
    let mut end = limit;
    while end > 0 && text[end..].chars().next().is_some_and(is_combining_mark) {
        end = text.floor_char_boundary(end - 1);
    }
    end
}

fn collapse_whitespace(text: &str) -> String {
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
    use crate::passages;
    use crate::rerank::DocumentText;
    use proptest::prelude::*;

    const TEXT: &str = "# Pump manual\n\nThe pump came to market in 1985. It has seen many owners.\n\n\
        Its bearing takes NLGI 2 grease. Use no other\ngrease, or the bearing wears out. Call us for help.\n\n\
        ```\ncode()\n```\n\n| part | price |\n|---|---|\n| bearing | 12 |\n";

    #[test]
    fn words_of_other_alphabets_are_not_cut() {
        let text = "Правила внутреннего распорядка действуют для всех сотрудников и посетителей музея ".repeat(6);
        let snippet = snippet("билет", &text, 100);
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(snippet.split_whitespace().all(|word| words.contains(&word)), "{snippet}");
    }

    #[test]
    fn whole_sentences_around_the_matches_are_shown() {
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
    fn words_with_characters_that_readers_do_not_see_are_found_and_shown_as_they_are() {
        let text = "The pump stands in the yard. Its be\u{ad}aring\u{200b} takes gre\u{200b}ase. Call us for help.";
        let expected = "Its be\u{ad}aring\u{200b} takes gre\u{200b}ase.";
        assert_eq!(snippet("bearing grease", text, 40), expected);
        assert_eq!(snippet("bear\u{ad}ing", text, 40), expected);
    }

    #[test]
    fn words_beyond_the_limit_do_not_count() {
        let text = format!("The pump {}grease. Grease the pump yearly.", "stands in the yard and ".repeat(25));
        assert_eq!(snippet("pump grease", &text, 300), "Grease the pump yearly.");
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
    fn an_overlong_sentence_is_truncated_between_words() {
        let text = format!("{} needle in the haystack {}", "hay ".repeat(200), "straw ".repeat(200));
        let cut = snippet("needle", &text, 100);
        assert!(cut.contains("needle in the haystack") && cut.starts_with("hay") && cut.ends_with("straw"), "{cut}");
        assert!((60..=100).contains(&cut.chars().count()));
        let chinese = format!("{}上海是一座城市{}", "字".repeat(500), "词".repeat(500));
        let cut = snippet("上海", &chinese, 50);
        assert!(cut.contains("上海") && cut.chars().count() <= 50, "{cut}");
    }

    #[test]
    fn a_text_without_spaces_is_shown_up_to_the_limit() {
        let plain = "本公司成立于一九八五年，主要生产各类水泵与阀门，产品销往全国各地，并出口到多个国家和地区。";
        let mixed = "本公司成立于2008年，主要提供API服务与ＡＰＩ文档，产品销往30多个国家，并由ISO9001认证。";
        let thai = "บริษัทของเราก่อตั้งขึ้นในปีนั้นและผลิตเครื่องสูบน้ำทุกชนิดเพื่อส่งออกไปยังหลายประเทศ";
        for sentence in [plain, mixed, thai] {
            let text = format!("公司简介\n\n{}", sentence.repeat(10));
            for limit in 200..=319 {
                let shown = snippet("submarine", &text, limit);
                let length = shown.chars().count();
                assert!((limit - 20..=limit).contains(&length), "{length} of {limit}: {shown}");
            }
        }
        for (limit, end) in
            [(5, "公司"), (6, "公司2008"), (9, "公司2008年的"), (10, "公司2008年的"), (11, "公司2008年的API")]
        {
            assert_eq!(snippet("submarine", "公司2008年的API服务很好", limit), end, "{limit}");
        }
    }

    #[test]
    fn texts_are_analysed_in_their_language() {
        let text = "Erst das eine. Die Häuser wurden verkauft.";
        assert_eq!(
            Snippets::new("Haus", &mut Analyzers::default()).snippet(text, Some("de"), 30),
            "Die Häuser wurden verkauft."
        );
    }

    /// Returns the snippets of all passages of a document, by its terms and by its text.
    fn of_passages(query: &str, content: &str) -> Vec<(String, String)> {
        let spans = passages::split(content);
        let mut analyzers = Analyzers::default();
        let document = DocumentText { title: "title", content, passages: &spans, ..DocumentText::default() };
        let terms = TermVector::of(&document, usize::MAX, &mut analyzers);
        let mut snippets = Snippets::new(query, &mut analyzers);
        let both = spans.iter().enumerate().map(|(position, span)| {
            let passage = KnownPassage { terms: &terms, content, position, bytes: span.bytes.clone() };
            let known = snippets.snippet_of(&passage, None, 60);
            (known, snippets.snippet(&content[span.bytes.clone()], None, 60))
        });
        both.collect()
    }

    #[test]
    fn known_terms_make_the_same_snippets() {
        let content = format!(
            "# Pumps\n\n{}\n\n## Gréase e-mail\n\n{} The crème brûlée is ready. parseUrl takes 10kg. 東京都の天気 too.\n\n{TEXT}",
            "Some words come first. ".repeat(60),
            "Others follow then. ".repeat(60),
        );
        for query in ["grease", "email", "brulee", "url kg", "京都", "words others", "none"] {
            let both = of_passages(query, &content);
            assert!(both.len() > 2);
            for (known, by_text) in both {
                assert_eq!(known, by_text, "{query}");
            }
        }
    }

    #[test]
    fn a_word_that_a_passage_splits_is_none_of_its_terms() {
        let full_width = format!("{}ＥＬＥＰＨＡＮＴ{}", "あ".repeat(646), "い".repeat(646));
        let unbroken = format!("{}elephant,{}", "filler,".repeat(148), "filler,".repeat(595));
        let number = format!("{}3.5,{}", "filler,".repeat(148), "filler,".repeat(595));
        for content in [full_width, unbroken, number] {
            for query in ["elephant", "elepha", "ELEP", "3", "3.5", "filler"] {
                let both = of_passages(query, &content);
                assert!(both.len() > 1);
                both.iter().for_each(|(known, by_text)| assert_eq!(known, by_text, "{query}"));
            }
        }
    }

    #[test]
    fn terms_of_another_text_are_not_used() {
        let spans = passages::split(TEXT);
        let mut analyzers = Analyzers::default();
        let document = DocumentText { content: TEXT, passages: &spans, ..DocumentText::default() };
        let terms = TermVector::of(&document, usize::MAX, &mut analyzers);
        let mut snippets = Snippets::new("grease", &mut analyzers);
        for content in ["", "grease", &TEXT.replace("Its", "It is"), &format!("é{TEXT}"), &TEXT[..40]] {
            for bytes in [0..content.len(), 0..0] {
                let passage = KnownPassage { terms: &terms, content, position: 0, bytes: bytes.clone() };
                assert_eq!(
                    snippets.snippet_of(&passage, None, 60),
                    snippet("grease", &content[bytes], 60),
                    "{content}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn known_terms_make_the_same_snippets_of_any_text(query in "[a-c 日本]{1,8}", text in "(?s)[a-c日本กé\u{ad}\u{200b}. \n#|-]{0,300}") {
            for (known, by_text) in of_passages(&query, &text) {
                prop_assert_eq!(known, by_text);
            }
        }

        #[test]
        fn snippets_are_verbatim_and_short(
            query in "[a-c 日]{0,10}",
            text in "(?s)[a-c日本กั. \n#|é`-]{0,200}",
            max in 0usize..80,
        ) {
            let shown = snippet(&query, &text, max);
            prop_assert!(shown.chars().count() <= max);
            prop_assert!(collapse_whitespace(&text).contains(&shown), "{:?} is not in {:?}", shown, text);
        }

        #[test]
        fn snippets_of_any_input_fit_the_limit(query in "\\PC{0,30}", text in "(?s).{0,300}", max in 0usize..400) {
            prop_assert!(snippet(&query, &text, max).chars().count() <= max);
        }
    }
}
