//! Whole documents through the public API.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod documents;
mod files;
mod hidden_text;
mod hostile;
mod literal_text;
mod office;
mod opendocument;
mod pages;
mod pdf_fields;
mod pdf_layout;
mod pdf_pages;
mod pdf_radicals;
mod pdf_right_to_left;
mod presentations;
mod word_documents;
mod workbooks;
