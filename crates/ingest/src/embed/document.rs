//! Documents to embed: their texts, and vectors that are known already.

use std::collections::HashMap;

use docstore::{Capture, Docstore, Document, PassageVector, StoreError};
use model::{CaptureId, DocId, OrganizationId};

use super::text::{MAX_PASSAGES, PassageText, TextDigest, passage_texts};

/// Document whose latest capture is embedded.
pub struct ToEmbed {
    pub doc_id: DocId,
    /// Embedded with each text.
    pub title: Option<String>,
    pub capture_id: CaptureId,
    pub owner: Option<OrganizationId>,
    pub content_digest: String,
    pub texts: Vec<PassageText>,
    /// Vectors of these texts that are stored.
    pub known: HashMap<TextDigest, Box<[i8]>>,
    /// True if the vectors of the capture are stored and need no change.
    pub is_embedded: bool,
}

/// Loads the texts of a document. Known vectors with other than this number of components are ignored; if it is not known, those of
/// another length than the first one.
pub async fn load(
    store: &Docstore,
    model: &str,
    dimensions: Option<usize>,
    document: Document,
    capture: Capture,
) -> Result<ToEmbed, StoreError> {
    let Capture { capture_id, format, content_digest, mut content, parts, organization_id: owner, .. } = capture;
    let passages = store.list_first_passages(capture_id, MAX_PASSAGES as i64).await?;
    if let Some(map) = &parts {
        let last = map.part_of_passage(passages.len().saturating_sub(1));
        content.push_str(&store.load_rest_to(capture_id, last).await?);
    }
    let title = document.title.clone();
    let cutting = tokio::task::spawn_blocking(move || passage_texts(title.as_deref(), format, &content, &passages));
    let texts = cutting.await.map_err(|error| StoreError::Interrupted(Box::new(error)))?;
    let stored = store.find_reusable_vectors(capture_id, model.to_owned()).await?;
    let is_embedded = stored.iter().any(|vectors| vectors.capture_id == capture_id && vectors.complete);
    let stored: Vec<PassageVector> = stored.into_iter().flat_map(|vectors| vectors.passages).collect();
    let dimensions = dimensions.or(stored.first().map(|passage| passage.codes.len()));
    let stored = stored.into_iter().filter(|passage| Some(passage.codes.len()) == dimensions);
    let mut stored: HashMap<TextDigest, Box<[i8]>> = stored.map(|passage| (passage.digest, passage.codes)).collect();
    let known = texts.iter().filter_map(|text| stored.remove_entry(&text.digest)).collect();
    let Document { doc_id, title, .. } = document;
    Ok(ToEmbed { doc_id, title, capture_id, owner, content_digest, texts, known, is_embedded })
}
