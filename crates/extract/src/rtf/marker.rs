//! Numbers and bullets in front of list items, as the file states them.

/// Maximum number of digits of an item's number (CommonMark 0.31, 5.2).
const MAX_DIGITS: usize = 9;

/// Marker of a list item.
#[derive(Debug, PartialEq)]
pub(super) enum Marker<'a> {
    Bullet,
    Number(u32),
    /// A number that Markdown has no marker for, such as `IV.`, `(a)` or `1.1`.
    Text(&'a str),
}

impl<'a> Marker<'a> {
    pub(super) fn of(marker: &'a str) -> Self {
        let marker = marker.trim();
        // A circle as a bullet is the letter o of Courier New.
        if !marker.contains(char::is_alphanumeric) || marker == "o" {
            return Self::Bullet;
        }
        let digits = marker.strip_suffix(['.', ')']).unwrap_or(marker);
        let is_number = digits.len() <= MAX_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
        match digits.parse() {
            Ok(number) if is_number => Self::Number(number),
            _ => Self::Text(marker),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_numbers_are_numbers() {
        for (marker, number) in [("3.\t", 3), (" 12)", 12), ("0", 0)] {
            assert_eq!(Marker::of(marker), Marker::Number(number), "{marker}");
        }
        for marker in ["1.1", "(a)", "IV.", "(3)", "a.", "3..", "4294967296.", "+3"] {
            assert_eq!(Marker::of(marker), Marker::Text(marker));
        }
        for marker in ["\u{2022}\t", "", "-", "o"] {
            assert_eq!(Marker::of(marker), Marker::Bullet);
        }
    }
}
