//! Responses of chat endpoints.

use models::ModelError;
use models::generation::{Generation, Tokens};
use serde_json::Value;

use super::reasoning;

/// Reads the text of the first choice.
///
/// # Errors
/// `InvalidResponse`, `Refused`, `Empty`.
pub fn read(body: &[u8]) -> Result<Generation, ModelError> {
    let invalid = |detail: String| ModelError::InvalidResponse(detail);
    let response: Value = serde_json::from_slice(body).map_err(|error| invalid(error.to_string()))?;
    let choice = response.pointer("/choices/0").ok_or_else(|| invalid("it has no choice".to_owned()))?;
    let message = choice.get("message").ok_or_else(|| invalid("the choice has no message".to_owned()))?;
    let finish = choice.get("finish_reason").and_then(Value::as_str);
    let is_refusal = message.get("refusal").and_then(Value::as_str).is_some_and(|refusal| !refusal.is_empty());
    if is_refusal || finish == Some("content_filter") {
        return Err(ModelError::Refused { tokens: tokens(&response) });
    }
    let content = match message.get("content") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        Some(_) => return Err(invalid("the content is no text".to_owned())),
    };
    let text = reasoning::remove(&content).trim();
    let truncated = finish == Some("length");
    if text.is_empty() {
        return Err(ModelError::Empty { truncated, tokens: tokens(&response) });
    }
    Ok(Generation { text: text.to_owned(), tokens: tokens(&response), truncated })
}

/// Maximum of a reported number, so that sums of false ones do not overflow.
const MAX_TOKENS: u64 = 1 << 32;

/// Returns the reported usage, if it consists of numbers.
fn tokens(response: &Value) -> Option<Tokens> {
    let count = |name: &str| Some(response.get("usage")?.get(name)?.as_u64()?.min(MAX_TOKENS));
    Some(Tokens { prompt: count("prompt_tokens")?, completion: count("completion_tokens")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &str) -> Option<String> {
        read(body.as_bytes()).ok().map(|generation| generation.text)
    }

    #[test]
    fn text_is_read_in_all_forms() {
        for body in [
            r#"{"choices": [{"message": {"content": " hi \n"}}]}"#,
            r#"{"choices": [{"message": {"content": "hi", "reasoning_content": "hm", "reasoning": "hm", "refusal": null}}]}"#,
            r#"{"choices": [{"message": {"content": [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}]}}]}"#,
            r#"{"choices": [{"message": {"content": "<think>\nhm</think>\n\nhi"}, "finish_reason": 7}], "usage": []}"#,
            r#"{"choices": [{"message": {"content": "hi"}}, {"message": {"content": "ho"}}], "usage": {"prompt_tokens": -1}}"#,
        ] {
            assert_eq!(text(body).as_deref(), Some("hi"), "{body}");
        }
    }

    #[test]
    fn usage_and_truncation_are_reported() {
        let body = r#"{"choices": [{"message": {"content": "hi"}, "finish_reason": "length"}],
                       "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}"#;
        let generation = read(body.as_bytes()).expect("a text");
        assert_eq!(generation.tokens, Some(Tokens { prompt: 5, completion: 2 }));
        assert!(generation.truncated);
        let body = r#"{"choices": [{"message": {"content": "hi"}}],
                       "usage": {"prompt_tokens": 18446744073709551615, "completion_tokens": 0}}"#;
        let tokens = read(body.as_bytes()).expect("a text").tokens;
        assert_eq!(tokens, Some(Tokens { prompt: MAX_TOKENS, completion: 0 }));
    }

    #[test]
    fn responses_without_text_are_typed_errors() {
        for body in [
            r#"{"choices": [{"message": {"content": null, "refusal": "I cannot help with that."}}]}"#,
            r#"{"choices": [{"message": {"content": "So"}, "finish_reason": "content_filter"}]}"#,
        ] {
            assert!(matches!(read(body.as_bytes()), Err(ModelError::Refused { tokens: None })), "{body}");
        }
        for (body, expected) in [
            (r#"{"choices": [{"message": {"content": " \n"}, "finish_reason": "stop"}]}"#, false),
            (r#"{"choices": [{"message": {"content": null, "tool_calls": []}}]}"#, false),
            (r#"{"choices": [{"message": {"content": "<think>hm, hm"}, "finish_reason": "length"}]}"#, true),
        ] {
            let outcome = read(body.as_bytes());
            assert!(
                matches!(outcome, Err(ModelError::Empty { truncated, tokens: None }) if truncated == expected),
                "{outcome:?}"
            );
        }
    }

    #[test]
    fn usage_of_responses_without_text_is_reported() {
        let usage = r#""usage": {"prompt_tokens": 5, "completion_tokens": 2}"#;
        for choice in [
            r#"{"message": {"content": null, "refusal": "No."}}"#,
            r#"{"message": {"content": null}, "finish_reason": "length"}"#,
        ] {
            let body = format!("{{\"choices\": [{choice}], {usage}}}");
            let error = read(body.as_bytes()).expect_err("no text");
            assert_eq!(error.tokens(), Some(Tokens { prompt: 5, completion: 2 }), "{choice}");
        }
    }

    #[test]
    fn other_bodies_are_invalid() {
        for body in [
            "",
            "<!doctype html><p>Bad gateway</p>",
            "data: {\"choices\": []}\n\n",
            "[]",
            "{}",
            r#"{"error": {"message": "no"}}"#,
            r#"{"choices": []}"#,
            r#"{"choices": [{"text": "hi"}]}"#,
            r#"{"choices": [{"message": {"content": 5}}]}"#,
            &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        ] {
            let outcome = read(body.as_bytes());
            assert!(matches!(outcome, Err(ModelError::InvalidResponse(_))), "{outcome:?}");
        }
    }
}
