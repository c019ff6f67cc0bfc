//! Division of a query into questions.

use super::super::text::{display, words};
use super::marks::bare;
use super::{clauses, comparison, lists};

/// Longest question of a plan in characters. A longer one is cut for display and search.
const MAX_QUESTION_CHARS: usize = 400;

/// Words that a question needs to be understood alone.
const SELF_CONTAINED_TERMS: usize = 3;

/// Words of the topic that a question takes over.
const TOPIC_TERMS: usize = 6;

/// Sentences, list items and questions that are looked at: far more than any depth has questions.
const MAX_SENTENCES: usize = 64;

/// A question of the plan.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SubQuestion {
    pub text: String,
    /// Words of its context, for searches.
    pub topic: String,
}

/// Splits a query into its questions: lists, several question marks, coordinated questions, comparisons, pairs of
/// opposites and enumerations. The query itself if no rule applies; empty only for a query without letters and digits.
pub fn split(query: &str) -> Vec<SubQuestion> {
    let lines = lists::lines(query);
    let mut questions = Vec::new();
    if lines.items.is_empty() {
        prose(query, &mut questions);
    } else {
        let context = topic(&lines.prose.join(" "));
        for item in lines.items.iter().take(MAX_SENTENCES) {
            let from = questions.len();
            divide(item, &mut questions);
            questions[from..].iter_mut().for_each(|question| add_context(question, &context));
        }
        let asked: Vec<(String, bool)> =
            lines.prose.iter().flat_map(|line| clauses::sentences(line)).take(MAX_SENTENCES).collect();
        let mut own = Vec::new();
        asked.iter().filter(|(text, asks)| *asks && text.ends_with(['?', '？', '؟'])).for_each(|(text, _)| {
            divide(text, &mut own);
        });
        questions.splice(0..0, own);
        questions.truncate(MAX_SENTENCES);
    }
    questions.retain(|question| question.text.chars().any(char::is_alphanumeric));
    let mut seen: Vec<String> = Vec::new();
    questions.retain(|question| {
        let key = bare(&question.text).to_lowercase();
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
    if questions.is_empty() && query.chars().any(char::is_alphanumeric) {
        let text = retrieval_core::chars::truncate(query.trim(), MAX_QUESTION_CHARS).to_owned();
        questions.push(SubQuestion { text, topic: String::new() });
    }
    questions
}

/// Divides running text: questions with the statements before them as their context.
fn prose(text: &str, questions: &mut Vec<SubQuestion>) {
    let sentences: Vec<(String, bool)> = text.lines().flat_map(clauses::sentences).take(MAX_SENTENCES).collect();
    let asking = sentences.iter().filter(|(_, asks)| *asks).count();
    if asking == 0 {
        // Statements and instructions belong together.
        let whole = text.split_whitespace().collect::<Vec<_>>().join(" ");
        return divide(whole.trim_end_matches(';'), questions);
    }
    let mut context = String::new();
    for (sentence, asks) in sentences {
        if asks {
            let from = questions.len();
            divide(&sentence, questions);
            questions[from..].iter_mut().for_each(|question| add_context(question, &context));
        }
        // A follow-up is about the first subject that was named.
        if context.is_empty() {
            context = topic(&sentence);
        }
    }
}

/// Adds the questions of one sentence, up to the maximum of all.
fn divide(sentence: &str, questions: &mut Vec<SubQuestion>) {
    let left = MAX_SENTENCES.saturating_sub(questions.len());
    if left == 0 {
        return;
    }
    let sentence = sentence.trim();
    let rules = [clauses::coordinated, comparison::parts, clauses::enumerated];
    let parts = rules.iter().map(|rule| rule(sentence)).find(|parts| parts.len() > 1);
    let Some(parts) = parts else {
        questions.push(question(sentence));
        return;
    };
    let context = topic(&parts[0]);
    for (at, part) in parts.iter().take(left).enumerate() {
        // Each entry of an enumeration repeats its end, which may be nearly as long as the query.
        let mut question = question(part);
        if at > 0 {
            add_context(&mut question, &context);
        }
        questions.push(question);
    }
}

fn question(text: &str) -> SubQuestion {
    SubQuestion { text: display::truncate(text, MAX_QUESTION_CHARS), topic: String::new() }
}

/// Gives a question that cannot be understood alone the subject of its context.
fn add_context(question: &mut SubQuestion, context: &str) {
    let own = words::terms(&question.text);
    // A script without spaces has a term for each pair of characters.
    let few = own.len() < SELF_CONTAINED_TERMS || refers_back(&question.text);
    if few && question.topic.is_empty() && !context.is_empty() {
        let new = |word: &&str| !own.iter().any(|term| term.word == word.to_lowercase());
        question.topic = context.split(' ').filter(new).collect::<Vec<_>>().join(" ");
    }
}

/// Returns true for a question with a pronoun after its first word.
fn refers_back(question: &str) -> bool {
    const PRONOUNS: &[&str] = &[
        "it", "its", "they", "them", "their", "this", "that", "these", "those", "he", "she", "es", "sie", "ihr",
        "ihre", "er", "dies", "diese", "il", "elle", "ils", "elles", "cela", "ello", "esto", "él", "ella",
    ];
    question.split(' ').skip(1).any(|word| super::marks::is_among(PRONOUNS, word))
}

/// Returns the content words of a text as the searches for its follow-ups use them.
fn topic(text: &str) -> String {
    let words = words::terms(text);
    words.into_iter().take(TOPIC_TERMS).map(|term| term.word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
