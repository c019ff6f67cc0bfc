//! Openings of questions that ask for documents without describing them: `I am looking for articles about`.

use super::analyzer::TokenKind;
use super::query_token::QueryToken;

/// Words that ask for documents, or name what is asked for. An opening has at least one of them.
const ASKING: &str = "abstracts article articles description descriptions discussion discussions document documents \
    find give information interested know known learn list literature looking paper papers publication publications \
    read reference references searching see seeking show tell want wanted";

/// Other words of openings, besides function words.
const BETWEEN: &str = "about all also am anything available concern concerning concerns deal dealing deals \
    describe describes describing discuss discusses discussing especially every everything exist exists find like material \
    materials more need particularly please regarding relate related relates relating something sources studies very \
    work written";

/// Words after which the subject begins, and the words that must come before them. An empty list allows any word.
const LINKS: &[(&str, &str)] = &[
    ("about", ""),
    ("concerning", ""),
    ("describing", ""),
    ("discussing", ""),
    ("regarding", ""),
    ("for", "looking searching"),
    ("in", "interested"),
    ("of", "description descriptions discussion discussions"),
    (
        "on",
        "anything article articles discussion discussions document documents everything information literature \
         material materials more paper papers publication publications reference references something sources studies \
         work",
    ),
    ("to", "relate related relates relating"),
    ("with", "deal dealing deals"),
];

/// Flags the tokens of English openings at the start of sentences. `stop` flags the function words.
///
/// A sentence that has no subject after its opening has no opening: its words are all there is to search for.
pub(super) fn openings_among(text: &str, tokens: &[QueryToken], stop: &[bool]) -> Vec<bool> {
    let mut flags = vec![false; tokens.len()];
    let mut start = 0;
    while start < tokens.len() {
        let end = sentence_end(text, tokens, start);
        let length = opening_length(&tokens[start..end], &stop[start..end]);
        flags[start..start + length].fill(true);
        start = end;
    }
    flags
}

/// Returns true if the text between two words ends a sentence.
pub(super) fn separates_sentences(between: &str) -> bool {
    between.contains(['.', '?', '!', ':', ';', '\n'])
}

/// Returns the end of the sentence that begins with the token `start`.
fn sentence_end(text: &str, tokens: &[QueryToken], start: usize) -> usize {
    let ends_before = |token: &usize| {
        // Tokens of one word overlap.
        let between = text.get(tokens[token - 1].end..tokens[*token].start);
        between.is_some_and(separates_sentences)
    };
    (start + 1..tokens.len()).find(ends_before).unwrap_or(tokens.len())
}

/// Returns the number of tokens in the opening of a sentence, up to its last link.
fn opening_length(sentence: &[QueryToken], stop: &[bool]) -> usize {
    let is_general = |(token, stop): &(&QueryToken, &bool)| {
        token.kind == TokenKind::Word && (**stop || lists(ASKING, &token.word) || lists(BETWEEN, &token.word))
    };
    let general = sentence.iter().zip(stop).take_while(is_general).count();
    if general == sentence.len() {
        return 0;
    }
    let links = |at: &usize| {
        let (before, word) = (&sentence[at - 1].word, &sentence[*at].word);
        LINKS.iter().any(|(link, after)| link == word && (after.is_empty() || lists(after, before)))
    };
    let length = (1..general).rev().find(links).map_or(0, |last| last + 1);
    if sentence[..length].iter().any(|token| lists(ASKING, &token.word)) { length } else { 0 }
}

fn lists(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}
