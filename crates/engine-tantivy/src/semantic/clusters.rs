//! Clusters of the documents of a segment by their sketches, so that a scan skips those that are too far from the query.
//!
//! A cluster has a center, a sketch that most of its members are near to. Its documents are ordered by their distance from the center and cut
//! into groups. If a vector of a group were near the query, the query would be near the center too, within what random differences explain.
//! Nothing is skipped of vectors that are far from all centers.

use std::iter;
use std::ops::Range;

use super::passages::Vector;
use super::rotation::mix;
use super::{kernels, parallel};

/// Minimum number of vectors of a segment that has clusters. Scanning fewer takes no time.
const MIN_VECTORS: usize = 32_768;

/// Maximum number of centers. Finding the nearest one takes most of the time of a build.
const MAX_CENTERS: usize = 1_024;

/// The centers are found from one of this many documents, or more if these are too many. Fewer let twice as many vectors through.
const SAMPLED: usize = 16;
const MAX_SAMPLE: usize = 16_384;

/// Number of times that the centers are moved to the middle of their members.
const MOVES: usize = 2;

/// Minimum number of vectors of a group, but for the last one of a cluster.
const GROUP: usize = 512;

/// Number of documents that are compared with all centers at a time. Their leading words fit into the CPU cache.
const BLOCK: usize = 2_048;

/// A group is skipped if the query is this many standard deviations further from the center than a vector near it could be.
const DEVIATIONS: f32 = 3.0;

/// Clusters of the vectors of a segment.
pub struct Clusters {
    words: usize,
    /// Sketches of the centers, one after the other.
    centers: Vec<u64>,
    /// In the order of the vectors, all of them. Empty without centers.
    groups: Vec<Group>,
    vectors: usize,
}

/// Whole documents of one cluster at similar distances from its center.
struct Group {
    center: usize,
    /// Maximum number of bits in which a vector differs from the center.
    radius: u16,
    /// Position after the last vector.
    end: usize,
}

/// Document that belongs to a cluster.
struct Member {
    center: u16,
    /// Maximum number of bits in which one of its vectors differs from the center.
    radius: u16,
    /// First position, and that after the last one.
    start: u32,
    end: u32,
}

impl Clusters {
    /// Finds clusters of vectors, given in the order of documents with their sketches of this many words. Returns with them the positions of
    /// the vectors in the order of the clusters.
    pub fn new(vectors: &[Vector], bits: &[u64], words: usize, threads: usize) -> tantivy::Result<(Self, Vec<u32>)> {
        let all = || 0..vectors.len() as u32;
        let mut clusters = Self { words, centers: Vec::new(), groups: Vec::new(), vectors: vectors.len() };
        if vectors.len() < MIN_VECTORS {
            return Ok((clusters, all().collect()));
        }
        let mut start = 0;
        let documents = vectors.chunk_by(|a, b| a.doc == b.doc).map(|passages| {
            let member = Member { center: 0, radius: 0, start, end: start + passages.len() as u32 };
            start = member.end;
            member
        });
        let mut members: Vec<Member> = documents.collect();
        clusters.centers = centers(&members, bits, words);
        if clusters.centers.is_empty() {
            return Ok((clusters, all().collect()));
        }
        let assign = |members: &mut [Member]| {
            members.chunks_mut(BLOCK).for_each(|block| assign(block, &clusters.centers, bits, words));
            Vec::<()>::new()
        };
        let share = members.len().div_ceil(threads.max(1)).max(1);
        let mut shares = members.chunks_mut(share);
        parallel::join(shares.next().unwrap_or_default(), shares, &assign)?;
        members.sort_unstable_by_key(|member| (member.center, member.radius, member.start));
        let mut order = Vec::with_capacity(vectors.len());
        for cluster in members.chunk_by(|a, b| a.center == b.center) {
            let mut start = order.len();
            for (at, member) in cluster.iter().enumerate() {
                order.extend(member.start..member.end);
                if order.len() - start >= GROUP || at + 1 == cluster.len() {
                    start = order.len();
                    let Member { center, radius, .. } = *member;
                    clusters.groups.push(Group { center: usize::from(center), radius, end: start });
                }
            }
        }
        Ok((clusters, order))
    }

