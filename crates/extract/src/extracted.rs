use serde::{Deserialize, Serialize};

use crate::FileKind;

/// What is to be read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExtractRequest {
    pub kind: FileKind,
    /// The file's name; its stem is the title of a document that has no other.
    pub name: String,
    /// HTML only: where the page came from, so that its links can be made absolute.
    pub base_url: Option<String>,
    /// The charset that came with the bytes, as the `Content-Type` header names it: for HTML and text kinds. A label
    /// that is unknown, or that the bytes refute, counts for nothing.
    #[serde(default)]
    pub charset: Option<String>,
}

impl ExtractRequest {
    /// A document of which only name and kind are known.
    pub fn new(kind: FileKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into(), base_url: None, charset: None }
    }
}

/// Where a page has its date of publication, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateSource {
    /// A `meta` element, or an item property.
    Meta,
    /// JSON-LD.
    LinkedData,
    /// A `time` element, or an hAtom date.
    Time,
    /// The page's address.
    Url,
}

/// What a document says, as markdown, and what it says about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extracted {
    /// CommonMark with GitHub tables, `\n` line ends. Empty only for `txt`, `md`, `csv`, `tsv`, `html` and office
    /// files that hold no text.
    pub markdown: String,
    pub title: Option<String>,
    pub author: Option<String>,
    pub description: Option<String>,
    /// ISO 639-1, lowercase: declared by the document, else detected where detection is certain.
    pub language: Option<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub published_at: Option<i64>,
    /// HTML only: what `published_at` was taken from.
    #[serde(default)]
    pub published_from: Option<DateSource>,
    /// HTML only: the page's own `rel=canonical`, absolute.
    pub canonical_link: Option<String>,
    /// PDF only: where each page begins, as a byte of `markdown`; ascending. A paragraph that goes on from one page to
    /// the next belongs to the page that it begins on.
    #[serde(default)]
    pub page_starts: Vec<u32>,
    /// What a reader should know of the content: `hidden_text` for HTML with text that no visitor sees.
    pub labels: Vec<String>,
}
