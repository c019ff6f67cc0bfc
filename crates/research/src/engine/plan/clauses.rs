//! Sentences, coordinated clauses and enumerations.

use retrieval_core::sentences;

use super::super::text::words;
use super::filler::is_filler;
use super::marks::{AFTER_COMMA, AND, AND_OR, OF, QUESTION_WORDS, bare, is_among};

/// Longest entry of an enumeration, in words.
const MAX_ENTRY_WORDS: usize = 4;

/// Sentences of a paragraph, with true for those that ask.
pub(super) fn sentences(text: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    for range in sentences::units(text) {
        let mut rest = &text[range];
        // `units` needs white space after a question mark; scripts and typists differ.
        while let Some(at) = rest.find(['?', '？', '؟', ';', '\u{37e}']) {
            let length = at + rest[at..].chars().next().map_or(1, char::len_utf8);
            let asks = !rest[at..].starts_with(';');
            push(&mut found, &rest[..length], asks);
            rest = &rest[length..];
        }
        push(&mut found, rest, false);
    }
    found
}

fn push(found: &mut Vec<(String, bool)>, sentence: &str, asks: bool) {
    let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = sentence.trim_end_matches([';', ',']);
    if bare(sentence).chars().any(char::is_alphanumeric) {
        let opens = sentence.split(' ').next().is_some_and(|word| is_among(QUESTION_WORDS, word));
        found.push((sentence.to_owned(), asks || opens));
    }
}

/// Splits `what is A and how does B work` before each conjunction that a question word follows.
pub(super) fn coordinated(question: &str) -> Vec<String> {
    let words: Vec<&str> = question.split(' ').collect();
    let mut clauses: Vec<String> = Vec::new();
    let mut start = 0;
    for at in 2..words.len().saturating_sub(1) {
        let opens = is_among(QUESTION_WORDS, words[start]);
        let next = if is_among(AND, words[at]) && is_among(QUESTION_WORDS, words[at + 1]) {
            at + 1
        } else if opens && words[at - 1].ends_with(',') && is_among(AFTER_COMMA, words[at]) {
            at
        } else {
            continue;
        };
        // The clause before must be one, too: `know what and how` is not two questions.
        if at >= start + 2 && words.len() > next + 1 {
            clauses.push(bare(&words[start..at].join(" ")).to_owned());
            start = next;
        }
    }
    if clauses.is_empty() {
        return Vec::new();
    }
    clauses.push(bare(&words[start..].join(" ")).to_owned());
    // A clause such as `tell me` asks nothing.
    if clauses.iter().all(|clause| has_content(clause)) { clauses } else { Vec::new() }
}

fn has_content(clause: &str) -> bool {
    words::terms(clause).iter().any(|term| !is_filler(&term.word))
}

/// Splits `the causes, effects and treatment of C` into `causes of C`, `effects of C`, `treatment of C`.
pub(super) fn enumerated(question: &str) -> Vec<String> {
    let words: Vec<&str> = question.split(' ').collect();
    let Some(and) = words.iter().rposition(|word| is_among(AND_OR, word)) else { return Vec::new() };
    let Some(of) = words.iter().enumerate().skip(and + 2).find(|(_, word)| is_among(OF, word)).map(|(at, _)| at) else {
        return Vec::new();
    };
    let subject = bare(&words[of..].join(" ")).to_owned();
    let Some(first_comma) = words[..and].iter().position(|word| word.ends_with(',')) else { return Vec::new() };
    // The first entry follows an article or a verb.
    let article =
        |word: &&str| is_among(&["the", "die", "les", "los", "las", "le", "i", "os", "de", "are", "sind"], word);
    let start = words[..first_comma].iter().rposition(article).map_or(0, |at| at + 1);
    let before = words[start..and].join(" ");
    let mut entries: Vec<&str> = before.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
    let last = words[and + 1..of].join(" ");
    entries.push(&last);
    let short = entries.iter().all(|entry| entry.split(' ').count() <= MAX_ENTRY_WORDS);
    let has_subject = subject.split(' ').count() > 1;
    if entries.len() < 3 || !short || !has_subject {
        return Vec::new();
    }
    entries.into_iter().map(|entry| format!("{} {subject}", bare(entry))).collect()
}
