#![allow(clippy::unwrap_used)]

mod document;
