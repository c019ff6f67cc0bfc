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
    serde_json::to_string(value).map_or(0, |json| chars(&json))
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
