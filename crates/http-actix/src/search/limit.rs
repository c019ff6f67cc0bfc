//! Size of a single result.

use app::search::{HitPassage, SearchHit};
use retrieval_core::chars;
use retrieval_core::shape::{Field, Fields, HitLengths, Length, cuts};

use super::hit_view::{COMMA, measure};
use crate::failure::Failure;

/// Limits the serialized size of a hit. Further passages are left out first, then the end of the snippet and other fields; what
/// is left of the first passage is cut last. Returns the fields to show.
pub(super) fn limit(hit: &mut SearchHit, shown: Fields, max_chars: u64) -> Result<Fields, Failure> {
    let mut shown = shown;
    while hit.passages.len() > 1 && excess(hit, shown, max_chars)? > 0 {
        hit.passages.pop();
    }
    if shown.contains(Field::Snippet) {
        let end = shortened(&hit.snippet, excess(hit, shown, max_chars)?);
        let end = end.or_else(|| cuts(&hit.snippet).next()).unwrap_or(hit.snippet.len());
        hit.snippet.truncate(end);
    }
    for field in Field::ALL {
        if excess(hit, shown, max_chars)? == 0 {
            return Ok(shown);
        }
        if !matches!(field, Field::Passages | Field::Snippet | Field::Title) {
            shown = shown.without(field);
        }
    }
    if shown.contains(Field::Passages) {
        let excess = excess(hit, shown, max_chars)?;
        match hit.passages.first_mut().and_then(|first| Some((shortened(&first.text, excess)?, first))) {
            Some((end, first)) => cut_passage(first, end),
            None => shown = shown.without(Field::Passages),
        }
    }
    if excess(hit, shown, max_chars)? > 0 {
        shown = shown.without(Field::Snippet);
    }
    Ok(shown)
}

/// Returns the number of characters by which the hit is too long.
fn excess(hit: &SearchHit, shown: Fields, max_chars: u64) -> Result<u64, Failure> {
    let HitLengths { base, fields, passages, .. } = measure(hit, shown)?;
    let mut length = base - COMMA;
    shown.iter().for_each(|field| length += fields[field as usize]);
    passages.into_iter().for_each(|passage: Length| length += passage);
    Ok(length.chars.saturating_sub(max_chars))
}

/// Returns the end of the longest beginning that is shorter by `excess` characters or more; `None` if too little would remain.
fn shortened(text: &str, excess: u64) -> Option<usize> {
    let most = (chars::count(text) as u64).saturating_sub(excess);
    let ends: Vec<usize> = std::iter::once(text.len()).filter(|_| excess == 0).chain(cuts(text)).collect();
    ends.into_iter().filter(|end| chars::count(&text[..*end]) as u64 <= most).max()
}

/// Cuts a passage. It remains a slice of the content.
fn cut_passage(passage: &mut HitPassage, end: usize) {
    passage.text.truncate(end);
    let length = u32::try_from(chars::count(&passage.text)).unwrap_or(u32::MAX);
    passage.chars.end = passage.chars.start.saturating_add(length);
}
