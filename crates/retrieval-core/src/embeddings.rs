//! Vectors of texts, with 8 bits per component.

/// Set of vectors that can be compared: those of one version of one model.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct VectorSpace(pub u64);

impl VectorSpace {
    /// Returns the space of a model by its version (64-bit FNV-1a of the name).
    pub fn of(model_version: &str) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Self(model_version.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step))
    }
}

/// Unit vector, quantized to 8 bits per component with one scale.
///
/// Cosines differ from those of the original vectors by less than 0.01 for 100 components and more.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizedVector {
    /// Value of one step. Scaled codes have the length 1.
    scale: f32,
    codes: Box<[i8]>,
}

impl QuantizedVector {
    /// Quantizes a vector of any length above 0. Returns `None` if it has a component that is not finite, or no direction.
    pub fn quantize(vector: &[f32]) -> Option<Self> {
        let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        if !(largest > 0.0 && vector.iter().all(|value| value.is_finite())) {
            return None;
        }
        let step = |value: &f32| (f64::from(*value) / f64::from(largest) * 127.0).round() as i8;
        Self::from_codes(vector.iter().map(step).collect())
    }

    /// Restores a vector from its codes. Returns `None` if all are 0.
    pub fn from_codes(codes: Box<[i8]>) -> Option<Self> {
        let squares: i64 = codes.iter().map(|code| i64::from(*code) * i64::from(*code)).sum();
        (squares > 0).then(|| Self { scale: (1.0 / (squares as f64).sqrt()) as f32, codes })
    }

    pub fn codes(&self) -> &[i8] {
        &self.codes
    }

    pub fn scale(&self) -> f32 {
        self.scale
    }

    pub fn dimensions(&self) -> usize {
        self.codes.len()
    }

    /// Returns the cosine of the angle between two vectors; 0 if their numbers of components differ.
    pub fn cosine(&self, other: &Self) -> f32 {
        if self.codes.len() != other.codes.len() {
            return 0.0;
        }
        dot(&self.codes, &other.codes) as f32 * self.scale * other.scale
    }

    /// Returns the components, scaled to the length 1.
    pub fn components(&self) -> impl ExactSizeIterator<Item = f32> {
        self.codes.iter().map(|code| f32::from(*code) * self.scale)
    }
}

/// Returns the product of two lists of codes of equal length.
pub fn dot(left: &[i8], right: &[i8]) -> i32 {
    // Written for vectorization: products of 8-bit numbers fit into 16 bits.
    left.iter().zip(right).map(|(left, right)| i32::from(i16::from(*left) * i16::from(*right))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(seed: u32, dimensions: u32) -> Vec<f32> {
        (0..dimensions).map(|i| ((i + 1) as f32 * (seed as f32 + 0.37)).sin()).collect()
    }

    fn cosine(left: &[f32], right: &[f32]) -> f32 {
        let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        product(left, right) / (product(left, left) * product(right, right)).sqrt()
    }

    #[test]
    fn cosines_survive_quantization() {
        for seed in 0..50 {
            let (left, right) = (vector(seed, 384), vector(seed + 1, 384));
            let quantized = |vector: &[f32]| QuantizedVector::quantize(vector).expect("a direction");
            let found = quantized(&left).cosine(&quantized(&right));
            assert!((found - cosine(&left, &right)).abs() < 0.01, "{found}");
            assert!((quantized(&left).cosine(&quantized(&left)) - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn codes_restore_the_vector() {
        let quantized = QuantizedVector::quantize(&vector(3, 12)).expect("a direction");
        assert_eq!(QuantizedVector::from_codes(quantized.codes().into()), Some(quantized.clone()));
        let squares: f32 = quantized.components().map(|value| value * value).sum();
        assert!((squares - 1.0).abs() < 1e-5);
    }

    #[test]
    fn vectors_without_a_direction_are_rejected() {
        for vector in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0]] {
            assert_eq!(QuantizedVector::quantize(vector), None, "{vector:?}");
        }
        let tiny = QuantizedVector::quantize(&[f32::MIN_POSITIVE, 0.0]).expect("a direction");
        assert_eq!(tiny.codes(), [127, 0]);
    }

    #[test]
    fn vectors_of_different_models_are_not_comparable() {
        let short = QuantizedVector::quantize(&[1.0, 0.0]).expect("a direction");
        let long = QuantizedVector::quantize(&[1.0, 0.0, 0.0]).expect("a direction");
        assert_eq!(short.cosine(&long), 0.0);
        assert_ne!(VectorSpace::of("http:a"), VectorSpace::of("http:b"));
    }
}
