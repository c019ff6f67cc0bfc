//! Texts of requests.

use crate::lengths::MIN_CHARS;

/// Maximum length of a text with its prefix, in characters. Few models read more.
const MAX_CHARS: usize = 8_000;
/// Length to which a text can be cut beside any prefix, in characters. The vector of less would be that of the prefix.
const MIN_TEXT_CHARS: usize = 100;
/// Maximum size of the texts of a request; servers limit the size of requests.
const MAX_BATCH_BYTES: usize = 512 << 10;

/// Divides texts into batches of at most `count` texts, which are bounded in size too.
pub fn batches(texts: &[String], count: usize) -> impl Iterator<Item = &[String]> {
    let mut rest = texts;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fitting = rest.iter().take(count).take_while(|text| {
            bytes += text.len().min(MAX_CHARS * 4);
            bytes <= MAX_BATCH_BYTES
        });
        let (batch, later) = rest.split_at(fitting.count());
        rest = later;
        (!batch.is_empty()).then_some(batch)
    })
}

/// Returns the smallest and the largest length to which texts with this prefix are cut, in characters of the text alone.
pub fn lengths_beside(prefix: &str) -> (usize, usize) {
    let prefix_chars = prefix.chars().count();
    let shortest = MIN_CHARS.saturating_sub(prefix_chars).max(MIN_TEXT_CHARS);
    (shortest, MAX_CHARS.saturating_sub(prefix_chars).max(shortest))
}

/// Returns the first characters of a text, without the white space around it.
pub fn beginning(text: &str, max_chars: usize) -> &str {
    let text = text.trim();
    text.char_indices().nth(max_chars).map_or(text, |(end, _)| &text[..end])
}

/// Returns the prefix and the text. The result is never blank, which many endpoints reject.
pub fn with_prefix(prefix: &str, text: &str) -> String {
    let whole = format!("{prefix}{text}");
    if whole.trim().is_empty() { ".".to_owned() } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_bounded_in_number_and_size() {
        let sizes = |texts: &[String], count| batches(texts, count).map(<[String]>::len).collect::<Vec<_>>();
        assert_eq!(sizes(&vec!["a".to_owned(); 70], 32), [32, 32, 6]);
        assert_eq!(sizes(&[], 32), [0; 0]);
        // A text counts as it is sent: cut.
        assert_eq!(sizes(&vec!["a".repeat(10 << 20); 20], 32), [16, 4]);
    }

    #[test]
    fn texts_are_prefixed_and_cut_between_characters() {
        let cut = |prefix: &str, text: &str, max_chars| with_prefix(prefix, beginning(text, max_chars));
        assert_eq!(cut("query: ", " holiday\n", 100), "query: holiday");
        assert_eq!(cut("é ", "日本語", 2), "é 日本");
        assert_eq!(cut("", "x".repeat(10_000).as_str(), MAX_CHARS).len(), MAX_CHARS);
        assert_eq!(cut(" ", " \n", 100), ".");
    }

    #[test]
    fn prefix_leaves_room_for_the_text() {
        for (prefix, expected) in [(0, (400, 8_000)), (250, (150, 7_750)), (450, (100, 7_550)), (9_000, (100, 100))] {
            assert_eq!(lengths_beside(&"é".repeat(prefix)), expected, "{prefix}");
        }
    }
}
