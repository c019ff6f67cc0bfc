//! Labels of files.

use file_types::label;

use crate::Error;
use crate::error::Result;

/// Maximum number of labels of a file, and of a filter.
pub const MAX_LABELS: usize = 20;

/// Normalizes labels and drops repetitions, which may differ in case.
///
/// # Errors
/// `Invalid` for too many labels, and for one that is blank, too long, or contains control characters. `field` is the path of the
/// list.
pub fn normalize(field: &str, labels: Vec<String>) -> Result<Vec<String>> {
    if labels.len() > MAX_LABELS {
        let message = format!("{field} must have at most {MAX_LABELS} items, not {}", labels.len());
        return Err(Error::invalid(field, message));
    }
    let normalized = labels.iter().enumerate().map(|(index, text)| {
        label::normalize(text).ok_or_else(|| {
            let max = label::MAX_CHARS;
            let message = format!("{field}[{index}] must have 1 to {max} characters, none of them control characters");
            Error::invalid(format!("{field}[{index}]"), message)
        })
    });
    Ok(label::unique(normalized.collect::<Result<Vec<_>>>()?))
}
