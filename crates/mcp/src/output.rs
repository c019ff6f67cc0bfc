use serde::Serialize;
use serde_json::Value;

use crate::Failure;

/// A successful result.
#[derive(Debug)]
pub(crate) struct Output {
    pub text: String,
    pub structured: Value,
}

impl Output {
    pub fn new(text: String, structured: &impl Serialize) -> Result<Self, Failure> {
        // Responses hold strings, numbers, lists and maps with string keys, which always serialize.
        let structured = serde_json::to_value(structured)
            .map_err(|_| Failure::new(api_types::ErrorCode::InternalError, "the response cannot be serialized"))?;
        Ok(Self { text, structured })
    }
}
