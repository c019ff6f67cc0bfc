//! Reading of passages: words, near-duplicates, identifiers, numbers, dates, times, citation marks, and their harmless
//! display.

pub(super) mod dates;
pub(super) mod display;
pub(super) mod figures;
pub(super) mod identifiers;
pub(super) mod marks;
mod number_words;
pub(super) mod numbers;
pub(super) mod similar;
pub(super) mod times;
pub(super) mod words;
