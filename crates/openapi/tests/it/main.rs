#![allow(clippy::unwrap_used)]

mod document;
mod reference;
