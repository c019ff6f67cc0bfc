//! Checks of vectors.

use std::sync::atomic::{AtomicUsize, Ordering};

use models::ModelError;
use models::embedding::{MAX_DIMENSIONS, normalized};

/// Size of a component in JSON: 25 characters at most, and white space.
const COMPONENT_BYTES: usize = 32;
/// Size of the rest of a response, such as ids and usage.
const OTHER_BYTES: usize = 64 << 10;
/// Length of an error's description. It may quote the response.
const MAX_DETAIL: usize = 200;

/// Number of components of all vectors: as requested, or as in the first valid response.
pub struct Dimensions {
    requested: Option<usize>,
    /// 0: not yet known.
    known: AtomicUsize,
}

impl Dimensions {
    /// `requested` is 0 for the model's own number.
    pub fn new(requested: usize) -> Self {
        Self { requested: Some(requested).filter(|number| *number > 0), known: AtomicUsize::new(requested) }
    }

    pub fn requested(&self) -> Option<usize> {
        self.requested
    }

    pub fn known(&self) -> Option<usize> {
        Some(self.known.load(Ordering::Relaxed)).filter(|number| *number > 0)
    }

    /// Returns the maximum size of a response in bytes. It may repeat the texts.
    pub fn max_response(&self, texts: &[String]) -> usize {
        let components = self.known().unwrap_or(MAX_DIMENSIONS) * texts.len();
        // JSON writes a control character with six.
        let repeated: usize = texts.iter().map(|text| text.len() * 6).sum();
        components * COMPONENT_BYTES + repeated + OTHER_BYTES
    }

    /// Scales the vectors to the length 1.
    ///
    /// # Errors
    /// `InvalidResponse` unless there are `count` vectors of the known number of components, each with a direction.
    pub fn check(&self, vectors: Vec<Vec<f32>>, count: usize) -> Result<Vec<Vec<f32>>, ModelError> {
        if vectors.len() != count {
            return Err(invalid(format!("{} vectors for {count} texts", vectors.len())));
        }
        let expected = self.known().or_else(|| vectors.first().map(Vec::len)).unwrap_or_default();
        if !(1..=MAX_DIMENSIONS).contains(&expected) {
            return Err(invalid(format!("vectors of {expected} components, which must be 1 to {MAX_DIMENSIONS}")));
        }
        let mut checked = Vec::with_capacity(count);
        for vector in vectors {
            let length = vector.len();
            if length != expected {
                return Err(invalid(format!("a vector of {length} components, where {expected} are expected")));
            }
            let unusable = || invalid("a vector is zero or not finite".to_owned());
            checked.push(normalized(vector).ok_or_else(unusable)?);
        }
        // Another first response may have been faster.
        match self.known.compare_exchange(0, expected, Ordering::Relaxed, Ordering::Relaxed) {
            Err(known) if known != expected => {
                Err(invalid(format!("vectors of {expected} components, where {known} are expected")))
            }
            Ok(_) | Err(_) => Ok(checked),
        }
    }
}

pub fn invalid(mut detail: String) -> ModelError {
    if let Some((end, _)) = detail.char_indices().nth(MAX_DETAIL) {
        detail.truncate(end);
    }
    ModelError::InvalidResponse(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_response_settles_the_number_of_components() {
        let dimensions = Dimensions::new(0);
        assert_eq!(dimensions.known(), None);
        let checked = dimensions.check(vec![vec![3.0, 4.0], vec![0.0, 2.0]], 2).expect("vectors");
        assert_eq!(checked, [vec![0.6, 0.8], vec![0.0, 1.0]]);
        assert_eq!(dimensions.known(), Some(2));
        assert!(dimensions.check(vec![vec![1.0, 2.0, 3.0]], 1).is_err());
    }

    #[test]
    fn unusable_vectors_are_rejected() {
        for vectors in [
            vec![],
            vec![vec![1.0, 0.0]],
            vec![vec![1.0, 0.0]; 3],
            vec![vec![1.0, 0.0], vec![1.0]],
            vec![vec![], vec![]],
            vec![vec![1.0, 0.0], vec![0.0, 0.0]],
            vec![vec![1.0, 0.0], vec![1.0, f32::INFINITY]],
            vec![vec![1.0; 9_000], vec![1.0; 9_000]],
        ] {
            let dimensions = Dimensions::new(0);
            assert!(dimensions.check(vectors, 2).is_err());
            assert_eq!(dimensions.known(), None);
        }
    }

    #[test]
    fn requested_number_of_components_is_binding() {
        let dimensions = Dimensions::new(2);
        assert_eq!((dimensions.requested(), dimensions.known()), (Some(2), Some(2)));
        assert!(dimensions.check(vec![vec![1.0, 2.0, 3.0]], 1).is_err());
    }

    #[test]
    fn size_of_a_response_follows_the_request() {
        let texts = vec!["a".to_owned(); 32];
        let (settled, unknown) = (Dimensions::new(384).max_response(&texts), Dimensions::new(0).max_response(&texts));
        assert!(settled > 32 * 384 * 27 && settled < 1 << 20, "{settled}");
        assert!(unknown < 10 << 20, "{unknown}");
    }

    #[test]
    fn descriptions_of_errors_are_short() {
        let ModelError::InvalidResponse(detail) = invalid("é".repeat(10_000)) else { panic!("another error") };
        assert_eq!(detail.chars().count(), MAX_DETAIL);
    }
}
