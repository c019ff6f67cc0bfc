//! A page of the input before extraction.

use app::web::WebPage;
use extract::ExtractRequest;
use extract_worker::{Compartment, Extractor, Input, Lane, Turn};
use file_types::FileKind;
use model::{IndexName, OrganizationId, Timestamp};
use uuid::Uuid;

/// A page as the input contains it.
pub struct RawPage {
    /// Fields given by the input.
    pub page: WebPage,
    /// Document to extract the text from; `None` if the input contains the text.
    pub document: Option<Document>,
}

/// Returns true for the kinds of files that can be pages.
pub fn is_page(kind: &FileKind) -> bool {
    matches!(kind, FileKind::Html | FileKind::Txt | FileKind::Md | FileKind::Pdf)
}

pub struct Document {
    pub kind: FileKind,
    pub bytes: Vec<u8>,
    /// Charset named by the server.
    pub charset: Option<String>,
}

impl RawPage {
    /// Returns the approximate memory size in bytes.
    pub fn size(&self) -> usize {
        let WebPage { url, title, markdown, description, language, country, labels, mime, .. } = &self.page;
        let charset = self.document.as_ref().and_then(|document| document.charset.as_ref());
        let texts = [title.as_ref(), description.as_ref(), language.as_ref(), country.as_ref(), mime.as_ref(), charset];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        // Millions of empty labels fit into a line.
        let labels: usize = labels.iter().map(|label| size_of::<String>() + label.len()).sum();
        let document = self.document.as_ref().map_or(0, |document| document.bytes.len());
        url.len() + markdown.len() + texts + labels + document
    }

    /// Extracts the text. Fields of the input take precedence over those of the document.
    pub async fn extract(self, extractor: &dyn Extractor) -> Result<WebPage, String> {
        let Self { mut page, document } = self;
        let Some(Document { kind, bytes, charset }) = document else { return Ok(page) };
        let request = ExtractRequest {
            base_url: Some(page.url.clone()),
            charset,
            ..ExtractRequest::new(kind, page.url.as_str())
        };
        // Imported pages belong to no organization.
        let turn = Turn {
            organization_id: OrganizationId(Uuid::nil()),
            lane: Lane::Runs,
            compartment: Compartment::new(IndexName::Web.as_str()),
            time_limit: None,
        };
        let extracted = extractor.extract_to_the_end(&turn, request, Input::Bytes(bytes.into())).await;
        let extracted = extracted.map_err(|error| error.to_string())?;
        // It would replace a page with text.
        if extracted.markdown.trim().is_empty() {
            return Err("the page has no text".to_owned());
        }
        page.markdown = extracted.markdown;
        page.page_starts = extracted.page_starts;
        page.title = page.title.or(extracted.title);
        page.description = page.description.or(extracted.description);
        page.language = page.language.or(extracted.language);
        page.published_at = page.published_at.or(extracted.published_at.map(Timestamp::from_millis));
        page.labels.extend(extracted.labels);
        page.mime = Some(kind.media_type().to_owned());
        Ok(page)
    }
}
