//! Shape of a search answer: the parts of each hit to show, and the parts to leave out for a budget.
//!
//! The module works on lengths and returns a [`Plan`]; it never sees the answer itself. The caller measures the parts of
//! its serialized form once, and writes the answer through the plan.

mod fields;
mod length;
mod shed;

pub use fields::{Field, Fields, Verbosity};
pub use length::{HitLengths, Length, Measure};
pub use shed::cuts;

/// Groups of parts that a budget removes, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShedLevel {
    /// Passages, one at a time.
    Passages,
    /// Snippets, word by word from their ends. Their beginnings stay.
    SnippetTails,
    /// Fields beyond rank, document id, URL, title and the beginning of the snippet, one at a time; then the optional
    /// blocks of the page.
    PresetExtras,
    /// Hits, and then the snippet of the only hit left.
    TailResults,
}

impl ShedLevel {
    /// Returns the name in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passages => "passages",
            Self::SnippetTails => "snippet_tails",
            Self::PresetExtras => "preset_extras",
            Self::TailResults => "tail_results",
        }
    }
}

/// The parts of an answer to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// One entry for each hit to show, in the order of the hits. Hits beyond the last entry are left out.
    pub hits: Vec<HitPlan>,
    pub page: PagePlan,
}

/// The parts of one hit to show. Rank, document id, URL and title are always shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HitPlan {
    pub fields: Fields,
    /// Bytes of the snippet to show; [`WHOLE`] for all of it. Always a character boundary.
    pub snippet: usize,
    /// Number of passages to show; [`WHOLE`] for all of them.
    pub passages: usize,
}

/// Size of a part that is shown whole.
pub const WHOLE: usize = usize::MAX;

/// The parts around the hits to show, and the facts that the answer states about its own shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagePlan {
    /// Shows the rate-limit state.
    pub access: bool,
    /// Shows how the hits were ranked.
    pub ranking: bool,
    /// Shows the counts of the workspace. No hit has been left out while this is true.
    pub integration_results: bool,
    /// Levels that removed something, in order; empty if the answer is complete.
    pub shed: Vec<ShedLevel>,
    /// The budget is smaller than the smallest answer: one hit with rank, document id, URL and title. The plan is that
    /// answer.
    pub unsatisfiable: bool,
}

impl Plan {
    /// Plans `hits` hits with everything that `verbosity` shows.
    pub fn complete(verbosity: Verbosity, hits: usize) -> Self {
        let hit = HitPlan { fields: verbosity.fields(), snippet: WHOLE, passages: WHOLE };
        let access = verbosity != Verbosity::IdsOnly;
        let page =
            PagePlan { access, ranking: true, integration_results: true, shed: Vec::new(), unsatisfiable: false };
        Self { hits: vec![hit; hits], page }
    }

    /// Plans as much of what `verbosity` shows as fits into `max_chars` characters.
    ///
    /// Parts are removed from the last hit upwards, in the order of [`ShedLevel`]. A level begins only when the level
    /// before has nothing left to remove. The plan is the first in this order that fits, so nothing is removed if the
    /// complete answer fits, and a larger budget never shows less. An answer that exceeds the budget is
    /// [`PagePlan::unsatisfiable`].
    ///
    /// A title is never removed, and the beginning of a snippet only from the last remaining hit: a few hits that say
    /// something are worth more than many links.
    ///
    /// A removed part costs a subtraction. `measure` is asked for the page about ten times, whatever the number of
    /// hits, and for the tail of each snippet.
    pub fn within(max_chars: u64, verbosity: Verbosity, hits: &[HitLengths<'_>], measure: &dyn Measure) -> Self {
        Self::complete(verbosity, hits.len()).fit(max_chars, hits, measure)
    }

    /// Leaves out as much of this plan as [`within`](Self::within) does of a complete one. Only fields may have been left out of
    /// it.
    pub fn fit(self, max_chars: u64, hits: &[HitLengths<'_>], measure: &dyn Measure) -> Self {
        shed::shed(self, hits, max_chars, measure)
    }
}

#[cfg(test)]
mod tests;
