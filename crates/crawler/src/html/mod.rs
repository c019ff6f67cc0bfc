//! Links and directives of HTML pages, by a linear scan: a page is never parsed into a tree here.

mod signals;
mod tags;

pub use signals::{PageSignals, read};