    /// Returns the ranges of positions where nearly all vectors are that differ from the query in at most `bits` bits.
    pub fn within(&self, query: &[u64], bits: u16) -> Vec<Range<usize>> {
        // Half of the bits of unrelated vectors differ.
        if self.groups.is_empty() || usize::from(bits) >= 32 * self.words {
            return iter::once(0..self.vectors).collect();
        }
        let distances = self.distances(query);
        let near = near(self.words);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (group, range) in self.groups() {
            // The center tells nothing about vectors that are not near it.
            if group.radius <= near && distances[group.center] > furthest_center(bits, group.radius, 64 * self.words) {
                continue;
            }
            match ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => ranges.push(range),
            }
        }
        ranges
    }

    /// Returns the ranges of at least `count` positions around the centers nearest to the query, if there are so many. Empty without centers.
    pub fn nearest(&self, query: &[u64], count: usize) -> Vec<Range<usize>> {
        let distances = self.distances(query);
        let mut groups: Vec<_> =
            self.groups().map(|(group, range)| (distances[group.center], group.radius, range)).collect();
        groups.sort_unstable_by_key(|(distance, radius, range)| (*distance, *radius, range.start));
        let mut taken = 0;
        let lacks_some = |range: &Range<usize>| {
            let before = taken;
            taken += range.len();
            before < count
        };
        groups.into_iter().map(|(.., range)| range).take_while(lacks_some).collect()
    }

    /// Returns the distances of the centers from the query, in bits.
    fn distances(&self, query: &[u64]) -> Vec<u16> {
        let mut distances = vec![0; self.centers.len() / self.words.max(1)];
        kernels::distances(&self.centers, query, &mut distances);
        distances
    }

    /// Iterates over the groups with the ranges of their positions.
    fn groups(&self) -> impl Iterator<Item = (&Group, Range<usize>)> {
        let starts = iter::once(0).chain(self.groups.iter().map(|group| group.end));
        self.groups.iter().zip(starts).map(|(group, start)| (group, start..group.end))
    }
}

/// Returns the number of bits in which a query and a center differ at most, if the query differs in `bits` bits from a vector, and the vector in
/// `radius` bits from the center, each less than half of `total`. The two sets of bits overlap as random ones do (hypergeometric distribution), or more: what
/// a vector and the query have in common is often what they share with the center.
fn furthest_center(bits: u16, radius: u16, total: usize) -> u16 {
    let total = total as f32;
    let (bits, radius) = (f32::from(bits) / total, f32::from(radius) / total);
    let expected = bits + radius - 2.0 * bits * radius;
    let variance = 4.0 * bits * (1.0 - bits) * radius * (1.0 - radius) / total;
    (total * (expected + DEVIATIONS * variance.sqrt())).ceil() as u16
}

/// Finds centers: sketches of the sample that are not near an earlier one, then moved to the middle of their members.
fn centers(members: &[Member], bits: &[u64], words: usize) -> Vec<u64> {
    let sketch = |member: &Member| &bits[member.start as usize * words..(member.start as usize + 1) * words];
    let step = members.len().div_ceil(MAX_SAMPLE).max(SAMPLED) as u64;
    // Drawn at random: documents that are imported in turns from several sources have a period.
    let sampled = (0..).zip(members).filter(|(number, _)| mix(*number).is_multiple_of(step));
    let sample: Vec<&[u64]> = sampled.map(|(_, member)| sketch(member)).collect();
    let near = near(words);
    let mut centers: Vec<u64> = Vec::new();
    let mut distances = Vec::new();
    for sketch in &sample {
        distances.resize(centers.len() / words, 0);
        kernels::distances(&centers, sketch, &mut distances);
        if centers.len() < MAX_CENTERS * words && distances.iter().all(|distance| *distance > near) {
            centers.extend_from_slice(sketch);
        }
    }
    for _ in 0..MOVES {
        centers = moved(&centers, &sample, words);
    }
    centers
}

/// Returns the number of bits in which a sketch differs at most from one that it is near to: four standard deviations less than unrelated
/// sketches do.
fn near(words: usize) -> u16 {
    let total = (64 * words) as f32;
    (total / 2.0 - 4.0 * total.sqrt() / 2.0).max(0.0) as u16
}

