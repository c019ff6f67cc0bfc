//! Vectors of texts.

use async_trait::async_trait;

use crate::ModelError;

/// Largest number of components of a vector. Larger vectors gain little and cost memory in every index.
pub const MAX_DIMENSIONS: usize = 8_192;

/// Role of a text. Many models embed questions and passages differently.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TextKind {
    Query,
    Document,
}

/// Model that embeds texts. Implementations are cheap to share (`Arc<dyn Embedder>`).
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Returns the vector of each text, in the order of the texts.
    ///
    /// Vectors have finite components and the length 1, and all vectors of one embedder have the same number of components, at most
    /// [`MAX_DIMENSIONS`]. Those of texts that the model knows nothing of are 0 ([`is_unknown`]): such texts are not close to each other.
    /// Implementations cut texts that are too long for the model, divide long lists into batches, and enforce their own
    /// timeout.
    ///
    /// # Errors
    /// `ModelError` when the vector of any text is missing or malformed.
    async fn embed(&self, kind: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError>;

    /// Returns the number of components, or `None` until an endpoint has told it by its first answer.
    fn dimensions(&self) -> Option<usize>;

    /// Returns the name of the model with everything that changes its vectors, such as prefixes. Vectors of different versions
    /// cannot be compared. It does not reveal the endpoint.
    fn version(&self) -> &str;

    /// Returns `true` unless the last call failed, less than a minute ago ([`health`](crate::health)).
    fn is_healthy(&self) -> bool;
}

/// Scales a vector to the length 1. Returns `None` for a vector without a direction: zero, empty, or with a component that is no
/// finite number.
pub fn normalized(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|component| f64::from(*component).powi(2)).sum::<f64>().sqrt();
    if !length.is_normal() {
        return None;
    }
    for component in &mut vector {
        *component = (f64::from(*component) / length) as f32;
    }
    Some(vector)
}

/// Returns true for the vector of a text that the model knows nothing of: all components are 0.
pub fn is_unknown(vector: &[f32]) -> bool {
    !vector.is_empty() && vector.iter().all(|component| *component == 0.0)
}

#[cfg(test)]
mod tests {
    use super::{is_unknown, normalized};

    #[test]
    fn only_vectors_of_zeros_are_unknown() {
        assert!(is_unknown(&[0.0, -0.0]));
        assert!([&[][..], &[0.0, 1.0], &[f32::NAN, 0.0]].into_iter().all(|vector| !is_unknown(vector)));
    }

    #[test]
    fn vectors_are_scaled_to_unit_length() {
        assert_eq!(normalized(vec![3.0, -4.0]), Some(vec![0.6, -0.8]));
        assert_eq!(normalized(vec![f32::MAX, 0.0]), Some(vec![1.0, 0.0]));
        assert_eq!(normalized(vec![0.0, f32::from_bits(1)]), Some(vec![0.0, 1.0]));
    }

    #[test]
    fn vectors_without_a_direction_are_refused() {
        for vector in [vec![], vec![0.0, 0.0], vec![1.0, f32::NAN], vec![f32::INFINITY, 1.0]] {
            assert_eq!(normalized(vector.clone()), None, "{vector:?}");
        }
    }
}
