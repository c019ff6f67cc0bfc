//! Labels of `files add`.

use file_types::label;

use crate::failure::Failure;

/// Returns the labels as the service stores them, so that they can be compared with stored ones; `None` if none are given.
///
/// # Errors
/// Returns [`Failure::Usage`] for a label that the service refuses.
pub fn normalize(labels: &[String]) -> Result<Option<Vec<String>>, Failure> {
    let normalized = labels.iter().map(|text| {
        label::normalize(text).ok_or_else(|| {
            let max = label::MAX_CHARS;
            Failure::Usage(format!("label `{text}` must have 1 to {max} characters, none of them control characters"))
        })
    });
    let labels = label::unique(normalized.collect::<Result<Vec<_>, _>>()?);
    Ok((!labels.is_empty()).then_some(labels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_as_the_service_stores_them() {
        let given = [" Q3", "Fo\u{308}rderung", "Finance", "finance"].map(str::to_owned);
        let stored = ["Q3", "F\u{f6}rderung", "Finance"].map(str::to_owned).to_vec();
        assert_eq!(normalize(&given).expect("valid"), Some(stored));
        assert_eq!(normalize(&[]).expect("valid"), None);
        assert!(matches!(normalize(&["a\nb".to_owned()]), Err(Failure::Usage(_))));
    }
}
