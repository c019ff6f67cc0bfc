//! Prompt for questions. It contains nothing but the caller's words.

use serde_json::{Value, json};

use super::super::assignment::{Assignment, Limits};
use super::super::plan::SubQuestion;
use super::super::prompt::{Prompt, Purpose};
use super::super::state::State;
use super::super::text::display;
use super::{Answer, json, with_reasoning};

const SYSTEM: &str = "You divide a research assignment into the questions that must be answered for it. Each question is \
     understandable alone, names its subject, and is answerable from documents. Answer with JSON only.";

/// Length of an answer without reasoning.
const ANSWER_TOKENS: u32 = 1_000;
const MAX_QUESTION_CHARS: usize = 300;

pub(crate) fn prompt(state: &State, assignment: &Assignment) -> Prompt {
    let max = Limits::of(assignment.depth).questions;
    let mut instructions = format!("Assignment:\n{}\n", assignment.query);
    if let Some(wishes) = &assignment.instructions {
        instructions.push_str(&format!("\nWishes for the report:\n{wishes}\n"));
    }
    if let Some(previous) = &assignment.previous {
        instructions.push_str(&format!("\nIt continues this earlier assignment:\n{}\n", previous.query));
    }
    instructions.push_str(&format!(
        "\nWrite at most {max} questions, fewer if they suffice, in the language of the assignment: \
         {{\"questions\": [\"...\"]}}"
    ));
    let prompt = Prompt {
        purpose: Purpose::Plan,
        system: SYSTEM.to_owned(),
        material: String::new(),
        instructions,
        schema: Some(schema(max)),
        max_tokens: ANSWER_TOKENS,
        shown: Vec::new(),
    };
    with_reasoning(prompt, state, assignment)
}

fn schema(max: usize) -> Value {
    json!({
        "type": "object",
        "properties": {"questions": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": max}},
        "required": ["questions"],
        "additionalProperties": false
    })
}

/// Returns the questions of an answer; empty if there are none.
pub(crate) fn parse(answer: Answer<'_>) -> Vec<SubQuestion> {
    let Some(value) = json::parse(answer) else { return Vec::new() };
    let list = value.get("questions").and_then(Value::as_array).or_else(|| value.as_array());
    let mut questions: Vec<SubQuestion> = Vec::new();
    for text in list.into_iter().flatten().take(20).filter_map(Value::as_str) {
        let text = text.split_whitespace().map(printable).collect::<Vec<_>>().join(" ");
        let text = display::truncate(&text, MAX_QUESTION_CHARS);
        let is_new = !questions.iter().any(|known| known.text.to_lowercase() == text.to_lowercase());
        if is_new && text.chars().any(char::is_alphanumeric) {
            questions.push(SubQuestion { text, topic: String::new() });
        }
    }
    questions
}

fn printable(word: &str) -> String {
    word.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_of_an_answer_are_clamped() {
        let read = |text| parse(Answer { text, truncated: false });
        let texts = |text| read(text).into_iter().map(|question| question.text).collect::<Vec<_>>();
        assert_eq!(
            texts("{\"questions\": [\"What is A?\", \"what is a?\", 7, \" \", \"B\\n?\"]}"),
            ["What is A?", "B ?"]
        );
        assert_eq!(texts("[\"What is A?\"]"), ["What is A?"]);
        assert!(read("I cannot do that").is_empty());
    }
}
