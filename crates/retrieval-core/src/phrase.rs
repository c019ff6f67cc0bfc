//! Exact phrase matching in a text.

use crate::analysis::{Analyzers, Language, analyze_query};

/// Matcher of several phrases: consecutive words in order, with case and diacritics folded, not stemmed. Stop words
/// count; addresses of Markdown links do not. A phrase without words matches nothing.
pub struct Phrases {
    phrases: Vec<Sequence<String>>,
    analyzers: Analyzers,
}

/// Phrases that were found in a text of several sections.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Occurrences {
    /// True if the text contains a phrase, which may begin in one section and end in a later one.
    pub any: bool,
    /// Numbers of the sections that contain a whole phrase, in order.
    pub sections: Vec<usize>,
}

/// Matcher of one sequence of words in a stream of words, which it does not store (Knuth, Morris and Pratt, 1977). Linear in the
/// number of words, whatever the sequence.
pub struct Sequence<W> {
    /// At least one.
    words: Vec<W>,
    /// Failure function: for each prefix, the length of its longest proper border.
    borders: Vec<usize>,
    /// Words matched at the current position of the stream.
    matched: usize,
}

impl Phrases {
    /// Creates a matcher of the words of each text.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let phrases = texts.into_iter().filter_map(|text| Sequence::new(analyze_query(text, &[]).phrase));
        Self { phrases: phrases.collect(), analyzers: Analyzers::default() }
    }

    /// Returns true if the text contains any of the phrases. `language` is the ISO 639-1 code of the text. Linear in its
    /// length times the number of phrases.
    pub fn any_in(&mut self, text: &str, language: Option<&str>) -> bool {
        self.find_in(text, &[], language).any
    }

    /// Finds the phrases in a text. `starts` are the bytes at which its sections start, rising from 0; without any it is one section.
    /// `language` is the ISO 639-1 code of the text. Linear in its length times the number of phrases.
    pub fn find_in(&mut self, text: &str, starts: &[usize], language: Option<&str>) -> Occurrences {
        let Self { phrases, analyzers } = self;
        let mut found = Occurrences::default();
        if phrases.is_empty() {
            return found;
        }
        phrases.iter_mut().for_each(Sequence::restart);
        // Number of the section that is read, and of its words up to this one.
        let (mut section, mut words) = (0, 0);
        analyzers.of(language.and_then(Language::from_code)).tokens(text, |token| {
            if !token.kind.is_positional() {
                return;
            }
            while starts.get(section + 1).is_some_and(|start| *start <= token.bytes.start) {
                section += 1;
                words = 0;
            }
            words += 1;
            for phrase in phrases.iter_mut() {
                if !phrase.ends_with(token.word) {
                    continue;
                }
                found.any = true;
                if phrase.words.len() <= words && found.sections.last() != Some(&section) {
                    found.sections.push(section);
                }
            }
        });
        found
    }
}

impl<W> Sequence<W> {
    /// Creates a matcher of these words. Returns `None` if there are none.
    pub fn new(words: Vec<W>) -> Option<Self>
    where
        W: PartialEq,
    {
        if words.is_empty() {
            return None;
        }
        Some(Self { borders: borders(&words), words, matched: 0 })
    }

    /// Forgets the words that were read: the next one is the first of another text.
    pub fn restart(&mut self) {
        self.matched = 0;
    }

    /// Reads the next word of the stream. Returns true if it completes the sequence.
    pub fn ends_with<Q>(&mut self, word: &Q) -> bool
    where
        W: PartialEq<Q>,
        Q: ?Sized,
    {
        while self.matched > 0 && self.words[self.matched] != *word {
            self.matched = self.borders[self.matched - 1];
        }
        if self.words[self.matched] == *word {
            self.matched += 1;
        }
        let is_complete = self.matched == self.words.len();
        if is_complete {
            // Sequences may overlap.
            self.matched = self.borders[self.matched - 1];
        }
        is_complete
    }
}

