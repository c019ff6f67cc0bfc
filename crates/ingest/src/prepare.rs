//! What was read of a document, made ready to be stored: digest, language, headings, passages.

use docstore::{Capture, Document, NewDocument, Passage, Strings, strip_nul};
use model::{CaptureFormat, CaptureId, Collection, Timestamp};
use retrieval_core::{analysis, outline, passages, url};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Where a document comes from.
#[derive(Clone, Debug)]
pub struct Source {
    pub collection: Collection,
    pub canonical_url: String,
    /// The address as it was given.
    pub source_url: String,
    /// The stored object, for files.
    pub source_uri: Option<String>,
    pub mime: Option<String>,
    /// Two letters, lowercase.
    pub country: Option<String>,
    /// Whether it belongs into its index: see [`Document::listed`].
    pub listed: bool,
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Content {
    pub markdown: String,
    pub title: Option<String>,
    pub description: Option<String>,
    /// Two letters, lowercase; detected from the text when it is not known.
    pub language: Option<String>,
    pub published_at: Option<Timestamp>,
    pub labels: Vec<String>,
    /// Where each page begins, as a byte of `markdown`; empty for documents without pages.
    pub page_starts: Vec<u32>,
    /// Whether this is all of the document, or what a search result showed of it.
    pub extent: Extent,
}

/// How much of a document was read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Extent {
    #[default]
    Whole,
    /// A plain text snippet.
    Snippet,
}

impl Extent {
    /// The format of captures of this extent.
    pub fn format(self) -> CaptureFormat {
        match self {
            Extent::Whole => CaptureFormat::Markdown,
            Extent::Snippet => CaptureFormat::Text,
        }
    }
}

/// A document with a full capture. `now` is the time before its reading began: a
/// document that was deleted later stays deleted.
pub fn document(source: Source, content: Content, now: Timestamp) -> NewDocument {
    let doc_id = url::document_id(&source.canonical_url);
    let markdown = strip_nul(content.markdown);
    let content_digest = digest(&markdown);
    let capture_id = CaptureId(Uuid::now_v7());
    let language = content.language.or_else(|| analysis::detect(&markdown).map(|language| language.code().to_owned()));
    let page_starts: Vec<usize> = content.page_starts.iter().map(|start| *start as usize).collect();
    let passages = passages::split_pages(&markdown, &page_starts)
        .into_iter()
        .map(|span| Passage {
            passage_id: passages::passage_id(doc_id, &content_digest, span.ordinal),
            doc_id,
            capture_id,
            ordinal: column(span.ordinal as usize),
            byte_start: column(span.bytes.start),
            byte_end: column(span.bytes.end),
            char_start: column(span.chars.start),
            char_end: column(span.chars.end),
            section_path: Strings(with_pages(
                span.section_path.clone(),
                span.text(&markdown),
                span.bytes.start,
                &page_starts,
            )),
        })
        .collect();
    let headings = outline::headings(&markdown).into_iter().map(|heading| heading.text).collect();
    NewDocument {
        document: Document {
            doc_id,
            collection: source.collection,
            canonical_url: source.canonical_url,
            source_url: strip_nul(source.source_url),
            source_uri: source.source_uri,
            title: content.title.map(strip_nul),
            description: content.description.map(strip_nul),
            mime: source.mime,
            language,
            country: source.country,
            labels: Strings(content.labels.into_iter().map(strip_nul).collect()),
            published_at: content.published_at,
            first_seen_at: now,
            last_seen_at: now,
            last_crawled_at: Some(now),
            latest_capture_id: None,
            removed_at: None,
            listed: source.listed,
            stale_at: None,
        },
        capture: Capture {
            capture_id,
            doc_id,
            captured_at: now,
            format: content.extent.format(),
            content_digest,
            content: markdown,
            headings: Strings(headings),
            fetched_from: None,
            etag: None,
            last_modified: None,
        },
        passages,
    }
}

/// The pages that a passage is on are the outermost part of its section path.
fn with_pages(section_path: Vec<String>, text: &str, start: usize, page_starts: &[usize]) -> Vec<String> {
    let label = match passages::pages_of(text, start, page_starts) {
        None => return section_path,
        Some((first, last)) if first == last => format!("Page {first}"),
        Some((first, last)) => format!("Pages {first}-{last}"),
    };
    std::iter::once(label).chain(section_path).collect()
}

/// `sha256:` and the hex digest of the text.
pub fn digest(text: &str) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(text.as_bytes())))
}

/// Offsets fit: content is bounded far below 2 GiB where it is read.
fn column(offset: usize) -> i32 {
    i32::try_from(offset).unwrap_or(i32::MAX)
}
