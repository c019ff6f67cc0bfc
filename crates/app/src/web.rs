//! Import of pages into the shared web index.

use docstore::{Docstore, NewDocument, SaveOutcome};
use ingest::prepare::{self, Content, Extent, Source};
use model::{Collection, Timestamp};
use retrieval_core::analysis::Language;
use retrieval_core::url::CanonicalUrl;

use crate::Error;
use crate::error::Result;

/// A page to import.
#[derive(Clone, Debug, Default)]
pub struct WebPage {
    pub url: String,
    pub title: Option<String>,
    pub markdown: String,
    pub description: Option<String>,
    pub published_at: Option<Timestamp>,
    pub language: Option<String>,
    pub country: Option<String>,
    pub labels: Vec<String>,
    pub mime: Option<String>,
    /// Time of the fetch; `None` if the input does not say it.
    pub crawled_at: Option<Timestamp>,
    /// Byte offsets in `markdown` where the pages of a paginated document start.
    pub page_starts: Vec<u32>,
    /// Share of the page that `markdown` holds: all of it, or a plain text snippet.
    pub extent: Extent,
}

/// Validates a page and prepares it for storage. Pure, so that pages can be prepared on several threads.
///
/// # Errors
/// `Invalid` for a malformed URL, language or country.
pub fn prepare_page(page: WebPage, now: Timestamp) -> Result<NewDocument> {
    let url = CanonicalUrl::parse(&page.url).map_err(|error| Error::invalid("url", error.to_string()))?;
    let language = match page.language {
        // Region subtags are dropped: `en-US` is `en`.
        Some(code) => {
            let known = Language::from_code(&code).map(|language| language.code().to_owned());
            Some(known.map_or_else(|| two_letters("language", &code), Ok)?)
        }
        None => None,
    };
    let country = page.country.map(|code| two_letters("country", &code)).transpose()?;
    let source = Source {
        collection: Collection::Web,
        canonical_url: url.as_str().to_owned(),
        source_url: page.url,
        source_uri: None,
        mime: page.mime,
        country,
        listed: true,
    };
    let content = Content {
        title: page.title.or_else(|| retrieval_core::outline::title(&page.markdown)),
        markdown: page.markdown,
        description: page.description,
        language,
        published_at: page.published_at,
        labels: page.labels,
        page_starts: page.page_starts,
        extent: page.extent,
    };
    let mut prepared = prepare::document(source, content, now);
    prepared.document.last_crawled_at = page.crawled_at;
    Ok(prepared)
}

/// Stores prepared pages in one transaction.
pub async fn save_pages(store: &Docstore, pages: Vec<NewDocument>, now: Timestamp) -> Result<Vec<SaveOutcome>> {
    Ok(store.save_documents(pages, now).await?)
}

fn two_letters(field: &str, code: &str) -> Result<String> {
    if code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Ok(code.to_ascii_lowercase());
    }
    Err(Error::invalid(field, format!("`{code}` is not a two-letter code")))
}
