//! Long documents, page by page, all pages from one capture.

use api_types::{ContentRange, DocumentRequest, DocumentResponse, Section, Selection, WarningCode};

use crate::{Answer, Client, Error};

/// How often a whole document is begun again because it changed meanwhile.
const RESTARTS: usize = 2;
/// Far above what a server captures of one document; a server that never ends is stopped here.
const MAX_DOCUMENT: usize = 256 << 20;

/// The pages of one document, in order. Together their texts are the whole content, byte for byte.
#[derive(Debug)]
pub struct DocumentPages {
    client: Client,
    request: DocumentRequest,
    page_chars: i64,
    /// `None`: there is no further page.
    start: Option<i64>,
    capture_id: Option<String>,
}

/// A document that was read to its end.
#[derive(Clone, Debug)]
pub struct WholeDocument {
    /// The answer to the first page: metadata, passages, provenance, and the first part of the content.
    pub first: Answer<DocumentResponse>,
    /// The whole content; `None` when it could not be fetched (`first.warnings` says so).
    pub text: Option<String>,
}

impl Client {
    /// Pages of `page_chars` characters (at least 1) of the document that `request` names. Its selection and range are
    /// replaced.
    pub fn pages(&self, mut request: DocumentRequest, page_chars: i64) -> DocumentPages {
        request.content.selection = Selection::FullDocument;
        let page_chars = page_chars.max(1);
        DocumentPages { client: self.clone(), request, page_chars, start: Some(0), capture_id: None }
    }

    /// Reads a document to its end; begins again, twice at most, when it is captured anew meanwhile.
    ///
    /// # Errors
    /// [`Error::StaleCapture`] when it keeps changing, [`Error::TooLarge`] beyond 256 MB, and those of
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
    /// The next page; `None` after the last. After an error there is none either.
    ///
    /// # Errors
    /// [`Error::StaleCapture`] when the document was captured anew since the first page; begin again then.
    pub async fn next_page(&mut self) -> Result<Option<Answer<DocumentResponse>>, Error> {
        let Some(start_char) = self.start.take() else { return Ok(None) };
        let capture_id = self.capture_id.clone();
        self.request.content.range = Some(ContentRange { start_char, max_chars: Some(self.page_chars), capture_id });
        let answer = self.client.read_document(&self.request).await?;
        self.check(&answer)?;
        let Some(content) = &answer.content else { return Ok(Some(answer)) };
        if content.start_char != start_char || content.char_count < 0 {
            let reason = format!("asked for characters from {start_char}, got them from {}", content.start_char);
            return Err(Error::Malformed { status: 200, reason });
        }
        // A page without characters is past the end, whatever it says of itself.
        self.start = (content.truncated && content.char_count > 0).then(|| start_char + content.char_count);
        self.pin(&answer);
        Ok(Some(answer))
    }

    /// What follows comes from the same capture of the same document, and is nothing but content.
    fn pin(&mut self, first: &DocumentResponse) {
        if self.capture_id.is_some() {
            return;
        }
        self.capture_id = first.provenance.as_ref().map(|provenance| provenance.capture_id.to_string());
        self.request.doc_id = Some(first.doc.doc_id.to_string());
        self.request.canonical_url = None;
        self.request.include = Some(vec![Section::Content]);
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
                // Content that was there a page ago and can no longer be had.
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
    whole.ok_or_else(|| Error::Malformed { status: 200, reason: "there is no page".to_owned() })
}
