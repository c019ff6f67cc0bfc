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

/// Returns the number of bits in which a sketch differs from that of the query.
pub fn distance(sketch: &[u64], query: &[u64]) -> u16 {
    let mut distance = [0];
    distances(sketch, query, &mut distance);
    distance[0]
}

/// Writes the number of bits in which each of the sketches differs from that of the query.
pub fn distances(sketches: &[u64], query: &[u64], out: &mut [u16]) {
    // Loops of a known length are nearly twice as fast. These are the lengths of common models, of 128 to 1,536 components.
    match query.len() {
        2 => distances_of::<2>(sketches, query, out),
        4 => distances_of::<4>(sketches, query, out),
        6 => distances_of::<6>(sketches, query, out),
        8 => distances_of::<8>(sketches, query, out),
        12 => distances_of::<12>(sketches, query, out),
        16 => distances_of::<16>(sketches, query, out),
        24 => distances_of::<24>(sketches, query, out),
        _ => distances_of_any(sketches, query, out),
    }
}

/// [`distances`] of sketches of `WORDS` words. Wider instructions are no faster: summing up what they count takes as long.
#[multiversion(targets("x86_64+popcnt"))]
fn distances_of<const WORDS: usize>(sketches: &[u64], query: &[u64], out: &mut [u16]) {
    let Some(query) = query.as_array::<WORDS>() else { return };
    for (distance, sketch) in out.iter_mut().zip(sketches.as_chunks::<WORDS>().0) {
        let bits: u32 = sketch.iter().zip(query).map(|(a, b)| (a ^ b).count_ones()).sum();
        *distance = bits as u16;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq", "x86_64+popcnt"))]
fn distances_of_any(sketches: &[u64], query: &[u64], out: &mut [u16]) {
    for (distance, sketch) in out.iter_mut().zip(sketches.chunks_exact(query.len())) {
        let bits: u32 = sketch.iter().zip(query).map(|(a, b)| (a ^ b).count_ones()).sum();
        *distance = bits as u16;
    }
}

/// Returns the sum of the levels of a query where a sketch has a bit. `planes` are the bits of the levels, lowest first, for each word
/// of a sketch.
#[multiversion(targets("x86_64+popcnt"))]
pub fn sum_of_levels<const BITS: usize>(sketch: &[u64], planes: &[[u64; BITS]]) -> u32 {
    let of_word = |(word, planes): (&u64, &[u64; BITS])| -> u32 {
        planes.iter().enumerate().map(|(bit, plane)| (word & plane).count_ones() << bit).sum()
    };
    sketch.iter().zip(planes).map(of_word).sum()
}

/// Appends the positions of all distances that are at most `limit`.
#[multiversion(targets("x86_64+avx2"))]
pub fn positions_within(distances: &[u16], limit: u16, positions: &mut Vec<u32>) {
    const BLOCK: usize = 32;
    let mut within = [0; BLOCK];
    for (number, block) in distances.chunks(BLOCK).enumerate() {
        // Without an early exit, so that the comparisons are vectorized.
        if block.iter().fold(false, |any, distance| any | (*distance <= limit)) {
            let mut count = 0;
            for (at, distance) in block.iter().enumerate() {
                // Each position is written, without a branch that the CPU would predict wrongly.
                within[count % BLOCK] = (BLOCK * number + at) as u32;
                count += usize::from(*distance <= limit);
            }
            positions.extend_from_slice(&within[..count]);
        }
    }
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
        for words in [1, 2, 3, 4, 6, 8, 12, 16, 24, 25] {
            let word = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(at as u32);
            let query: Vec<u64> = (0..words).map(word).collect();
            let sketches: Vec<u64> = (100..100 + 33 * words).map(word).collect();
            let mut found = vec![0; 33];
            distances(&sketches, &query, &mut found);
            for (sketch, distance) in sketches.chunks(words as usize).zip(found) {
                let expected: u32 = sketch.iter().zip(&query).map(|(a, b)| (a ^ b).count_ones()).sum();
                assert_eq!(u32::from(distance), expected);
            }
            let planes: Vec<[u64; 4]> =
                (0..words).map(|at| [0, 1, 2, 3].map(|bit| word(1_000 + 4 * at + bit))).collect();
            for sketch in sketches.chunks(words as usize) {
                let level = |at: usize| (0..4).map(|bit| (planes[at / 64][bit] >> (at % 64) & 1) << bit).sum::<u64>();
                let has_bit = |at: &usize| sketch[at / 64] >> (at % 64) & 1 == 1;
                let expected: u64 = (0..64 * words as usize).filter(has_bit).map(level).sum();
                assert_eq!(u64::from(sum_of_levels(sketch, &planes)), expected);
            }
        }
    }

    #[test]
    fn distances_within_a_limit_are_found_at_any_place() {
        for length in [0, 1, 63, 64, 65, 200] {
            let distances: Vec<u16> = (0..length).map(|at| at * 7 % 10).collect();
            for limit in 0..10 {
                let mut found = Vec::new();
                positions_within(&distances, limit, &mut found);
                let expected: Vec<u32> = (0..u32::from(length)).filter(|at| distances[*at as usize] <= limit).collect();
                assert_eq!(found, expected);
            }
        }
    }
}
