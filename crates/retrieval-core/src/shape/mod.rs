//! The shape of a search answer: how much of each hit is shown, and what is given up when there is a budget.
//!
//! This module knows no JSON. The length of the whole answer in a given state comes in as a function, and what is
//! left out is said with the state, so that the caller can write warnings that count towards the budget themselves.

mod presets;
mod shed;

use uuid::Uuid;

/// One hit with everything that could be shown of it. `None` is left out of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchHit {
    /// Position in the answer, from 1.
    pub rank: u32,
    pub doc_id: Uuid,
    pub canonical_url: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub snippet: Option<String>,
    pub mime: Option<String>,
    pub source_url: Option<String>,
    pub source_uri: Option<String>,
    pub index: Option<String>,
    /// `Some` of nothing is shown as null.
    pub labels: Option<Vec<String>>,
    pub metadata: Option<HitMetadata>,
    /// Best first. `Some` of nothing is shown as null.
    pub passages: Option<Vec<HitPassage>>,
    pub provenance: Option<HitProvenance>,
    pub score: Option<f64>,
}

/// Facts about a hit's document. Times are RFC 3339.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HitMetadata {
    pub content_digest: Option<String>,
    pub extracted_at: Option<String>,
    pub first_seen_at: Option<String>,
    pub last_crawled_at: Option<String>,
    pub last_seen_at: Option<String>,
    pub published_at: Option<String>,
}

/// A passage that is quoted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HitPassage {
    pub passage_id: Uuid,
    pub doc_id: Uuid,
    pub ordinal: u32,
    pub text: String,
    pub char_start: Option<u64>,
    pub char_end: Option<u64>,
    pub section_heading: Option<String>,
    pub section_path: Vec<String>,
}

/// The capture that a hit's content came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HitProvenance {
    pub capture_id: Uuid,
    /// RFC 3339.
    pub capture_time: String,
}

/// How much of each hit is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verbosity {
    /// Rank, document id, URL and title; no `access` block.
    IdsOnly,
    /// And snippet, score, index and dates.
    Compact,
    /// And passages, description, type, sources, labels and all metadata.
    Standard,
    /// And provenance.
    Full,
}

/// What is given up for a budget, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShedLevel {
    /// Passages, one at a time.
    Passages,
    /// Snippets, word by word from their ends.
    SnippetTails,
    /// What verbosity shows beyond rank, document id, URL and title, field by field; then the page's extras.
    PresetExtras,
    /// Hits.
    TailResults,
}

impl ShedLevel {
    /// The name in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passages => "passages",
            Self::SnippetTails => "snippet_tails",
            Self::PresetExtras => "preset_extras",
            Self::TailResults => "tail_results",
        }
    }
}

/// An answer in its final shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaped {
    pub hits: Vec<SearchHit>,
    /// Whether the page shows its `access` block.
    pub access: bool,
    /// Whether the page shows its `ranking` block.
    pub ranking: bool,
    /// Whether the page shows its `integration_results` block.
    pub integration_results: bool,
    /// Levels that something was given up on, in order; empty when nothing was.
    pub shed: Vec<ShedLevel>,
    /// Even the least answer (one hit with rank, document id and URL) is longer than the budget. That is this answer.
    pub unsatisfiable: bool,
}

/// Shows of `hits` what `verbosity` asks for, and of that as much as fits into `max_chars`.
///
/// `size` is the length in characters of the whole answer in a state, everything around the hits included (warnings
/// that follow from [`Shaped::shed`] and [`Shaped::unsatisfiable`] too); taking something away must never make it
/// longer within one level. It is asked about `4 + log2(n)` times for `n` words, fields and hits to give up.
///
/// Given up is as little as is needed, from the last hit upwards, in the order of [`ShedLevel`]: a level is begun only
/// when all of the one before is gone. Nothing is given up when everything fits; a larger budget never shows less. The
/// answer is not longer than the budget unless it says that it is [`Shaped::unsatisfiable`].
pub fn shape(
    hits: Vec<SearchHit>,
    verbosity: Verbosity,
    max_chars: Option<u64>,
    size: &dyn Fn(&Shaped) -> u64,
) -> Shaped {
    let whole = Shaped {
        hits: hits.into_iter().map(|hit| presets::shown(hit, verbosity)).collect(),
        access: verbosity != Verbosity::IdsOnly,
        ranking: true,
        integration_results: true,
        shed: Vec::new(),
        unsatisfiable: false,
    };
    match max_chars {
        Some(budget) => shed::shed(whole, budget, size),
        None => whole,
    }
}

#[cfg(test)]
mod tests;
