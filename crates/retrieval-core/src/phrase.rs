//! Exact phrase matching in a text.

use crate::analysis::{Analyzers, Language, analyze_query};

/// Matcher of several phrases: consecutive words in order, with case and diacritics folded, not stemmed. Stop words
/// count. A phrase without words matches nothing.
pub struct Phrases {
    phrases: Vec<Phrase>,
    analyzers: Analyzers,
}

struct Phrase {
    words: Vec<String>,
    /// KMP failure function: for each prefix, the length of its longest proper border.
    borders: Vec<usize>,
    /// Words matched at the current position of the text.
    matched: usize,
}

impl Phrases {
    /// Creates a matcher of the words of each text.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let words = texts.into_iter().map(|text| analyze_query(text, &[]).phrase).filter(|words| !words.is_empty());
        let phrases = words.map(|words| Phrase { borders: borders(&words), words, matched: 0 });
        Self { phrases: phrases.collect(), analyzers: Analyzers::default() }
    }

    /// Returns true if the text contains any of the phrases. `language` is the ISO 639-1 code of the text. Linear in its
    /// length times the number of phrases.
    pub fn any_in(&mut self, text: &str, language: Option<&str>) -> bool {
        let Self { phrases, analyzers } = self;
        if phrases.is_empty() {
            return false;
        }
        phrases.iter_mut().for_each(|phrase| phrase.matched = 0);
        let mut found = false;
        analyzers.of(language.and_then(Language::from_code)).tokens(text, |token| {
            if !found && token.kind.is_positional() {
                found = phrases.iter_mut().any(|phrase| phrase.ends_with(token.word));
            }
        });
        found
    }
}

impl Phrase {
    /// Reads the next word of the text. Returns true if it completes the phrase (Knuth, Morris and Pratt, 1977: one pass
    /// over the words without storing them).
    fn ends_with(&mut self, word: &str) -> bool {
        while self.matched > 0 && self.words[self.matched] != word {
            self.matched = self.borders[self.matched - 1];
        }
        if self.words[self.matched] == word {
            self.matched += 1;
        }
        self.matched == self.words.len()
    }
}

/// Computes the KMP failure function of a phrase.
fn borders(phrase: &[String]) -> Vec<usize> {
    let mut borders = vec![0; phrase.len()];
    let mut length = 0;
    for index in 1..phrase.len() {
        while length > 0 && phrase[index] != phrase[length] {
            length = borders[length - 1];
        }
        if phrase[index] == phrase[length] {
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
    fn any_of_several_phrases_matches() {
        let mut phrases = Phrases::new(["red fox", "...", "brown dog"]);
        assert!(phrases.any_in("a red fox", None) && phrases.any_in("a brown dog", None));
        assert!(!phrases.any_in("a brown fox and a red dog", None) && !phrases.any_in("...", None));
        assert!(!phrases.any_in("red", None) && !phrases.any_in("fox", None), "phrases do not cross texts");
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
