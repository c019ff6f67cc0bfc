use std::io::{self, Write};
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::Serialize;

/// Characters that a part of an answer has in its text and in its structured content.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Size {
    pub text: usize,
    pub json: usize,
}

impl Size {
    /// The size of a line of text, and of a value with the comma behind it.
    pub fn of(line: &str, value: &impl Serialize) -> Self {
        Self { text: chars(line) + 1, json: json_chars(value) + 1 }
    }

    /// Returns the characters that are left of `limit` in each form.
    pub fn room(self, limit: usize) -> Self {
        Self { text: limit.saturating_sub(self.text), json: limit.saturating_sub(self.json) }
    }

    /// True if both forms have at most `limit` characters.
    pub fn fits(self, limit: usize) -> bool {
        self.text <= limit && self.json <= limit
    }
}

impl Add for Size {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { text: self.text + other.text, json: self.json + other.json }
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Size {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), Self::add)
    }
}

/// The length of a text in characters.
pub(crate) fn chars(text: &str) -> usize {
    text.chars().count()
}

/// The length of a value's JSON in characters.
pub(crate) fn json_chars(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    serde_json::to_writer(&mut counter, value).map_or(0, |()| counter.0)
}

/// The length of a character in a JSON string, in characters.
pub(crate) fn json_length(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}

/// Counts the characters written to it.
struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, written: &[u8]) -> io::Result<usize> {
        // Every byte except the continuation bytes (10xxxxxx) of UTF-8 starts a character.
        self.0 += written.iter().filter(|byte| (**byte & 0xC0) != 0x80).count();
        Ok(written.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the first `most` characters of a text.
pub(crate) fn prefix(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// Returns the largest number up to `most` that satisfies `fits`, which holds for all smaller numbers too; `None` if not
/// even `least` does.
pub(crate) fn largest(least: usize, most: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    if !fits(least) {
        return None;
    }
    let (mut fitting, mut end) = (least, most.max(least) + 1);
    while end - fitting > 1 {
        let middle = fitting + (end - fitting) / 2;
        if fits(middle) { fitting = middle } else { end = middle }
    }
    Some(fitting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_measured_as_they_are_written() {
        for c in ('\0'..='\u{ff}').chain("潮🦀\u{2028}".chars()) {
            assert_eq!(json_length(c), json_chars(&c) - 2, "{c:?}");
        }
    }
}
