//! JSON as models write it: in code fences, after thoughts, with trailing commas, cut off.

use serde_json::Value;

use super::Answer;

/// Longest answer that is read.
const MAX_BYTES: usize = 400_000;
/// Places at which a damaged text is cut.
const MAX_CUTS: usize = 50;

/// Returns the first JSON object or array of an answer, repaired if necessary. A number or text in which a truncated answer
/// ends is left out: it can be another one than the model meant.
pub(crate) fn parse(answer: Answer<'_>) -> Option<Value> {
    let Answer { text, truncated } = answer.beginning(MAX_BYTES);
    let text = without_thoughts(text);
    let text = &text[text.find(['{', '['])?..];
    let first = serde_json::Deserializer::from_str(text).into_iter::<Value>().next();
    match first {
        Some(Ok(value)) => Some(value),
        _ => repair(text, truncated),
    }
}

/// Returns an answer without the thoughts that some models put before it. Elsewhere the tags are words of the answer: generators remove
/// thoughts in other forms.
pub(crate) fn without_thoughts(answer: &str) -> &str {
    let answer = answer.trim();
    let thoughts = answer.strip_prefix("<think>").and_then(|thoughts| thoughts.split_once("</think>"));
    thoughts.map_or(answer, |(_, rest)| rest.trim())
}

/// Copies the text without trailing commas and with control characters in strings escaped, up to its end or the end of
/// the first value. Then closes what is open, or cuts at the last place where it can be closed: before the last value, if a
/// truncated text ends in it.
fn repair(text: &str, truncated: bool) -> Option<Value> {
    let mut out = String::with_capacity(text.len());
    let mut open: Vec<char> = Vec::new();
    // Ends of complete values, with the brackets that were open there.
    let mut cuts: Vec<(usize, Vec<char>)> = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        if in_string {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            match c {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                c if c.is_control() => {}
                c => out.push(c),
            }
            continue;
        }
        match c {
            '"' => in_string = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            ',' => cuts.push((out.len(), open.clone())),
            '}' | ']' => {
                drop_trailing_comma(&mut out);
                if open.pop() != Some(c) {
                    break;
                }
            }
            _ => {}
        }
        out.push(c);
        if open.is_empty() {
            break;
        }
        if open.len() > 64 || cuts.len() > 10_000 {
            return None;
        }
    }
    let is_unfinished = truncated && (in_string || out.ends_with(|c: char| c.is_ascii_digit()));
    if in_string {
        if escaped {
            out.pop();
        }
        out.push('"');
    }
    drop_trailing_comma(&mut out);
    let whole = (!is_unfinished).then_some((out.len(), open));
    let ends = whole.into_iter().chain(cuts.into_iter().rev().take(MAX_CUTS));
    // A cut can lie behind a comma that was dropped later.
    ends.filter_map(|(end, open)| Some((out.get(..end)?, open)))
        .map(|(text, open)| text.chars().chain(open.into_iter().rev()).collect::<String>())
        .find_map(|text| serde_json::from_str(&text).ok())
}

fn drop_trailing_comma(out: &mut String) {
    let end = out.trim_end().len();
    if out[..end].ends_with(',') {
        out.truncate(end - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn whole(text: &str) -> Answer<'_> {
        Answer { text, truncated: false }
    }

    #[test]
    fn damaged_answers_are_repaired() {
        for (answer, expected) in [
            ("{\"a\": 1}", json!({"a": 1})),
            ("Here you are:\n```json\n{\"a\": [1, 2,],}\n```\nBye {", json!({"a": [1, 2]})),
            ("<think>{\"x\": 0}</think>{\"a\": 1}", json!({"a": 1})),
            ("{\"a\": \"</think>\"}", json!({"a": "</think>"})),
            ("{\"a\": [\"one\", \"tw", json!({"a": ["one", "tw"]})),
            ("{\"a\": 1, \"b", json!({"a": 1})),
            ("{\"a\": 1, \"b\":", json!({"a": 1})),
            ("{\"a\": \"two\nlines\"}", json!({"a": "two\nlines"})),
            ("[{\"q\": 1}, {\"q\": tru", json!([{"q": 1}])),
        ] {
            assert_eq!(parse(whole(answer)), Some(expected), "{answer}");
        }
        for nonsense in ["", "no json", "{", "}{", &"[".repeat(100_000)] {
            assert!(parse(whole(nonsense)).is_none_or(|value| value == json!({})));
        }
    }

    #[test]
    fn truncated_answers_lose_the_value_in_which_they_end() {
        for (text, expected) in [
            ("{\"a\": 30, \"b\": 4", Some(json!({"a": 30}))),
            ("{\"a\": 30, \"b\": -4.", Some(json!({"a": 30}))),
            ("{\"a\": [1, 2", Some(json!({"a": [1]}))),
            ("{\"a\": [{\"b\": 1, \"c\": 1", Some(json!({"a": [{"b": 1}]}))),
            ("{\"a\": [\"one\", \"tw", Some(json!({"a": ["one"]}))),
            ("{\"a\": 4", None),
            ("{\"a\": \"tw", None),
            ("{\"a\": \"two\"", Some(json!({"a": "two"}))),
            ("{\"a\": true", Some(json!({"a": true}))),
            ("{\"a\": [4]", Some(json!({"a": [4]}))),
            ("{\"a\": 4} And 4", Some(json!({"a": 4}))),
        ] {
            assert_eq!(parse(Answer { text, truncated: true }), expected, "{text}");
        }
        let long = format!("{{\"a\": 30, \"b\": {}", "4".repeat(MAX_BYTES));
        assert_eq!(parse(whole(&long)), Some(json!({"a": 30})));
    }

    #[test]
    fn any_answer_is_read_without_panic() {
        use proptest::prelude::*;
        proptest!(|(text in "[\\[\\]{}\",:a1\\\\\n]{0,60}", truncated: bool)| {
            let _ = parse(Answer { text: &text, truncated });
        });
    }
}
