//! Tokens of a document by impact level.

use std::collections::HashMap;

use engine::indexing::TermSink;

use crate::impact::{self, LEVELS};
use crate::token::{self, FirstWord, Pair};

/// Number of levels in the index: those of impact, and four more for the overflow of very long documents.
pub const STORED_LEVELS: usize = LEVELS + 4;

/// Maximum number of tokens in one attribute, below the 65,535 that the server reads. Excess tokens overflow into the next attribute.
const MAX_TOKENS: usize = 60_000;

/// Typical number of distinct stems and words of a document, to grow rarely.
const TYPICAL_TOKENS: usize = 448;

/// Frequencies of stems and words, and all pairs of adjacent words.
pub struct Tokens {
    frequencies: HashMap<String, u32>,
    pairs: Vec<Pair>,
    previous: Option<FirstWord>,
    /// Token under construction.
    token: String,
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            frequencies: HashMap::with_capacity(TYPICAL_TOKENS),
            pairs: Vec::with_capacity(TYPICAL_TOKENS),
            previous: None,
            token: String::new(),
        }
    }
}

impl Tokens {
    /// Counts the token under construction, and clears it.
    fn count(&mut self, times: u32) {
        match self.frequencies.get_mut(&self.token) {
            Some(count) => *count = count.saturating_add(times),
            None => drop(self.frequencies.insert(self.token.clone(), times)),
        }
        self.token.clear();
    }

    /// Returns the tokens of each level of a document of `length` words, separated by spaces. Of very long documents some pairs are left
    /// out.
    ///
    /// Equal documents have equal levels: tokens are sorted, which also costs the server less than another order.
    pub fn by_level(mut self, length: u32) -> [String; STORED_LEVELS] {
        let mut levels = Levels::default();
        let placed = self.frequencies.iter().map(|(token, times)| {
            let beginning = token.bytes().chain([0; 8]).take(8).fold(0, |key, byte| key << 8 | u64::from(byte));
            // Most comparisons end with two numbers.
            (impact::level(*times, length), beginning, token.as_str())
        });
        let mut placed: Vec<(usize, u64, &str)> = placed.collect();
        placed.sort_unstable();
        for (level, _, token) in placed {
            levels.push(level, |text| text.push_str(token));
        }
        self.pairs.sort_unstable();
        let pairs = self.pairs.chunk_by(Pair::eq).filter_map(|equal| {
            let times = u32::try_from(equal.len()).unwrap_or(u32::MAX);
            Some((impact::level(times, length), equal.first()?))
        });
        for (level, pair) in pairs {
            levels.push(level, |text| pair.push_to(text));
        }
        levels.texts
    }
}

impl TermSink for Tokens {
    fn term(&mut self, stem: &str, times: u32) {
        token::push_stem(&mut self.token, stem);
        self.count(times);
    }

    fn word(&mut self, word: &str) {
        token::push_word(&mut self.token, word);
        self.count(1);
        let previous = self.previous.replace(FirstWord::new(word));
        self.pairs.extend(previous.map(|previous| previous.with(word)));
    }

    fn phrase_break(&mut self) {
        self.previous = None;
    }
}

#[derive(Default)]
struct Levels {
    texts: [String; STORED_LEVELS],
    tokens: [usize; STORED_LEVELS],
}

impl Levels {
    /// Adds a token to a level, or to the next one with space.
    fn push(&mut self, level: usize, write: impl FnOnce(&mut String)) {
        let Some(place) = (level..STORED_LEVELS).find(|place| self.tokens[*place] < MAX_TOKENS) else { return };
        self.tokens[place] += 1;
        let text = &mut self.texts[place];
        if !text.is_empty() {
            text.push(' ');
        }
        write(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(words: impl IntoIterator<Item = String>, length: u32) -> [String; STORED_LEVELS] {
        let mut tokens = Tokens::default();
        for word in words {
            tokens.term(&word, 1);
            tokens.word(&word);
        }
        tokens.by_level(length)
    }

    fn tokens_of(levels: &[String; STORED_LEVELS]) -> Vec<&str> {
        levels.iter().flat_map(|level| level.split(' ')).filter(|token| !token.is_empty()).collect()
    }

    #[test]
    fn each_token_is_in_the_level_of_its_frequency() {
        let words = ["valve", "pump", "valve", "pump", "valve"].map(str::to_owned);
        let stored = levels(words, 250);
        let [once, twice, thrice] = [1, 2, 3].map(|times| stored[impact::level(times, 250)].as_str());
        assert_eq!(once, "");
        let pair = |first: &str, second: &str| token::pair(first, second);
        assert!(twice.starts_with("spump wpump "), "{twice}");
        for pair in [pair("valve", "pump"), pair("pump", "valve")] {
            assert!(twice.split(' ').any(|token| token == pair), "{pair}: {twice}");
        }
        assert_eq!(thrice, "svalve wvalve");
    }

    #[test]
    fn order_of_words_apart_from_neighbours_has_no_effect() {
        let words = |from: u32| (from..from + 300).map(|number| format!("word{}", number % 300));
        let mut tokens = [Tokens::default(), Tokens::default()];
        for (tokens, from) in tokens.iter_mut().zip([0, 170]) {
            for word in words(from) {
                tokens.term(&word, 1);
                tokens.word(&word);
                tokens.phrase_break();
            }
        }
        let [one, other] = tokens.map(|tokens| tokens.by_level(300));
        assert_eq!(one, other);
        assert_eq!(tokens_of(&one).len(), 600);
    }

    #[test]
    fn full_levels_overflow_and_stems_and_words_come_before_pairs() {
        let stored = levels((0..90_000).map(|number| format!("w{number:06}")), 90_000);
        assert!(stored.iter().all(|level| level.split(' ').count() <= MAX_TOKENS));
        let all = tokens_of(&stored);
        assert_eq!(all.iter().filter(|token| token.starts_with('s')).count(), 90_000);
        assert_eq!(all.iter().filter(|token| token.starts_with('w')).count(), 90_000);
    }
}
