//! Addresses in the text of a model.

use super::super::state::State;

/// Longest word that is searched for addresses in detail.
const MAX_ADDRESS_BYTES: usize = 2_000;

/// Removes addresses that no source has, in text and as targets of links.
pub(crate) fn without_unknown_addresses(state: &State, text: &str) -> String {
    text.split_inclusive(char::is_whitespace).map(|word| without_unknown_address(state, word)).collect()
}

fn without_unknown_address(state: &State, word: &str) -> String {
    let Some(at) = address(word) else { return word.to_owned() };
    let space = &word[word.trim_end().len()..];
    let end = word[at..].find(|c: char| c.is_whitespace() || matches!(c, ')' | '>' | ']' | '"' | '<' | '|'));
    let end = end.map_or(word.len(), |length| at + length);
    let found = word[at..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '\'']);
    let is_known = state.sources.iter().any(|source| source.canonical_url == found);
    let rest = &word[at + found.len()..];
    if word.len() > MAX_ADDRESS_BYTES || (!is_known && address(rest).is_some()) {
        // Several addresses in one word are no text.
        return space.to_owned();
    }
    if is_known { word.to_owned() } else { format!("{}{rest}", &word[..at]) }
}

/// Returns the start of the first address.
fn address(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let schemes = ["http://", "https://", "ftp://", "mailto:", "javascript:", "data:", "www."];
    schemes.iter().filter_map(|scheme| lower.find(scheme)).min()
}
