//! The ranker's numbers.
//!
//! Customary values where there are such; the others were chosen where three collections (Cranfield: aerodynamics, MED:
//! medicine, CISI: library science) and searches for one known document agree, each on a plateau: a third more or less
//! of any of them changes nDCG@10 by 0.01 or so.

/// BM25's normalization of length (`bm25::B`) for titles and headings: a long title is not much less about its words.
pub(super) const B_SHORT: f64 = 0.5;

/// What an occurrence in the title counts beside one in the body.
pub(super) const TITLE: f64 = 1.5;
/// The same for headings and description.
pub(super) const HEADINGS: f64 = 0.5;

/// What two neighbouring words of the query count when they are next to one another and in order, and when they are
/// near one another, beside the two words by themselves: about the weights of the sequential dependence model (Metzler
/// and Croft, "A Markov Random Field Model for Term Dependencies", SIGIR 2005: 0.85, 0.1, 0.05, windows of 8).
pub(super) const ORDERED: f64 = 0.1;
pub(super) const NEAR: f64 = 0.05;
pub(super) const NEAR_POSITIONS: u32 = 8;
/// "Next to one another" lets one word stand between: stop words of the query are not looked for.
pub(super) const ORDERED_POSITIONS: u32 = 2;

/// How far the score of a document whose best passage says more than the whole moves towards that passage's score. A
/// long document about many things has such a passage; an abstract has not.
pub(super) const BEST_PASSAGE: f64 = 0.7;

/// Part of the score that comes from terms of the best candidates (see `feedback`).
pub(super) const FEEDBACK: f64 = 0.3;
/// Candidates that those terms are taken from, at most, and how many terms.
pub(super) const FEEDBACK_DOCUMENTS: usize = 30;
pub(super) const FEEDBACK_TERMS: usize = 30;
/// How sharply a candidate's say falls with its score: by `e` for each tenth of the best score below it. A query with
/// one clear answer is expanded from that alone.
pub(super) const FEEDBACK_SHARPNESS: f64 = 10.0;

/// Part that a document published just now gains where the query asks for what is new, and the days in which that
/// halves.
pub(super) const RECENCY: f64 = 0.2;
pub(super) const RECENCY_HALF_LIFE_DAYS: f64 = 60.0;
