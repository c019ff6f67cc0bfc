//! Inner loops, compiled for several instruction sets; the best is chosen at run time.

use multiversion::multiversion;

/// Returns the product of two lists of codes of equal length, and the sum of the squares of the second.
#[multiversion(targets("x86_64+avx2"))]
pub fn product_and_squares(query: &[i8], codes: &[i8]) -> (i32, i32) {
    // Two loops are faster than one with two sums.
    let product = query.iter().zip(codes).map(|(query, code)| i32::from(*query) * i32::from(*code)).sum();
    let squares = codes.iter().map(|code| i32::from(*code) * i32::from(*code)).sum();
    (product, squares)
}

/// Writes the number of bits in which each of the sketches differs from that of the query.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq", "x86_64+popcnt"))]
pub fn distances(sketches: &[u64], query: &[u64], out: &mut [u16]) {
    for (distance, sketch) in out.iter_mut().zip(sketches.chunks_exact(query.len())) {
        let bits: u32 = sketch.iter().zip(query).map(|(a, b)| (a ^ b).count_ones()).sum();
        *distance = bits as u16;
    }
}

/// Returns the position of the first distance that is at most `limit`.
#[multiversion(targets("x86_64+avx2"))]
pub fn first_within(distances: &[u16], limit: u16) -> Option<usize> {
    let (blocks, rest) = distances.as_chunks::<64>();
    let within = |distances: &[u16]| distances.iter().position(|distance| *distance <= limit);
    for (number, block) in blocks.iter().enumerate() {
        // Without an early exit, so that the comparisons are vectorized.
        if block.iter().fold(false, |any, distance| any | (*distance <= limit)) {
            return within(block).map(|at| 64 * number + at);
        }
    }
    within(rest).map(|at| 64 * blocks.len() + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_exact_for_any_length() {
        for length in [1, 7, 8, 63, 64, 65, 384, 4_096] {
            let query: Vec<i8> = (0..length).map(|at| ((at * 37 + 11) % 255) as u8 as i8).collect();
            let codes: Vec<i8> =
                (0..length).map(|at| if at % 5 == 0 { -128 } else { (at * 91 % 256) as u8 as i8 }).collect();
            let product = |a: &[i8], b: &[i8]| a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>();
            assert_eq!(product_and_squares(&query, &codes), (product(&query, &codes), product(&codes, &codes)));
        }
        for words in [1, 3, 6, 12] {
            let word = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(at as u32);
            let query: Vec<u64> = (0..words).map(word).collect();
            let sketches: Vec<u64> = (100..100 + 33 * words).map(word).collect();
            let mut found = vec![0; 33];
            distances(&sketches, &query, &mut found);
            for (sketch, distance) in sketches.chunks(words as usize).zip(found) {
                let expected: u32 = sketch.iter().zip(&query).map(|(a, b)| (a ^ b).count_ones()).sum();
                assert_eq!(u32::from(distance), expected);
            }
        }
    }

    #[test]
    fn first_distance_within_a_limit_is_found_at_any_place() {
        for length in [0, 1, 63, 64, 65, 200] {
            assert_eq!(first_within(&vec![9; length], 8), None);
            for at in 0..length {
                let mut distances = vec![9; length];
                distances[at..].fill(8);
                assert_eq!(first_within(&distances, 8), Some(at));
            }
        }
    }
}
