use serde::{Deserialize, Serialize};

use crate::FileKind;

/// Input description of an extraction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExtractRequest {
    pub kind: FileKind,
    /// File name. Its stem is the title of a document without one.
    pub name: String,
    /// HTML only: URL of the page, used to make its links absolute.
    pub base_url: Option<String>,
    /// HTML and text only: charset label of the `Content-Type` header. Unknown labels, and labels that contradict the
    /// bytes, are ignored.
    #[serde(default)]
    pub charset: Option<String>,
}

impl ExtractRequest {
    /// Creates a request from the kind and the name alone.
    pub fn new(kind: FileKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into(), base_url: None, charset: None }
    }
}

/// Source of a page's publication date, from the most to the least reliable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateSource {
    /// `meta` element or item property.
    Meta,
    /// JSON-LD.
    LinkedData,
    /// `time` element or hAtom date.
    Time,
    /// URL of the page.
    Url,
}

/// Extracted text as markdown, with the metadata of the document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extracted {
    /// CommonMark with GitHub tables and `\n` line ends. Empty only for `txt`, `md`, `csv`, `tsv`, `html` and office
    /// files without text.
    pub markdown: String,
    pub title: Option<String>,
    pub author: Option<String>,
    pub description: Option<String>,
    /// ISO 639-1 code in lowercase: declared by the document, otherwise detected if the detection is reliable.
    pub language: Option<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub published_at: Option<i64>,
    /// HTML only: source of `published_at`.
    #[serde(default)]
    pub published_from: Option<DateSource>,
    /// HTML only: absolute URL of `rel=canonical`.
    pub canonical_link: Option<String>,
    /// PDF only: byte offset in `markdown` at which each page starts, ascending. A paragraph that continues on the
    /// next page belongs to the page where it starts.
    #[serde(default)]
    pub page_starts: Vec<u32>,
    /// Warnings about the content: `hidden_text` for HTML with text that visitors cannot see.
    pub labels: Vec<String>,
}