/// Computes the KMP failure function of a sequence.
fn borders<W: PartialEq>(words: &[W]) -> Vec<usize> {
    let mut borders = vec![0; words.len()];
    let mut length = 0;
    for index in 1..words.len() {
        while length > 0 && words[index] != words[length] {
            length = borders[length - 1];
        }
        if words[index] == words[length] {
            length += 1;
        }
        borders[index] = length;
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn phrases_match_verbatim_and_in_order() {
        let mut phrase = Phrases::new(["quick brown fox"]);
        for found in ["The quick brown fox.", "A quick, BRÓWN fox?", "quick brown quick brown fox"] {
            assert!(phrase.any_in(found, Some("en")), "{found}");
        }
        for other in ["The brown quick fox.", "quick brown foxes", "quick brown", "", "quick brown red fox"] {
            assert!(!phrase.any_in(other, Some("en")), "{other}");
        }
        assert!(Phrases::new(["The"]).any_in("the fox", None), "stop words count");
        assert!(!Phrases::new([""]).any_in("", None) && !Phrases::new(["?!"]).any_in("?!", None));
    }

    #[test]
    fn phrases_pass_over_addresses_of_links() {
        let text = "Grease [the bearings](https://example.org/eng/detail.html) once a year.";
        for found in ["the bearings once a year", text, "grease THE bearings"] {
            assert!(Phrases::new([found]).any_in(text, Some("en")), "{found}");
        }
        for other in ["bearings https example org", "the bearings a year"] {
            assert!(!Phrases::new([other]).any_in(text, Some("en")), "{other}");
        }
        assert!(Phrases::new(["the bearings once"]).any_in("The [bearings](/a_(b) \"c\") once.", None));
    }

    #[test]
    fn phrases_pass_over_characters_that_readers_do_not_see() {
        let (plain, written) = ("A quick brown fox.", "A quick\u{200b} br\u{ad}own\u{2060} f\u{200b}ox\u{fe0f}.");
        for phrase in ["quick brown fox", "qu\u{200b}ick brown", written] {
            for text in [plain, written] {
                assert!(Phrases::new([phrase]).any_in(text, Some("en")), "{phrase:?} in {text:?}");
            }
        }
        assert!(!Phrases::new(["quickbrown", "own"]).any_in(written, None));
    }

    #[test]
    fn any_of_several_phrases_matches() {
        let mut phrases = Phrases::new(["red fox", "...", "brown dog"]);
        assert!(phrases.any_in("a red fox", None) && phrases.any_in("a brown dog", None));
        assert!(!phrases.any_in("a brown fox and a red dog", None) && !phrases.any_in("...", None));
        assert!(!phrases.any_in("red", None) && !phrases.any_in("fox", None), "phrases do not cross texts");
    }

    #[test]
    fn phrases_are_found_in_sections() {
        let found = |phrases: &[&str], sections: &[&str]| {
            let starts = sections.iter().scan(0, |end, section| {
                let start = *end;
                *end += section.len();
                Some(start)
            });
            let starts: Vec<usize> = starts.collect();
            let found = Phrases::new(phrases.iter().copied()).find_in(&sections.concat(), &starts, Some("en"));
            (found.any, found.sections)
        };
        let fox = ["red fox"];
        assert_eq!(found(&fox, &["A fox. ", "A red fox, a RED fox. ", "Red. ", "The red fox."]), (true, vec![1, 3]));
        assert_eq!(found(&fox, &["A fox is red. ", "Fox."]), (true, vec![]), "across a boundary");
        assert_eq!(found(&fox, &["It is red. ", "Fox: a red fox."]), (true, vec![1]));
        assert_eq!(found(&fox, &["red ", "", "... ", "fox"]), (true, vec![]), "sections without words");
        assert_eq!(found(&fox, &["A fox. ", "Red."]), (false, vec![]));
        assert_eq!(found(&["red fox", "fox"], &["Red. ", "Fox. ", "Red fox."]), (true, vec![1, 2]), "any of several");
        let none = Occurrences::default();
        assert_eq!(Phrases::new(["?"]).find_in("a red fox", &[0], None), none);
        assert_eq!(Phrases::new(fox).find_in("", &[0, 5], None), none);
        let whole = Occurrences { any: true, sections: vec![0] };
        assert_eq!(Phrases::new(fox).find_in("a red fox", &[], None), whole, "one section");
        assert_eq!(Phrases::new(fox).find_in("a red fox", &[0, 900], None), whole, "a beginning");
    }

    #[test]
    fn sequences_may_overlap_and_do_not_cross_a_restart() {
        assert!(Sequence::<u32>::new(Vec::new()).is_none());
        let mut sequence = Sequence::new(vec![1, 1, 2, 1, 1]).expect("words");
        let ends: Vec<bool> = [1, 1, 2, 1, 1, 2, 1, 1].iter().map(|word| sequence.ends_with(word)).collect();
        assert_eq!(ends, [false, false, false, false, true, false, false, true]);
        sequence.restart();
        assert!(![2, 1, 1].iter().any(|word| sequence.ends_with(word)));
        let mut single = Sequence::new(vec![7]).expect("a word");
        assert!(single.ends_with(&7) && !single.ends_with(&8) && single.ends_with(&7));
    }

    proptest! {
        #[test]
        fn matching_agrees_with_a_window_search(
            phrase in prop::collection::vec("[ab]", 1..5),
            text in prop::collection::vec("[ab]", 0..12),
        ) {
            let expected = text.windows(phrase.len()).any(|words| words == phrase);
            prop_assert_eq!(Phrases::new([&*phrase.join(" ")]).any_in(&text.join(" "), None), expected);
        }
    }
}
