//! Preparation of content for storage: digest, language, headings, passages.

use std::sync::Arc;

use docstore::{Capture, Document, NewDocument, NewParts, PartMap, Passage, Strings, strip_nul};
use extract::Extracted;
use model::{CaptureFormat, CaptureId, Collection, Timestamp};
use retrieval_core::passages::PassageSpan;
use retrieval_core::{analysis, outline, passages, sections, url};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Origin of a document.
#[derive(Clone, Debug)]
pub struct Source {
    pub collection: Collection,
    pub canonical_url: String,
    /// URL before canonicalization.
    pub source_url: String,
    /// Stored object of a file.
    pub source_uri: Option<String>,
    pub mime: Option<String>,
    /// Two letters, lowercase.
    pub country: Option<String>,
    /// True if the document belongs in its index; see [`Document::listed`].
    pub listed: bool,
}

/// Extracted content.
#[derive(Clone, Debug, Default)]
pub struct Content {
    pub markdown: String,
    pub title: Option<String>,
    pub description: Option<String>,
    /// Two letters, lowercase; detected from the text if `None`.
    pub language: Option<String>,
    pub published_at: Option<Timestamp>,
    pub labels: Vec<String>,
    /// Byte offsets in `markdown` where pages start; empty for documents without pages.
    pub page_starts: Vec<u32>,
    /// Share of the document that `markdown` holds.
    pub extent: Extent,
}

impl From<Extracted> for Content {
    fn from(extracted: Extracted) -> Self {
        Self {
            markdown: extracted.markdown,
            title: extracted.title,
            description: extracted.description,
            language: extracted.language,
            published_at: extracted.published_at.map(Timestamp::from_millis),
            labels: extracted.labels,
            page_starts: extracted.page_starts,
            extent: Extent::Whole,
        }
    }
}

/// Share of a document that was read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Extent {
    #[default]
    Whole,
    /// A plain text snippet, as shown in a search result.
    Snippet,
}

impl Extent {
    /// Returns the format of captures with this extent.
    pub fn format(self) -> CaptureFormat {
        match self {
            Extent::Whole => CaptureFormat::Markdown,
            Extent::Snippet => CaptureFormat::Text,
        }
    }
}

/// Builds the document, its capture and its passages. `now` must be taken before reading starts, so that a document deleted
/// since then stays deleted.
pub fn document(source: Source, content: Content, now: Timestamp) -> NewDocument {
    let doc_id = url::document_id(&source.canonical_url);
    let markdown = strip_nul(content.markdown);
    let content_digest = digest(&markdown);
    let capture_id = CaptureId(Uuid::now_v7());
    let language = content.language.map(|code| analysis::canonical_code(&code));
    let language = language.or_else(|| analysis::detect(&markdown).map(|language| language.code().to_owned()));
    let page_starts: Vec<usize> = content.page_starts.iter().map(|start| *start as usize).collect();
    let passages: Vec<Passage> = passages::split_pages(&markdown, &page_starts)
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
            section_path: {
                let pages = page_label(span.text(&markdown), span.bytes.start, &page_starts);
                Strings(pages.into_iter().chain(span.section_path).collect())
            },
        })
        .collect();
    let headings = outline::outline(outline::headings(&markdown));
    let Divided { first, map, parts } = divide(markdown, &passages, language.as_deref());
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
        },
        capture: Capture {
            capture_id,
            doc_id,
            captured_at: now,
            format: content.extent.format(),
            content_digest,
            content: first,
            headings: Strings(headings),
            fetched_from: None,
            etag: None,
            last_modified: None,
            organization_id: source.collection.owner(),
            parts: map,
        },
        passages,
        parts,
    }
}

/// Converts a stored passage to the span that it is ranked by: the label of its pages is no heading of the document.
pub fn ranked_span(passage: &Passage) -> PassageSpan {
    let mut span = span(passage);
    if span.section_path.first().is_some_and(|heading| is_page_label(heading)) {
        span.section_path.remove(0);
        span.section_heading = span.section_path.last().cloned();
    }
    span
}

/// Returns the name of a file without its extension.
pub fn stem(name: &str) -> &str {
    match name.rfind('.') {
        Some(0) | None => name,
        Some(dot) => &name[..dot],
    }
}

/// Returns the name of a file whose title is another; `None` for a page.
pub fn name_beside_title(canonical_url: &str, title: Option<&str>) -> Option<String> {
    let (_, name) = url::parse_workspace_url(canonical_url)?;
    (title != Some(stem(&name))).then_some(name)
}

/// Converts a stored passage to the span that it was made from.
pub fn span(passage: &Passage) -> PassageSpan {
    PassageSpan {
        ordinal: u32::try_from(passage.ordinal).unwrap_or(0),
        bytes: offset(passage.byte_start)..offset(passage.byte_end),
        chars: offset(passage.char_start)..offset(passage.char_end),
        section_heading: passage.section_path.0.last().cloned(),
        section_path: passage.section_path.0.clone(),
    }
}

/// Content as it is stored.
pub struct Divided {
    /// The whole content, or its first part.
    pub first: String,
    pub map: Option<PartMap>,
    pub parts: Option<NewParts>,
}

/// Divides a content if it is long, and indexes the words of its parts.
pub fn divide(content: String, passages: &[Passage], language: Option<&str>) -> Divided {
    let Some(map) = docstore::divide(&content, passages, analysis::ANALYSIS_VERSION) else {
        return Divided { first: content, map: None, parts: None };
    };
    let terms = Arc::new(sections::index(&content, &map.start_bytes(), language));
    let first = content[..map.start(1).byte].to_owned();
    Divided { first, map: Some(map), parts: Some(NewParts { content: Arc::new(content), terms }) }
}

/// Returns the pages that a passage is on: the outermost part of its section path.
fn page_label(text: &str, start: usize, page_starts: &[usize]) -> Option<String> {
    let (first, last) = passages::pages_of(text, start, page_starts)?;
    Some(if first == last { format!("Page {first}") } else { format!("Pages {first}-{last}") })
}

fn is_page_label(heading: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let pages = heading.strip_prefix("Pages ").and_then(|pages| pages.split_once('-'));
    pages.is_some_and(|(first, last)| is_number(first) && is_number(last))
        || heading.strip_prefix("Page ").is_some_and(is_number)
}

/// Returns `sha256:` and the hexadecimal digest of the text.
pub fn digest(text: &str) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(text.as_bytes())))
}

/// Converts an offset to its column type. It fits, since extraction limits content to far below 2 GiB.
fn column(offset: usize) -> i32 {
    i32::try_from(offset).unwrap_or(i32::MAX)
}

/// Converts a column to the offset in it.
pub fn offset(column: i32) -> usize {
    usize::try_from(column).unwrap_or(0)
}
