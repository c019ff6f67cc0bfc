//! Exact phrase matching of a query in a text.

use crate::analysis::{Analyzers, Language, analyze_query};

/// Phrase matcher: consecutive words in order, with case and diacritics folded, not stemmed. Stop words count. A query
/// without words matches nothing.
pub struct Phrase {
    words: Vec<String>,
    /// KMP failure function: for each prefix, the length of its longest proper border.
    borders: Vec<usize>,
    analyzers: Analyzers,
}

impl Phrase {
    pub fn new(query: &str) -> Self {
        let words = analyze_query(query, &[]).phrase;
        Self { borders: borders(&words), words, analyzers: Analyzers::default() }
    }

    /// Returns true if the text contains the phrase. `language` is the ISO 639-1 code of the text. Linear in its
    /// length.
    pub fn is_in(&mut self, text: &str, language: Option<&str>) -> bool {
        let Self { words, borders, analyzers } = self;
        if words.is_empty() {
            return false;
        }
        // Knuth, Morris and Pratt, 1977: one pass over the words without storing them.
        let (mut matched, mut found) = (0, false);
        analyzers.of(language.and_then(Language::from_code)).tokens(text, |token| {
            if found || !token.kind.is_positional() {
                return;
            }
            while matched > 0 && words[matched] != token.word {
                matched = borders[matched - 1];
            }
            if words[matched] == token.word {
                matched += 1;
            }
            if matched == words.len() {
                found = true;
                matched = 0;
            }
        });
        found
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
        let mut phrase = Phrase::new("quick brown fox");
        for found in ["The quick brown fox.", "A quick, BRÓWN fox?", "quick brown quick brown fox"] {
            assert!(phrase.is_in(found, Some("en")), "{found}");
        }
        for other in ["The brown quick fox.", "quick brown foxes", "quick brown", "", "quick brown red fox"] {
            assert!(!phrase.is_in(other, Some("en")), "{other}");
        }
        assert!(Phrase::new("The").is_in("the fox", None), "stop words count");
        assert!(!Phrase::new("").is_in("", None) && !Phrase::new("?!").is_in("?!", None));
    }

    proptest! {
        #[test]
        fn matching_agrees_with_a_window_search(
            phrase in prop::collection::vec("[ab]", 1..5),
            text in prop::collection::vec("[ab]", 0..12),
        ) {
            let expected = text.windows(phrase.len()).any(|words| words == phrase);
            prop_assert_eq!(Phrase::new(&phrase.join(" ")).is_in(&text.join(" "), None), expected);
        }
    }
}