/// Returns the centers with the bits that most of their members have.
fn moved(centers: &[u64], sample: &[&[u64]], words: usize) -> Vec<u64> {
    let mut distances = vec![0; centers.len() / words];
    let mut members = vec![0_u32; distances.len()];
    let mut counts = vec![0_u32; 64 * centers.len()];
    for sketch in sample {
        kernels::distances(centers, sketch, &mut distances);
        let Some((nearest, _)) = distances.iter().enumerate().min_by_key(|(_, distance)| **distance) else { break };
        members[nearest] += 1;
        let counts = counts[64 * words * nearest..].as_chunks_mut::<64>().0;
        for (word, counts) in sketch.iter().zip(counts) {
            counts.iter_mut().enumerate().for_each(|(bit, count)| *count += (word >> bit & 1) as u32);
        }
    }
    let counts = counts.as_chunks::<64>().0.iter().enumerate();
    let majority = |(at, counts): (usize, &[u32; 64])| {
        let bit = |(bit, count): (usize, &u32)| u64::from(2 * count > members[at / words]) << bit;
        counts.iter().enumerate().map(bit).fold(0, |word, bit| word | bit)
    };
    counts.map(majority).collect()
}

/// Assigns documents to the nearest centers of their first vectors.
fn assign(block: &mut [Member], centers: &[u64], bits: &[u64], words: usize) {
    // A part of the words tells the nearest of those that are near.
    let leading = words.min(2);
    let first = |member: &Member| &bits[member.start as usize * words..][..leading];
    let sketches: Vec<u64> = block.iter().flat_map(first).copied().collect();
    let mut distances = vec![0; block.len()];
    let (mut nearest, mut numbers) = (vec![u16::MAX; block.len()], vec![0; block.len()]);
    for (number, center) in (0..).zip(centers.chunks_exact(words)) {
        kernels::distances(&sketches, &center[..leading], &mut distances);
        kernels::keep_nearer(&distances, number, &mut nearest, &mut numbers);
    }
    for (member, center) in block.iter_mut().zip(numbers) {
        let of_center = &centers[usize::from(center) * words..][..words];
        let of_vector = |at: u32| kernels::distance(&bits[at as usize * words..][..words], of_center);
        member.radius = (member.start..member.end).map(of_vector).max().unwrap_or_default();
        member.center = center;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::semantic::query_levels::Correction;

    const WORDS: usize = 6;
    const CLUSTERS: u64 = 40;

    /// Returns a sketch of a cluster, which differs from its middle in about an eighth of the bits.
    fn sketch(cluster: u64, seed: u64) -> [u64; WORDS] {
        let word = |at: u64, seed: u64| mix(mix(seed) ^ at);
        let flips =
            |at: u64| (0..3).map(|draw| word(at, 1_000_000 + 3 * seed + draw)).fold(u64::MAX, |all, bits| all & bits);
        std::array::from_fn(|at| word(at as u64, cluster) ^ flips(at as u64))
    }

    /// Returns the sketches and vectors of documents with this many passages, each of which is of the cluster that `cluster` tells.
    fn segment(documents: u64, passages: u64, cluster: impl Fn(u64, u64) -> u64) -> (Vec<Vector>, Vec<u64>) {
        let (mut vectors, mut bits) = (Vec::new(), Vec::new());
        for (doc, passage) in (0..documents).flat_map(|doc| (0..passages).map(move |passage| (doc, passage))) {
            let correction = Correction::new(&[1.0; 64], &[0.0; 64], &mut Vec::new());
            vectors.push(Vector { doc: doc as u32, row: vectors.len() as u32, correction });
            bits.extend(sketch(cluster(doc, passage), vectors.len() as u64));
        }
        (vectors, bits)
    }

    /// Returns the share of the vectors within `bits` bits of each query that are in the ranges, and the mean share of all vectors that are.
    fn shares(
        vectors: &[Vector],
        bits: &[u64],
        queries: impl Iterator<Item = [u64; WORDS]>,
        within: u16,
    ) -> (f64, f64) {
        let (clusters, order) = Clusters::new(vectors, bits, WORDS, 2).expect("clusters");
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..vectors.len() as u32), "each position once");
        let (mut found, mut near, mut scanned, mut all) = (0, 0, 0, 0);
        for query in queries {
            let is_near = |at: u32| kernels::distance(&bits[at as usize * WORDS..][..WORDS], &query) <= within;
            let ranges = clusters.within(&query, within);
            for range in &ranges {
                let starts_with_document = |at: usize| {
                    at == 0
                        || at == order.len()
                        || vectors[order[at - 1] as usize].doc != vectors[order[at] as usize].doc
                };
                assert!(starts_with_document(range.start) && starts_with_document(range.end), "{range:?}");
            }
            found += ranges.iter().flat_map(|range| &order[range.clone()]).filter(|at| is_near(**at)).count();
            near += (0..vectors.len() as u32).filter(|at| is_near(*at)).count();
            scanned += ranges.iter().map(ExactSizeIterator::len).sum::<usize>();
            all += vectors.len();
        }
        assert!(near > 0);
        (found as f64 / near as f64, scanned as f64 / all as f64)
    }

    #[test]
    fn scan_skips_far_clusters_and_misses_nearly_nothing() {
        let (vectors, bits) = segment(40_000, 1, |doc, _| doc % CLUSTERS);
        // Members of a cluster differ from each other in about 84 bits.
        let queries = || (0..20).map(|number| sketch(number % CLUSTERS, 900_000 + number));
        let (found, scanned) = shares(&vectors, &bits, queries(), 90);
        assert!(found > 0.999 && scanned < 0.2, "{found} found, {scanned} scanned");
        // Opposite clusters too, if there is no bound.
        let opposite = queries().map(|query| query.map(|word| !word));
        assert_eq!(shares(&vectors, &bits, opposite, 384), (1.0, 1.0));
    }

    #[test]
    fn passages_of_other_subjects_are_found_in_any_document() {
        // Each document is of one cluster, but for its third passage.
        let subject = |doc: u64, passage: u64| if passage == 2 { (7 * doc + 3) % CLUSTERS } else { doc % CLUSTERS };
        let (vectors, bits) = segment(12_000, 3, subject);
        let queries = (0..20).map(|number| sketch(number % CLUSTERS, 900_000 + number));
        let (found, _) = shares(&vectors, &bits, queries, 90);
        assert!(found > 0.999, "{found} found");
    }

    #[test]
    fn nothing_is_skipped_among_unrelated_vectors() {
        let (vectors, bits) = segment(33_000, 1, |doc, _| 10_000_000 + doc);
        let queries = (0..5).map(|number| sketch(20_000_000 + number, number));
        let (found, scanned) = shares(&vectors, &bits, queries, 165);
        assert!(found > 0.999 && scanned > 0.9, "{found} found, {scanned} scanned");
    }

    #[test]
    fn small_segments_and_single_subjects_are_scanned_whole() {
        for (documents, passages) in [(0, 1), (1, 1), (1, 40_000), (100, 3)] {
            let (vectors, bits) = segment(documents, passages, |_, _| 3);
            let (clusters, order) = Clusters::new(&vectors, &bits, WORDS, 2).expect("clusters");
            assert!(order.into_iter().eq(0..vectors.len() as u32));
            let ranges = clusters.within(&sketch(3, 5), 192);
            assert_eq!(ranges.iter().map(ExactSizeIterator::len).sum::<usize>(), vectors.len());
        }
    }

    #[test]
    fn nearest_positions_are_of_the_cluster_of_the_query() {
        let (vectors, bits) = segment(40_000, 1, |doc, _| doc % CLUSTERS);
        let (clusters, order) = Clusters::new(&vectors, &bits, WORDS, 1).expect("clusters");
        for cluster in [0, 7, 39] {
            let ranges = clusters.nearest(&sketch(cluster, 900_000), 500);
            let docs: Vec<u64> = ranges.into_iter().flat_map(|range| &order[range]).map(|at| u64::from(*at)).collect();
            assert!(docs.len() >= 500 && docs.iter().all(|doc| doc % CLUSTERS == cluster), "{}", docs.len());
        }
        assert!(
            clusters.nearest(&sketch(0, 0), usize::MAX).iter().map(ExactSizeIterator::len).sum::<usize>() == 40_000
        );
        assert!(Clusters::new(&[], &[], WORDS, 1).expect("clusters").0.nearest(&sketch(0, 0), 9).is_empty());
    }
}
