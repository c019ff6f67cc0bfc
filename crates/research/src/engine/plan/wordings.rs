//! Wordings of a question for searches. All of them are made of the caller's words: text of documents never gets here.

use super::super::state::Question;
use super::marks::bare;

/// Longest wording in characters.
const MAX_CHARS: usize = 400;

/// Returns the wordings of the first search: the question with its topic, its content words, and its names and quoted
/// phrases.
pub(crate) fn first(question: &Question) -> Vec<String> {
    let words: Vec<&str> = question.terms.iter().map(|term| term.word.as_str()).collect();
    let mut wordings = Vec::new();
    add(&mut wordings, &format!("{} {}", bare(&question.text), question.topic));
    add(&mut wordings, &words.join(" "));
    let names = names(&question.text);
    if !names.is_empty() {
        add(&mut wordings, &format!("{} {}", names.join(" "), question.topic));
    }
    wordings
}

/// Returns wordings for words that no note contains, without those that were searched before. `missing` and `rare` are
/// positions in [`Question::terms`].
pub(crate) fn for_gap(question: &Question, missing: &[u16], rare: &[u16], before: &[&String]) -> Vec<String> {
    let word = |at: &u16| question.terms.get(usize::from(*at)).map(|term| term.word.as_str());
    let join = |positions: &[u16]| positions.iter().filter_map(word).collect::<Vec<_>>().join(" ");
    let names = names(&question.text).join(" ");
    let mut wordings = Vec::new();
    if !missing.is_empty() {
        add(&mut wordings, &format!("{} {names} {}", join(missing), question.topic));
        add(&mut wordings, &join(missing));
    }
    add(&mut wordings, &join(rare));
    for at in rare.iter().take(1) {
        add(&mut wordings, &format!("{} {names}", join(&[*at])));
    }
    let key = |text: &str| text.to_lowercase();
    wordings.retain(|wording| !before.iter().any(|known| key(known) == key(wording)));
    wordings.truncate(3);
    wordings
}

fn add(wordings: &mut Vec<String>, text: &str) {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.truncate(retrieval_core::chars::truncate(&text, MAX_CHARS).len());
    let is_new = !wordings.iter().any(|known| known.to_lowercase() == text.to_lowercase());
    if !text.is_empty() && is_new {
        wordings.push(text);
    }
}

/// Returns quoted phrases, capitalized words that do not open the sentence, and words with digits.
fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let quoted: Vec<&str> = text.split(['"', '“', '”', '„', '«', '»']).skip(1).step_by(2).collect();
    names.extend(quoted.iter().map(|phrase| bare(phrase).to_owned()));
    for word in text.split_whitespace().skip(1) {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let code = word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(char::is_alphabetic);
        if (capital || code || word.contains('_')) && !quoted.iter().any(|phrase| phrase.contains(word)) {
            names.push(word.to_owned());
        }
    }
    names.retain(|name| !name.is_empty());
    names.truncate(12);
    names
}

#[cfg(test)]
mod tests {
    use super::super::super::text::words;
    use super::*;

    #[test]
    fn wordings_are_the_question_its_words_and_its_names() {
        let text = "Which grease does the \"ACME X200\" pump of Siemens take?".to_owned();
        let question = Question { terms: words::terms(&text), text, ..Question::default() };
        let wordings = first(&question);
        assert_eq!(wordings[0], "Which grease does the \"ACME X200\" pump of Siemens take");
        assert_eq!(wordings[1], "grease acme x200 pump siemens take");
        assert_eq!(wordings[2], "ACME X200 Siemens");
        let again = for_gap(&question, &[0], &[0, 2], &[&wordings[1]]);
        assert_eq!(again[0], "grease ACME X200 Siemens");
        assert!(again.iter().all(|wording| !wordings.contains(wording)));
    }
}
