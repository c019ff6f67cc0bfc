//! Long contents: read whole for the index, and divided where an earlier version stored them whole.

use std::sync::Arc;

use docstore::{Capture, Docstore, Document, StoreError};
use retrieval_core::analysis::ANALYSIS_VERSION;

use crate::prepare::{self, Divided};

/// Length in bytes up to which no content is divided; see [`docstore::divide`].
const SHORT_BYTES: usize = 65_536;

/// Returns the capture with its whole content, and with the directory that is stored. A content whose parts are missing, or come
/// from an earlier analysis, is divided again.
pub async fn whole(store: &Docstore, document: &Document, mut capture: Capture) -> Result<Capture, StoreError> {
    if let Some(map) = &capture.parts {
        capture.content.reserve_exact(map.end().byte.saturating_sub(capture.content.len()));
        capture.content.push_str(&store.load_rest(capture.capture_id).await?);
        if map.analysis == ANALYSIS_VERSION {
            return Ok(capture);
        }
    } else if capture.content.len() <= SHORT_BYTES {
        return Ok(capture);
    }
    let passages = store.list_passages(capture.capture_id).await?;
    let (content, language) = (std::mem::take(&mut capture.content), document.language.clone());
    let dividing = tokio::task::spawn_blocking(move || prepare::divide(content, &passages, language.as_deref()));
    let Divided { first, map, parts } = dividing.await.map_err(|error| StoreError::Interrupted(Box::new(error)))?;
    let (Some(map), Some(parts)) = (map, parts) else { return Ok(Capture { content: first, ..capture }) };
    let content = Arc::clone(&parts.content);
    store.divide_capture(capture.capture_id, map.clone(), parts).await?;
    Ok(Capture { content: Arc::unwrap_or_clone(content), parts: Some(map), ..capture })
}
