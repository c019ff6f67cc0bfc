//! Truncation of responses to a number of characters of JSON, before clients truncate them blindly.

use api_types::{DocumentResponse, FileListResponse, Warning, WarningCode};
use serde::Serialize;
use serde_json::json;

/// Characters of JSON reserved for the warning that truncation adds.
const WARNING_CHARS: usize = 250;

/// Numbers of items dropped from a response. Truncated content is stated in the response itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct LeftOut {
    pub captures: usize,
    pub headings: usize,
    pub passages: usize,
}

/// Fits a document into `limit`: drops captures, headings and passages, then truncates the content.
pub(crate) fn document(response: &mut DocumentResponse, limit: usize) -> LeftOut {
    let mut left_out = LeftOut::default();
    if chars(response) <= limit {
        return left_out;
    }
    // States the length of the untruncated body.
    response.usage = None;
    let mut over = (chars(response) + WARNING_CHARS).saturating_sub(limit);
    if let Some(captures) = &mut response.capture_history {
        left_out.captures = shed_tail(captures, &mut over);
    }
    // Headings guide further reads, so only a very long list is shortened.
    let excess = chars(&response.doc.headings).saturating_sub(limit / 8).min(over);
    let mut left = excess;
    left_out.headings = shed_tail(&mut response.doc.headings, &mut left);
    over -= excess - left;
    if let Some(passages) = &mut response.passages {
        left_out.passages = shed_tail(passages, &mut over);
    }
    if over > 0
        && let Some(content) = &mut response.content
    {
        content.text.truncate(end_without(&content.text, over));
        content.truncated = true;
        content.char_count = content.text.chars().count() as i64;
        let max_chars = content.char_count;
        response.warnings.retain(|warning| warning.code != WarningCode::ContentTruncated);
        let details = json!({"field": "content.max_chars", "max_chars": max_chars});
        response.warnings.push(Warning {
            code: WarningCode::ContentTruncated,
            message: format!("the content is longer than the {max_chars} characters that fit into the result"),
            details: details.as_object().cloned().unwrap_or_default(),
        });
    }
    left_out
}

/// Drops files from the end of the list to fit into `limit`.
pub(crate) fn files(response: &mut FileListResponse, limit: usize) {
    let mut over = chars(response).saturating_sub(limit);
    shed_tail(&mut response.files, &mut over);
}

/// Drops items from the end until `over` characters are gone. Returns the number dropped.
fn shed_tail<T: Serialize>(items: &mut Vec<T>, over: &mut usize) -> usize {
    let before = items.len();
    while *over > 0
        && let Some(item) = items.pop()
    {
        // With the comma.
        *over = over.saturating_sub(chars(&item) + 1);
    }
    before - items.len()
}

/// Returns the byte length of the text after removing `over` characters of its JSON from the end.
fn end_without(text: &str, over: usize) -> usize {
    let mut taken = 0;
    for (position, char) in text.char_indices().rev() {
        taken += quoted(char);
        if taken >= over {
            return position;
        }
    }
    0
}

/// Number of characters that serde_json writes for a character of a string.
fn quoted(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}

/// The length of a value's JSON in Unicode scalar values.
pub(crate) fn chars(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |json| json.chars().count())
}

#[cfg(test)]
mod tests {
    use super::{chars, end_without, quoted};

    #[test]
    fn character_counts_match_serialization() {
        for char in (0..0x300).filter_map(char::from_u32).chain(['\u{2028}', '潮', '🦀']) {
            assert_eq!(quoted(char), chars(&char.to_string()) - 2, "{char:?}");
        }
    }

    #[test]
    fn truncation_removes_the_required_characters_and_no_more() {
        let text = "a\n\"潮🦀\u{1}z";
        for over in 0..=chars(&text) {
            let end = end_without(text, over);
            let lost = chars(&text) - chars(&&text[..end]);
            let all = chars(&text) - 2;
            assert!(lost >= over.min(all) && (over == 0 || lost < over + 6), "{over} {lost}");
        }
    }
}
