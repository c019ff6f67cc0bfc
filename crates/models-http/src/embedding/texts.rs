//! Texts of requests.

/// Maximum length of a text with its prefix, in characters. Few models read more.
pub const MAX_CHARS: usize = 8_000;
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

/// Returns the prefix and the text, cut to `max_chars` in total. The result is never blank, which many endpoints reject.
pub fn with_prefix(prefix: &str, text: &str, max_chars: usize) -> String {
    let whole: String = prefix.chars().chain(text.trim().chars()).take(max_chars).collect();
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
        assert_eq!(with_prefix("query: ", " holiday\n", 100), "query: holiday");
        assert_eq!(with_prefix("é ", "日本語", 4), "é 日本");
        assert_eq!(with_prefix("", "x".repeat(10_000).as_str(), MAX_CHARS).len(), MAX_CHARS);
        assert_eq!(with_prefix(" ", " \n", 100), ".");
    }
}
