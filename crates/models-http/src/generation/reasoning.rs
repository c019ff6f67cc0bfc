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
    match end_of_thoughts(rest).map(|end| rest.split_at(end)) {
        Some((thoughts, answer)) if !thoughts.contains("<think>") => answer,
        Some(_) | None => rest,
    }
}

/// Returns the end in bytes of the first closing tag that is not quoted. In a code block that ends behind it, a tag is quoted; a block that
/// does not end is one that the thoughts broke off in.
fn end_of_thoughts(text: &str) -> Option<usize> {
    let (mut block, mut in_block): (Option<&str>, Option<usize>) = (None, None);
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        let line = line.trim_start();
        if let Some(behind) = behind_tag(line) {
            let tag_end = end - behind.len();
            if block.is_none() {
                return Some(tag_end);
            }
            in_block = in_block.or(Some(tag_end));
        }
        match (block, fence(line)) {
            // Marks on both sides are those of code within the line.
            (None, Some((marks, info))) if !info.contains('`') => block = Some(marks),
            (Some(open), Some((marks, info))) if marks.starts_with(open) && info.trim().is_empty() => {
                (block, in_block) = (None, None);
            }
            _ => {}
        }
    }
    in_block
}

/// Returns what is behind the first closing tag of a line that begins the line or follows a word or sentence without a space. Sentences about
/// tags have a space or a mark of a quotation before them.
fn behind_tag(line: &str) -> Option<&str> {
    const TAG: &str = "</think>";
    let is_end = |before: &str| {
        let last = before.chars().next_back();
        last.is_none_or(|last| last.is_alphanumeric() || matches!(last, '.' | '!' | '?' | ')' | '。' | '！' | '？'))
    };
    let (at, _) = line.match_indices(TAG).find(|(at, _)| is_end(&line[..*at]))?;
    Some(&line[at + TAG.len()..])
}

/// Returns the marks at the beginning of a line that can open or close a code block, and what is behind them.
fn fence(line: &str) -> Option<(&str, &str)> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let (marks, info) = line.split_at(line.len() - line.trim_start_matches(mark).len());
    (marks.len() >= 3).then_some((marks, info))
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
            ("</think>an answer", "an answer"),
            ("hm\r\n  </think>\r\nan answer", "\r\nan answer"),
            ("hm, is `</think>` meant?\n</think>an answer", "an answer"),
            ("hm:\n```rust\n</think>\n```\nso\n</think>an answer", "an answer"),
            ("```a``` is hm\n</think>an answer", "an answer"),
            ("Let me see.</think>\n\nan answer", "\n\nan answer"),
            ("Hmm</think>an answer", "an answer"),
            ("Is it `</think>`? So</think>an answer", "an answer"),
            ("hm:\n```\nand no end of this\n</think>an answer", "an answer"),
        ] {
            assert_eq!(remove(text), expected, "{text}");
        }
    }

    #[test]
    fn quoted_tags_are_part_of_the_answer() {
        for text in [
            "It ends with </think>. [1]",
            "Thoughts end with `</think>`.\n\nAn answer follows.",
            "- </think>\n> </think>\n",
            "\"</think>\", '</think>', “</think>” and (</think>) end them.",
            "```json\n{\"a\": \"</think>\"}",
            "```json\n{\"a\": \"</think>\"}\n```",
            "The end is:\n\n```\n</think>\n```\n\nAn answer follows.",
            "The end is:\n\n  ~~~~md\n```\n~~~\n</think>\n</think>\n  ~~~~\n\nAn answer follows.",
        ] {
            assert_eq!(remove(text), text);
        }
    }
}
