//! Size of a single result.

use app::search::{HitPassage, SearchHit};
use retrieval_core::chars;
use retrieval_core::shape::{Field, Fields, HitLengths, Length, cuts};

use super::hit_view::{COMMA, measure};
use crate::failure::Failure;

/// Limits the serialized size of a hit. Further passages are left out first, then the end of the snippet and other fields; what
/// is left of the first passage is cut last. Returns the fields to show.
pub(super) fn limit(hit: &mut SearchHit, shown: Fields, max_chars: u64) -> Result<Fields, Failure> {
    let mut sizing = Sizing::of(hit, shown, max_chars)?;
    while sizing.excess() > 0 && hit.passages.len() > 1 {
        hit.passages.pop();
        sizing.passages.pop();
    }
    if sizing.excess() > 0 && shown.contains(Field::Snippet) {
        let end = shortened(&hit.snippet, sizing.excess());
        let end = end.or_else(|| cuts(&hit.snippet).next()).unwrap_or(hit.snippet.len());
        hit.snippet.truncate(end);
        sizing = Sizing::of(hit, shown, max_chars)?;
    }
    for field in Field::ALL {
        if sizing.excess() > 0 && !matches!(field, Field::Passages | Field::Snippet | Field::Title) {
            sizing.shown = sizing.shown.without(field);
        }
    }
    if sizing.excess() > 0 && sizing.shown.contains(Field::Passages) {
        let excess = sizing.excess();
        match hit.passages.first_mut().and_then(|first| Some((shortened(&first.text, excess)?, first))) {
            Some((end, first)) => {
                cut_passage(first, end);
                sizing = Sizing::of(hit, sizing.shown, max_chars)?;
            }
            None => sizing.shown = sizing.shown.without(Field::Passages),
        }
    }
    if sizing.excess() > 0 {
        sizing.shown = sizing.shown.without(Field::Snippet);
    }
    Ok(sizing.shown)
}

/// Lengths of a hit's parts in characters, and the parts to show.
struct Sizing {
    shown: Fields,
    max_chars: u64,
    base: Length,
    fields: [Length; Field::ALL.len()],
    passages: Vec<Length>,
}

impl Sizing {
    fn of(hit: &SearchHit, shown: Fields, max_chars: u64) -> Result<Self, Failure> {
        let HitLengths { base, fields, passages, .. } = measure(hit, shown)?;
        Ok(Self { shown, max_chars, base: base - COMMA, fields, passages })
    }

    /// Returns the number of characters by which the hit is too long.
    fn excess(&self) -> u64 {
        let mut length = self.base;
        self.shown.iter().for_each(|field| length += self.fields[field as usize]);
        if self.shown.contains(Field::Passages) {
            self.passages.iter().for_each(|passage| length += *passage);
        }
        length.chars.saturating_sub(self.max_chars)
    }
}

/// Returns the end of the longest beginning that is shorter by `excess` characters or more; `None` if too little would remain.
fn shortened(text: &str, excess: u64) -> Option<usize> {
    let most = chars::count(text).saturating_sub(usize::try_from(excess).unwrap_or(usize::MAX));
    let longest = chars::byte_offset(text, most);
    cuts(text).take_while(|end| *end <= longest).last()
}

/// Cuts a passage. It remains a slice of the content.
fn cut_passage(passage: &mut HitPassage, end: usize) {
    passage.text.truncate(end);
    let length = u32::try_from(chars::count(&passage.text)).unwrap_or(u32::MAX);
    passage.chars.end = passage.chars.start.saturating_add(length);
}
