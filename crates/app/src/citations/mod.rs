//! Verification of citations: comparison of their quotes with the captures that they name, and with the latest ones.

mod compare;
mod parts;

use std::collections::HashMap;

use docstore::StoredCapture;
use model::{CaptureId, DocId, Timestamp};
pub use retrieval_core::quotes::{Comparison, Nearest, Replacement};

use crate::documents::Target;
use crate::error::Result;
use crate::{App, Error, UseCase, Viewer};

/// A quote and its source.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Citation {
    pub doc_id: DocId,
    /// Capture that was cited; `None`: the latest one.
    pub capture_id: Option<CaptureId>,
    pub quote: String,
    /// Presumed place in characters of the capture's content.
    pub char_start: Option<usize>,
    pub char_end: Option<usize>,
}

/// Outcome of one citation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Verification {
    pub cited: Finding,
    pub latest: Finding,
}

/// Comparison of a quote with one capture.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The capture that was compared; `None` if it is gone, or the document unknown.
    pub capture: Option<Compared>,
    /// [`Comparison::Missing`] without a capture.
    pub comparison: Comparison,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Compared {
    pub capture_id: CaptureId,
    pub captured_at: Timestamp,
}

impl Finding {
    const GONE: Finding = Finding { capture: None, comparison: Comparison::Missing };
}

/// Capture to compare with, and the language of its document.
struct Source {
    stored: StoredCapture,
    language: Option<String>,
}

impl App {
    /// Compares quotes with stored content. Nothing is fetched. The results are in the order of the citations.
    pub fn verify_citations<'a>(
        &'a self,
        viewer: &'a Viewer,
        citations: Vec<Citation>,
    ) -> UseCase<'a, Vec<Verification>> {
        Box::pin(self.verify_all(viewer, citations))
    }

    async fn verify_all(&self, viewer: &Viewer, citations: Vec<Citation>) -> Result<Vec<Verification>> {
        let mut of_documents: HashMap<DocId, Vec<usize>> = HashMap::new();
        for (index, citation) in citations.iter().enumerate() {
            of_documents.entry(citation.doc_id).or_default().push(index);
        }
        let mut verified = vec![Verification { cited: Finding::GONE, latest: Finding::GONE }; citations.len()];
        // One after another, since each may need much memory.
        for (doc_id, indexes) in of_documents {
            self.verify_document(viewer, doc_id, &citations, &indexes, &mut verified).await?;
        }
        Ok(verified)
    }

    /// Compares the citations with these indexes, which are of one document.
    async fn verify_document(
        &self,
        viewer: &Viewer,
        doc_id: DocId,
        citations: &[Citation],
        indexes: &[usize],
        verified: &mut [Verification],
    ) -> Result<()> {
        let (visible, latest) = match self.load_document(viewer, &Target::DocId(doc_id)).await {
            Ok(found) => found,
            Err(Error::DocumentNotFound) => return Ok(()),
            Err(error) => return Err(error),
        };
        let language = visible.document.language;
        let latest_id = latest.as_ref().map(|stored| stored.capture.capture_id);
        if let Some(stored) = latest {
            let source = Source { stored, language: language.clone() };
            for (index, finding) in self.compare_all(viewer, source, citations, indexes).await? {
                if citations[index].capture_id.is_none_or(|cited| Some(cited) == latest_id) {
                    verified[index].cited = finding.clone();
                }
                verified[index].latest = finding;
            }
        }
        let mut of_captures: HashMap<CaptureId, Vec<usize>> = HashMap::new();
        for index in indexes {
            if let Some(cited) = citations[*index].capture_id.filter(|cited| Some(*cited) != latest_id) {
                of_captures.entry(cited).or_default().push(*index);
            }
        }
        for (capture_id, indexes) in of_captures {
            let Some(found) = self.find_capture(viewer, doc_id, capture_id).await? else { continue };
            let source = Source { stored: found.stored, language: language.clone() };
            for (index, finding) in self.compare_all(viewer, source, citations, &indexes).await? {
                verified[index].cited = finding;
            }
        }
        Ok(())
    }

    /// Compares the citations with these indexes with one capture.
    async fn compare_all(
        &self,
        viewer: &Viewer,
        source: Source,
        citations: &[Citation],
        indexes: &[usize],
    ) -> Result<Vec<(usize, Finding)>> {
        let capture = &source.stored.capture;
        let compared = Compared { capture_id: capture.capture_id, captured_at: capture.captured_at };
        let quotes = indexes.iter().map(|index| citations[*index].clone()).collect();
        let comparisons = self.compare(viewer.organization_id, source, quotes).await?;
        let finding = |comparison| Finding { capture: Some(compared), comparison };
        Ok(indexes.iter().copied().zip(comparisons.into_iter().map(finding)).collect())
    }
}
