//! Whole documents through the public API.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod documents;
mod files;
mod hostile;
mod office;
mod pages;
mod pdf_pages;
