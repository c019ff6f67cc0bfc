//! Reasoning that models write before their answer.

const TAGS: [(&str, &str); 3] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")];

/// Returns the text after the reasoning at its beginning. Some chat templates contain the opening tag, so that only the closing
/// one is generated. JSON has no such beginning; tags in it are part of a value.
pub fn remove(text: &str) -> &str {
    let mut rest = text.trim_start();
    // Some models think in several blocks.
    while let Some((open, close)) = TAGS.iter().find(|(open, _)| rest.starts_with(open)) {
        rest = match rest[open.len()..].split_once(close) {
            Some((_, answer)) => answer.trim_start(),
            None => "",
        };
    }
    if rest.starts_with(['{', '[']) {
        return rest;
    }
    match rest.split_once("</think>") {
        Some((thoughts, answer)) if !thoughts.contains("<think>") => answer,
        Some(_) | None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::remove;

    #[test]
    fn reasoning_is_removed() {
        for (text, expected) in [
            ("an answer", "an answer"),
            ("<think>hm</think>an answer", "an answer"),
            (" <think>\nhm\n</think>\n<think></think> an answer", "an answer"),
            ("<thinking>hm</thinking>an answer", "an answer"),
            ("hm, so\n</think>an answer", "an answer"),
            ("<think>hm, and no end", ""),
            ("<think>{\"a\": 1}</think>{\"b\": \"</think>\"}", "{\"b\": \"</think>\"}"),
            ("The tag <think> ends with </think>.", "The tag <think> ends with </think>."),
            ("", ""),
        ] {
            assert_eq!(remove(text), expected, "{text}");
        }
    }
}
