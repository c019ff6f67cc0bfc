//! Lengths of serialized parts.

use std::ops::{Add, AddAssign, Sub, SubAssign};

use super::{Field, PagePlan};

/// Length of serialized text. Arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    pub bytes: u64,
    /// Unicode scalar values.
    pub chars: u64,
}

impl Length {
    /// Measures text as it stands.
    pub fn of(text: &str) -> Self {
        Self { bytes: text.len() as u64, chars: crate::chars::count(text) as u64 }
    }
}

impl Add for Length {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { bytes: self.bytes.saturating_add(other.bytes), chars: self.chars.saturating_add(other.chars) }
    }
}

impl AddAssign for Length {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Length {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { bytes: self.bytes.saturating_sub(other.bytes), chars: self.chars.saturating_sub(other.chars) }
    }
}

impl SubAssign for Length {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// Serialized lengths of one hit's parts.
#[derive(Clone, Debug)]
pub struct HitLengths<'a> {
    /// Rank, document id and URL, with everything that separates the hit from the next.
    pub base: Length,
    /// Length that each field adds, at `field as usize`; zero if the hit has no such field.
    ///
    /// [`Field::Snippet`] counts with its text. [`Field::Passages`] counts without the passages.
    pub fields: [Length; Field::ALL.len()],
    /// The snippet before serialization; budgets shorten it.
    pub snippet: &'a str,
    /// Length that each passage adds, best first.
    pub passages: Vec<Length>,
}

impl HitLengths<'_> {
    /// Returns true if the hit has the field.
    pub(super) fn has(&self, field: Field) -> bool {
        self.fields[field as usize] != Length::default() || (field == Field::Passages && !self.passages.is_empty())
    }
}

/// The caller's measure of its own serialized form.
pub trait Measure {
    /// Measures the answer around its hits.
    fn page(&self, page: &PagePlan) -> Length;

    /// Measures text inside a snippet, escapes included. The parts of a text add up to the whole.
    fn text(&self, text: &str) -> Length;

    /// Returns the characters of an answer whose page and hits have this length together. The two differ where an
    /// answer states its own length.
    fn answer_chars(&self, parts: Length) -> u64 {
        parts.chars
    }
}
