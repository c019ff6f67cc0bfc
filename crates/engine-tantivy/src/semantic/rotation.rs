//! Random rotation of vectors, which spreads their variance over all components.
//!
//! Two rounds of random signs and Hadamard transforms of blocks, with a transposition between them.

use multiversion::multiversion;

/// Number of components of a block: one word of a sketch.
const BLOCK: usize = 64;

/// Factor by which a rotation lengthens vectors: the square root of the block's length in each round.
pub const SCALE: f32 = BLOCK as f32;

/// Rotation of vectors with a certain number of components, the same in every process.
pub struct Rotation {
    /// Signs of both rounds.
    signs: [Vec<f32>; 2],
    scratch: Vec<f32>,
}

impl Rotation {
    pub fn new(dimensions: usize) -> Self {
        let length = dimensions.next_multiple_of(BLOCK);
        let sign = |at: usize| if mix(at as u64) & 1 == 0 { 1.0 } else { -1.0 };
        let signs = [0, length].map(|start| (start..start + length).map(sign).collect());
        Self { signs, scratch: vec![0.0; length] }
    }

    /// Rotates a vector, padded with zeros to whole blocks, and lengthens it by [`SCALE`].
    pub fn rotate(&mut self, values: &mut [f32]) {
        rotate(values, &self.signs, &mut self.scratch);
    }
}

/// Finalizer of SplitMix64.
pub fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[multiversion(targets("x86_64+avx2"))]
fn rotate(values: &mut [f32], signs: &[Vec<f32>; 2], scratch: &mut [f32]) {
    let [first, second] = signs;
    values.iter_mut().zip(first).for_each(|(value, sign)| *value *= sign);
    values.as_chunks_mut::<BLOCK>().0.iter_mut().for_each(hadamard);
    let blocks = values.len() / BLOCK;
    for (number, block) in values.as_chunks::<BLOCK>().0.iter().enumerate() {
        for (at, value) in block.iter().enumerate() {
            scratch[at * blocks + number] = *value;
        }
    }
    for ((value, moved), sign) in values.iter_mut().zip(scratch.iter()).zip(second) {
        *value = moved * sign;
    }
    values.as_chunks_mut::<BLOCK>().0.iter_mut().for_each(hadamard);
}

#[inline(always)]
fn hadamard(block: &mut [f32; BLOCK]) {
    let mut half = 1;
    while half < BLOCK {
        for pair in block.chunks_exact_mut(2 * half) {
            let (left, right) = pair.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_keeps_angles_and_spreads_components() {
        for dimensions in [1, 37, 64, 384, 1_000] {
            let mut rotation = Rotation::new(dimensions);
            let mut rotated = |seed: f32| {
                let mut values: Vec<f32> = (0..dimensions).map(|at| (at as f32 * seed).sin()).collect();
                values[0] = 50.0;
                let before = values.clone();
                values.resize(dimensions.next_multiple_of(BLOCK), 0.0);
                rotation.rotate(&mut values);
                (before, values)
            };
            let ((a, rotated_a), (b, rotated_b)) = (rotated(0.7), rotated(1.3));
            let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            let factor = product(&rotated_a, &rotated_a) / product(&a, &a);
            let (expected, found) = (product(&a, &b), product(&rotated_a, &rotated_b) / factor);
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} for {expected}");
            assert!((factor.sqrt() / SCALE - 1.0).abs() < 1e-3, "{factor}");
            let largest = rotated_a.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
            let length = product(&rotated_a, &rotated_a).sqrt();
            assert!(largest < 0.5 * length || dimensions < 64, "{largest} of {length}");
        }
    }
}
