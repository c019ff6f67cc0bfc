//! Constants of the ranker.
//!
//! Customary values where they exist. The others were chosen where six collections (Cranfield: aerodynamics, MED: medicine,
//! CISI: library science, CACM: computing, NPL: electronics, SciFact: biomedicine), long documents made of theirs, and known-item
//! searches agree, each on a plateau: changing any of them by a third changes nDCG@10 by about 0.01.

/// Saturation of the frequency of a term, the sum of all fields.
pub(super) const K1: f64 = 1.5;
/// BM25 length normalization for bodies. Passages have the customary [`B`](crate::bm25::B).
pub(super) const B_BODY: f64 = 0.7;

/// BM25 length normalization for titles and headings: a long title is hardly less relevant to its words.
pub(super) const B_SHORT: f64 = 0.5;

/// Weight of an occurrence in the title relative to the body.
pub(super) const TITLE: f64 = 1.75;
/// Weight of an occurrence in headings or description relative to the body.
pub(super) const HEADINGS: f64 = 0.5;

/// Weights of adjacent query words that are adjacent in order, or near each other, in the text, relative to the two
/// words by themselves. About the weights of the sequential dependence model (Metzler and Croft, "A Markov Random Field
/// Model for Term Dependencies", SIGIR 2005: 0.85, 0.1, 0.05, windows of 8).
pub(super) const ORDERED: f64 = 0.1;
pub(super) const NEAR: f64 = 0.05;
pub(super) const NEAR_POSITIONS: u32 = 8;
/// Maximum distance of "adjacent" words. Allows one word in between, because stop words of the query are not matched.
pub(super) const ORDERED_POSITIONS: u32 = 2;

/// Fraction by which a document's score moves towards that of its best passage if that is higher. Typical of long
/// documents about many topics, not of abstracts.
pub(super) const BEST_PASSAGE: f64 = 0.7;

/// Terms of a long question. Beyond them, rare terms weigh more than in BM25, and expansion adds less: a long question has
/// more general terms, and says itself what expansion would guess.
pub(super) const LONG_QUESTION: usize = 20;
/// Growth of the power of the weights from a question of that length to an endless one.
pub(super) const SHARPNESS: f64 = 1.5;

/// Fraction of the score that comes from expansion terms (see `feedback`), for a question that is not long.
pub(super) const FEEDBACK: f64 = 0.4;
/// Maximum number of candidates that expansion terms are taken from, and of terms.
pub(super) const FEEDBACK_DOCUMENTS: usize = 20;
pub(super) const FEEDBACK_TERMS: usize = 30;
/// Decay of a candidate's influence with its score: by `e` per tenth of the best score. A query with one clear match is
/// expanded from that alone.
pub(super) const FEEDBACK_SHARPNESS: f64 = 10.0;

/// Maximum relative boost of a document published just now if the query asks for recent documents, and its half-life.
pub(super) const RECENCY: f64 = 0.2;
pub(super) const RECENCY_HALF_LIFE_DAYS: f64 = 60.0;
