//! Checks of responses.

use engine::EngineError;
use qdrant_client::qdrant::{UpdateResult, UpdateStatus};

use crate::error::unavailable;

/// Returns an error unless the server has applied a change that it was asked to wait for.
pub fn completed(action: &str, result: Option<UpdateResult>) -> Result<(), EngineError> {
    let status = result.map(|result| result.status());
    if status == Some(UpdateStatus::Completed) {
        return Ok(());
    }
    Err(unavailable(format!("{action} failed: the server reported {status:?} instead of completion")))
}
