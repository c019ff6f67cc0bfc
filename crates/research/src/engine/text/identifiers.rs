//! Names of products and parts with digits, such as `X200`.

use std::collections::BTreeSet;

/// Returns the words of a text, in lowercase, that begin with a letter and have a digit. `30bar` is a quantity. ASCII
/// only: other scripts write no space between a name and the word after it.
pub(crate) fn identifiers(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_identifier = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    words.filter(is_identifier).map(str::to_ascii_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_have_letters_and_digits() {
        for (text, expected) in [
            ("The X200 pump and the lm310 run at 30bar, 12 V, since 2019.", &["lm310", "x200"][..]),
            ("X200的压力是30巴", &["x200"]),
            ("水泵的压力是30巴。", &[]),
            ("", &[]),
        ] {
            assert_eq!(identifiers(text).iter().map(String::as_str).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
