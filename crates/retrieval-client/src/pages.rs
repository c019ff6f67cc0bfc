//! Long documents in pages, all from one capture.

use api_types::{ContentRange, DocumentRequest, DocumentResponse, Section, Selection, WarningCode};

use crate::{Answer, Client, Error};

/// Maximum number of restarts after the document changed.
const RESTARTS: usize = 2;
/// Far above the size of any capture; stops a server that never ends.
const MAX_DOCUMENT: usize = 256 << 20;

/// The pages of one document, in order. Together their texts are the whole content, byte for byte.
#[derive(Debug)]
pub struct DocumentPages {
    client: Client,
    request: DocumentRequest,
    page_chars: i64,
    /// `None` after the last page.
    start: Option<i64>,
    capture_id: Option<String>,
}

/// A document read to its end.
#[derive(Clone, Debug)]
pub struct WholeDocument {
    /// The response to the first page: metadata, passages, provenance, and the first part of the content.
    pub first: Answer<DocumentResponse>,
    /// The whole content; `None` if it could not be fetched (see `first.warnings`).
    pub text: Option<String>,
}

impl Client {
    /// Returns the pages of a document, each of `page_chars` characters (at least 1). Replaces selection and range of the
    /// request.
    pub fn pages(&self, mut request: DocumentRequest, page_chars: i64) -> DocumentPages {
        request.content.selection = Selection::FullDocument;
        let page_chars = page_chars.max(1);
        DocumentPages { client: self.clone(), request, page_chars, start: Some(0), capture_id: None }
    }

    /// Reads a document to its end. Restarts at most twice if the document is captured again meanwhile.
    ///
    /// # Errors
    /// [`Error::StaleCapture`] if it keeps changing, [`Error::TooLarge`] beyond 256 MB, and the errors of
    /// [`Client::read_document`].
    pub async fn read_whole(&self, request: &DocumentRequest, page_chars: i64) -> Result<WholeDocument, Error> {
        let mut restarts = 0;
        loop {
            match collect(self.pages(request.clone(), page_chars)).await {
                Err(Error::StaleCapture { .. }) if restarts < RESTARTS => restarts += 1,
                done => return done,
            }
        }
    }
}

impl DocumentPages {
    /// Reads the next page. Returns `None` after the last page and after an error.
    ///
    /// # Errors
    /// [`Error::StaleCapture`] if the document was captured again since the first page: start over.
    pub async fn next_page(&mut self) -> Result<Option<Answer<DocumentResponse>>, Error> {
        let Some(start_char) = self.start.take() else { return Ok(None) };
        let capture_id = self.capture_id.clone();
        self.request.content.range = Some(ContentRange { start_char, max_chars: Some(self.page_chars), capture_id });
        let answer = self.client.read_document(&self.request).await?;
        self.check(&answer)?;
        let Some(content) = &answer.content else { return Ok(Some(answer)) };
        if content.start_char != start_char || content.char_count < 0 {
            let reason = format!("requested characters from {start_char}, received them from {}", content.start_char);
            return Err(Error::Malformed { status: 200, reason });
        }
        // An empty page is past the end, even if marked as truncated.
        self.start = (content.truncated && content.char_count > 0).then(|| start_char + content.char_count);
        self.pin(&answer);
        Ok(Some(answer))
    }

    /// Restricts further pages to the content of the same capture.
    fn pin(&mut self, first: &DocumentResponse) {
        if self.capture_id.is_some() {
            return;
        }
        self.capture_id = first.provenance.as_ref().map(|provenance| provenance.capture_id.to_string());
        self.request.doc_id = Some(first.doc.doc_id.to_string());
        self.request.canonical_url = None;
        self.request.include = Some(vec![Section::Content]);
        // The first page decided how fresh the content is. Fetching it again could only replace the capture.
        self.request.max_age_seconds = None;
        self.request.cache_only = true;
    }

    fn check(&self, answer: &DocumentResponse) -> Result<(), Error> {
        let Some(pinned) = &self.capture_id else { return Ok(()) };
        let warned = answer.warnings.iter().any(|warning| warning.code == WarningCode::StaleRange);
        let other = answer.provenance.as_ref().is_some_and(|found| found.capture_id.to_string() != *pinned);
        if warned || other {
            return Err(Error::StaleCapture { requested: pinned.clone() });
        }
        Ok(())
    }
}

async fn collect(mut pages: DocumentPages) -> Result<WholeDocument, Error> {
    let mut whole: Option<WholeDocument> = None;
    while let Some(page) = pages.next_page().await? {
        match &mut whole {
            None => {
                let text = page.content.as_ref().map(|content| content.text.clone());
                whole = Some(WholeDocument { first: page, text });
            }
            Some(whole) => {
                // The first page had content, so this one must.
                let Some(content) = &page.content else {
                    return Err(Error::Malformed { status: 200, reason: "a page has no content".to_owned() });
                };
                whole.text.get_or_insert_default().push_str(&content.text);
            }
        }
        if whole.as_ref().and_then(|whole| whole.text.as_ref()).is_some_and(|text| text.len() > MAX_DOCUMENT) {
            return Err(Error::TooLarge { limit: MAX_DOCUMENT });
        }
    }
    whole.ok_or_else(|| Error::Malformed { status: 200, reason: "no page".to_owned() })
}
