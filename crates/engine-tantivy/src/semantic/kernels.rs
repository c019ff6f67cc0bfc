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

/// Returns the product of two vectors of equal length.
#[multiversion(targets("x86_64+avx2+fma"))]
pub fn product(a: &[f32], b: &[f32]) -> f32 {
    // Sums in several lanes: the order of additions is given, so the compiler would not vectorize one sum.
    const LANES: usize = 32;
    let mut sums = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// Returns the sum of the absolute values of components, those above a limit times `outer` and the others times `inner`.
#[multiversion(targets("x86_64+avx2+fma"))]
pub fn weighted_sum(values: &[f32], limit: f32, inner: f32, outer: f32) -> f32 {
    const LANES: usize = 32;
    let mut sums = [0.0; LANES];
    let weighted = |value: f32| value.abs() * if value.abs() > limit { outer } else { inner };
    let (chunks, rest) = values.as_chunks::<LANES>();
    for values in chunks {
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += weighted(*value);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|value| weighted(*value)).sum::<f32>()
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

/// Numbers of components and sums of the query's levels of three sets: where a sketch has a bit, where a second one has, and where both
/// have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub counts: [u32; 3],
    pub levels: [u32; 3],
}

/// Sums up the levels of a query where two sketches have bits. `planes` are the bits of the levels, lowest first, for each word of a
/// sketch.
#[multiversion(targets("x86_64+popcnt"))]
pub fn sums_of_levels<const BITS: usize>(first: &[u64], second: &[u64], planes: &[[u64; BITS]]) -> Sums {
    let mut sums = Sums::default();
    for ((first, second), planes) in first.iter().zip(second).zip(planes) {
        for (set, word) in [*first, *second, first & second].into_iter().enumerate() {
            sums.counts[set] += word.count_ones();
            for (bit, plane) in planes.iter().enumerate() {
                sums.levels[set] += (word & plane).count_ones() << bit;
            }
        }
    }
    sums
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

/// Replaces distances by those that are smaller, and the numbers beside them by `number`.
#[multiversion(targets("x86_64+avx2"))]
pub fn keep_nearer(distances: &[u16], number: u16, nearest: &mut [u16], numbers: &mut [u16]) {
    for ((distance, nearest), of_nearest) in distances.iter().zip(nearest).zip(numbers) {
        // Without branches, so that it is vectorized.
        *of_nearest = if distance < nearest { number } else { *of_nearest };
        *nearest = (*nearest).min(*distance);
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
            for pair in sketches.chunks_exact(2 * words as usize) {
                let (first, second) = pair.split_at(words as usize);
                let level = |at: usize| (0..4).map(|bit| (planes[at / 64][bit] >> (at % 64) & 1) << bit).sum::<u64>();
                let in_first = |at: &usize| first[at / 64] >> (at % 64) & 1 == 1;
                let in_second = |at: &usize| second[at / 64] >> (at % 64) & 1 == 1;
                let sums = sums_of_levels(first, second, &planes);
                let sets: [&dyn Fn(&usize) -> bool; 3] = [&in_first, &in_second, &|at| in_first(at) && in_second(at)];
                for (set, is_in) in sets.into_iter().enumerate() {
                    let members: Vec<usize> = (0..64 * words as usize).filter(|at| is_in(at)).collect();
                    let levels: u64 = members.iter().map(|at| level(*at)).sum();
                    assert_eq!((sums.counts[set] as usize, u64::from(sums.levels[set])), (members.len(), levels));
                }
            }
        }
    }

    #[test]
    fn nearest_distances_are_kept_with_their_numbers() {
        let (mut nearest, mut numbers) = (vec![u16::MAX; 40], vec![0; 40]);
        for number in 0..5 {
            let distances: Vec<u16> = (0..40).map(|at| (at * 7 + number * 11) % 13).collect();
            keep_nearer(&distances, number, &mut nearest, &mut numbers);
        }
        for at in 0..40 {
            let distance = |number: &u16| (at * 7 + number * 11) % 13;
            let number = (0..5).min_by_key(distance).expect("a number");
            assert_eq!((nearest[usize::from(at)], numbers[usize::from(at)]), (distance(&number), number));
        }
    }

    #[test]
    fn products_of_floats_are_those_of_all_components() {
        for length in [0, 1, 31, 32, 64, 100, 384] {
            let a: Vec<f32> = (0..length).map(|at| (at as f32).sin()).collect();
            let b: Vec<f32> = (0..length).map(|at| (at as f32 * 0.3).cos()).collect();
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            assert!((f64::from(product(&a, &b)) - expected).abs() < 1e-4);
            let weighted = |value: &f32| f64::from(value.abs()) * if value.abs() > 0.5 { 3.0 } else { 2.0 };
            let expected: f64 = a.iter().map(weighted).sum();
            assert!((f64::from(weighted_sum(&a, 0.5, 2.0, 3.0)) - expected).abs() < 1e-3);
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
