//! Closer estimates of cosines: by four bits per component of the query and two of a vector.
//!
//! As in RaBitQ (Gao and Long, SIGMOD 2024; two bits per component as in its extension, SIGMOD 2025): the product of the query with a code of
//! a vector, relative to that of the vector itself, estimates their cosine. Two bits have half of the error of the signs alone.

use super::kernels;

/// Absolute values that stand for those of the components of a vector below and above the limit, and the limit. They are the best ones
/// for components with a normal distribution and a mean square of 1 (Max, Quantizing for Minimum Distortion, 1960).
const INNER: f32 = 0.452_8;
const OUTER: f32 = 1.510_4;
const LIMIT: f32 = 0.981_6;
/// Mean square of the difference between a component and its code.
const DISTORTION: f32 = 0.117_5;

/// Bits per component of the query. With four, rounding adds a tenth to the variance of the estimate.
const BITS: usize = 4;
const LEVELS: f32 = (1 << BITS) as f32;

/// Components of a query as seen from the mean of a segment, rounded to 16 levels.
pub struct QueryLevels {
    /// Bits of the levels, lowest first, for each word of a sketch.
    planes: Vec<[u64; BITS]>,
    lowest: f32,
    step: f32,
    sum: f32,
    /// Product of the query with the mean.
    product: f32,
    error: f32,
}

/// Properties of a vector that its codes do not tell.
#[derive(Clone, Copy, Debug)]
pub struct Correction {
    /// Product with the mean, as seen from the mean.
    along_mean: f32,
    /// Square of the length as seen from the mean, relative to the product with the code.
    per_code: f32,
}

impl Correction {
    /// Computes the correction of a rotated unit vector, of which the mean is subtracted, and appends the bits of its components with
    /// large absolute values to `magnitudes`.
    pub fn new(residual: &[f32], mean: &[f32], magnitudes: &mut Vec<u64>) -> Self {
        let squares = kernels::product(residual, residual);
        let limit = LIMIT * (squares / residual.len().max(1) as f32).sqrt();
        for values in residual.as_chunks::<64>().0 {
            let large = values.iter().map(|value| value.abs() > limit);
            magnitudes.push(large.enumerate().fold(0, |word, (at, bit)| word | u64::from(bit) << at));
        }
        let with_code = kernels::weighted_sum(residual, limit, INNER, OUTER);
        Self { along_mean: kernels::product(residual, mean), per_code: squares / with_code.max(f32::MIN_POSITIVE) }
    }
}

impl QueryLevels {
    /// Rounds a rotated query, of which the mean is subtracted. `product` is the product of the query with the mean, and `spread` the
    /// expected length of a vector as seen from there.
    pub fn new(residual: &[f32], product: f32, spread: f32) -> Self {
        let lowest = residual.iter().copied().fold(f32::INFINITY, f32::min);
        let highest = residual.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let step = ((highest - lowest) / (LEVELS - 1.0)).max(f32::MIN_POSITIVE);
        let mut planes = vec![[0; BITS]; residual.len().div_ceil(64)];
        for (at, value) in residual.iter().enumerate() {
            let level = ((value - lowest) / step).round() as u64;
            for (bit, plane) in planes[at / 64].iter_mut().enumerate() {
                *plane |= (level >> bit & 1) << (at % 64);
            }
        }
        // A code has the share `1 - DISTORTION` of the square of its vector, and the product of the rest with a query at right angles has
        // this mean square.
        let variance =
            DISTORTION / (1.0 - DISTORTION) * kernels::product(residual, residual) / residual.len().max(1) as f32;
        Self { planes, lowest, step, sum: residual.iter().sum(), product, error: spread * variance.sqrt() }
    }

    /// Returns the expected cosine of a vector.
    pub fn cosine(&self, sketch: &[u64], magnitudes: &[u64], correction: Correction) -> f32 {
        let sums = kernels::sums_of_levels(sketch, magnitudes, &self.planes);
        let sum = |set: usize| self.lowest * sums.counts[set] as f32 + self.step * sums.levels[set] as f32;
        let (positive, large, large_and_positive) = (sum(0), sum(1), sum(2));
        let with_code = INNER * (2.0 * positive - self.sum) + (OUTER - INNER) * (2.0 * large_and_positive - large);
        self.product + correction.along_mean + correction.per_code * with_code
    }

    /// Returns the standard deviation of the estimate for vectors at right angles to the query. Others have a smaller one.
    pub fn error(&self) -> f32 {
        self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers with a nearly normal distribution.
    fn normal(seed: &mut u64) -> f32 {
        let mut sum = 0.0;
        for _ in 0..12 {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            sum += (*seed >> 40) as f32 / (1 << 24) as f32;
        }
        sum - 6.0
    }

    fn product(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn unit(mut values: Vec<f32>) -> Vec<f32> {
        let length = product(&values, &values).sqrt();
        values.iter_mut().for_each(|value| *value /= length);
        values
    }

    fn sketch(values: &[f32]) -> Vec<u64> {
        let word = |values: &[f32]| {
            values.iter().enumerate().fold(0, |word, (at, value)| word | u64::from(*value > 0.0) << at)
        };
        values.chunks(64).map(word).collect()
    }

    #[test]
    fn cosines_are_estimated_better_than_by_two_sketches() {
        let mut seed = 7;
        let mut random = |count: usize| -> Vec<f32> { (0..count).map(|_| normal(&mut seed)).collect() };
        for dimensions in [128, 384, 1_024] {
            let (mut squares, mut squares_of_bits, mut sum) = (0.0, 0.0, 0.0);
            let rounds = 400;
            for round in 0..rounds {
                let query = unit(random(dimensions));
                let toward = 0.1 * (round % 10) as f32;
                let noise = unit(random(dimensions));
                let vector = unit(query.iter().zip(&noise).map(|(a, b)| toward * a + (1.0 - toward) * b).collect());
                let cosine = product(&query, &vector);
                let mut magnitudes = Vec::new();
                let correction = Correction::new(&vector, &vec![0.0; dimensions], &mut magnitudes);
                let levels = QueryLevels::new(&query, 0.0, 1.0);
                let estimate = levels.cosine(&sketch(&vector), &magnitudes, correction);
                let differing: u32 =
                    sketch(&query).iter().zip(sketch(&vector)).map(|(a, b)| (a ^ b).count_ones()).sum();
                let of_bits = (std::f32::consts::PI * differing as f32 / dimensions as f32).cos();
                squares += (estimate - cosine).powi(2);
                squares_of_bits += (of_bits - cosine).powi(2);
                sum += estimate - cosine;
            }
            assert!(squares < 0.15 * squares_of_bits, "{dimensions}: {squares} of {squares_of_bits}");
            assert!((sum / rounds as f32).abs() < 0.01, "{dimensions}: {sum}");
        }
    }

    #[test]
    fn any_query_has_finite_estimates() {
        for residual in [vec![0.0; 64], vec![1.0; 64], [vec![-1.0; 64], vec![0.0; 64]].concat()] {
            let levels = QueryLevels::new(&residual, 0.5, 0.8);
            let mut magnitudes = Vec::new();
            let correction = Correction::new(&residual, &vec![0.1; residual.len()], &mut magnitudes);
            assert_eq!(magnitudes.len(), residual.len() / 64);
            for word in [0, 1, u64::MAX] {
                assert!(levels.cosine(&vec![word; residual.len() / 64], &magnitudes, correction).is_finite());
            }
        }
    }
}
