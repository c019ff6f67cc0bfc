//! Addresses in the text of a model.

use super::super::state::State;

/// Longest word that is searched for addresses in detail.
const MAX_ADDRESS_BYTES: usize = 2_000;

/// Removes addresses that no source has, in text and as targets of links.
pub(crate) fn without_unknown_addresses(state: &State, text: &str) -> String {
    text.split_inclusive(char::is_whitespace).map(|word| without_unknown_address(state, word)).collect()
}

/// Returns true if a text contains an address, known or not.
pub(crate) fn has_address(text: &str) -> bool {
    address(text).is_some()
}

fn without_unknown_address(state: &State, word: &str) -> String {
    let Some(at) = address(word) else { return word.to_owned() };
    let space = &word[word.trim_end().len()..];
    let end = word[at..].find(|c: char| c.is_whitespace() || matches!(c, ')' | '>' | ']' | '"' | '<' | '|'));
    let end = end.map_or(word.len(), |length| at + length);
    let found = word[at..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '\'']);
    let (before, rest) = (&word[..at], &word[at + found.len()..]);
    let is_known = state.sources.iter().any(|source| source.canonical_url == found);
    if word.len() > MAX_ADDRESS_BYTES || (!is_known && has_address(rest)) {
        // Several addresses in one word are no text.
        return space.to_owned();
    }
    if is_known {
        // The word is short, so that this ends soon.
        return format!("{before}{found}{}", without_unknown_address(state, rest));
    }
    // Both sides must not join to a mark or to another address.
    let gap = if before.is_empty() || rest.trim_end().is_empty() { "" } else { " " };
    format!("{before}{gap}{rest}")
}

/// Returns the start of the first address.
fn address(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let schemes = ["http://", "https://", "ftp://", "mailto:", "javascript:", "data:", "www."];
    schemes.iter().filter_map(|scheme| lower.find(scheme)).min()
}

#[cfg(test)]
mod tests {
    use model::{DocId, IndexName};
    use uuid::Uuid;

    use super::super::super::state::Source;
    use super::*;

    fn state() -> State {
        let source = Source {
            doc_id: DocId(Uuid::nil()),
            canonical_url: "https://known.example/p".to_owned(),
            host: "known.example".to_owned(),
            title: None,
            index: IndexName::Web,
            published_at: None,
            language: None,
            reads: Vec::new(),
            duplicate_of: None,
        };
        State { sources: vec![source], ..State::default() }
    }

    #[test]
    fn every_address_of_a_word_is_compared_with_the_sources() {
        for (text, expected) in [
            ("see https://known.example/p. Then", "see https://known.example/p. Then"),
            ("https://known.example/p|https://evil.example/x so", "https://known.example/p| so"),
            ("https://known.example/p)https://evil.example/x", "https://known.example/p)"),
            ("<https://known.example/p>(https://evil.example/x)", "<https://known.example/p>( )"),
            ("https://known.example/p]www.evil.example", "https://known.example/p]"),
            ("https://known.example/p|https://known.example/p", "https://known.example/p|https://known.example/p"),
            ("https://evil.example/x|https://known.example/p so", " so"),
            ("ht[1https://evil.example/]tps://evil.example/x", "ht[1 ]tps://evil.example/x"),
        ] {
            assert_eq!(without_unknown_addresses(&state(), text), expected, "{text}");
        }
    }
}
