//! Sketches of the vectors of a segment: one bit per component, after a rotation, and another one for closer estimates.

use engine::VectorKind;
use tantivy::{DocId, SegmentReader};

use super::clusters::Clusters;
use super::columns::{CodeBuffer, VectorColumns};
use super::passages::Vector;
use super::query_levels::{Correction, QueryLevels};
use super::rotation::{Rotation, SCALE};
use super::sample::Sample;
use super::{kernels, parallel};

/// Maximum number of vectors from which the mean is computed.
const MEAN_SAMPLE: usize = 10_000;

/// Sketch of a query, by the mean of a segment.
pub struct QuerySketch {
    pub bits: Vec<u64>,
    /// Expected distance of a vector in `0..=u16::MAX`, half of one minus the cosine, by the number of bits in which its sketch
    /// differs. In ascending order.
    expected: Vec<u16>,
    pub levels: QueryLevels,
}

impl QuerySketch {
    /// Returns the expected distance of a vector whose sketch differs in this number of bits. Those of all segments are comparable:
    /// the numbers of bits are not, since the mean that the bits are relative to belongs to a segment.
    pub fn expected(&self, bits: u16) -> u16 {
        self.expected.get(usize::from(bits)).copied().unwrap_or(u16::MAX)
    }

    /// Returns a distance within which there is a vector with this cosine, unless its sketch differs in so many standard deviations of bits
    /// more than expected.
    pub fn distance_within(&self, cosine: f32, deviations: f32) -> u16 {
        let count = self.expected.len().saturating_sub(1);
        let Some(bits) = self.bits_within(distance(cosine)) else { return self.expected(0) };
        let differing = f32::from(bits) / count.max(1) as f32;
        let deviation = (count as f32 * differing * (1.0 - differing)).sqrt();
        self.expected((f32::from(bits) + deviations * deviation).ceil() as u16)
    }

    /// Returns the largest number of bits with at most this expected distance; `None` if all vectors are further.
    pub fn bits_within(&self, expected: u16) -> Option<u16> {
        let within = self.expected.partition_point(|at| *at <= expected).checked_sub(1)?;
        u16::try_from(within).ok()
    }
}

/// Sketches of all vectors of one kind in a segment, in the order of their clusters. Those of a document are one after the other.
pub struct Sketches {
    kind: VectorKind,
    /// Rotated mean of the unit vectors. A bit tells if a component of a unit vector is larger.
    mean: Vec<f32>,
    pub vectors: Vec<Vector>,
    pub bits: Vec<u64>,
    /// Leading words of the sketches once more, which take less time to scan. Empty if that is no gain.
    pub leading: Vec<u64>,
    /// Bits that tell if the absolute value of a component is large.
    magnitudes: Vec<u64>,
    pub sample: Sample,
    pub clusters: Clusters,
}

/// Sketches of some vectors.
#[derive(Default)]
struct Part {
    bits: Vec<u64>,
    magnitudes: Vec<u64>,
    vectors: Vec<Vector>,
}

impl Sketches {
    /// Computes the sketches of a segment with this number of threads.
    pub fn build(
        reader: &SegmentReader,
        columns: &VectorColumns,
        kind: VectorKind,
        threads: usize,
    ) -> tantivy::Result<Self> {
        let documents = columns.non_empty_documents().filter(|doc| !reader.is_deleted(*doc));
        let rows: Vec<(DocId, u32)> =
            documents.flat_map(|doc| columns.rows(doc, kind).map(move |row| (doc, row))).collect();
        let mut mean = mean(columns, kind, &rows);
        Sketcher::new(kind).rotation.rotate(&mut mean);
        mean.iter_mut().for_each(|value| *value /= SCALE);
        let sketch = |rows: &[(DocId, u32)]| {
            let mut sketcher = Sketcher::new(kind);
            let mut part = Part::default();
            part.bits.reserve(rows.len() * words(kind));
            part.magnitudes.reserve(rows.len() * words(kind));
            part.vectors.reserve(rows.len());
            let mut buffer = CodeBuffer::new(kind);
            for (doc, row) in rows.iter().copied() {
                sketcher.load(columns.read(row, &mut buffer), &mean);
                sketcher.push_bits(&mut part.bits);
                let correction = Correction::new(&sketcher.residual, &mean, &mut part.magnitudes);
                part.vectors.push(Vector { doc, row, correction });
            }
            vec![part]
        };
        let mut chunks = rows.chunks(rows.len().div_ceil(threads.max(1)).max(1));
        let mut parts = parallel::join(chunks.next().unwrap_or_default(), chunks, &sketch)?.into_iter();
        let Part { mut bits, mut magnitudes, mut vectors } = parts.next().unwrap_or_default();
        for part in parts {
            bits.extend(part.bits);
            magnitudes.extend(part.magnitudes);
            vectors.extend(part.vectors);
        }
        let (clusters, order) = Clusters::new(&vectors, &bits, words(kind), threads)?;
        let bits = in_order(&bits, &order, words(kind));
        let magnitudes = in_order(&magnitudes, &order, words(kind));
        let vectors = in_order(&vectors, &order, 1);
        let sample = Sample::new(&vectors, &bits, columns.documents(), words(kind));
        let leading = leading_words(words(kind));
        let leading = bits.chunks_exact(words(kind)).flat_map(|sketch| &sketch[..leading]).copied().collect();
        Ok(Self { kind, mean, vectors, bits, leading, magnitudes, sample, clusters })
    }

    /// Returns the sketch of a query.
    ///
    /// The share of differing bits tells the angle between two vectors as seen from the mean (Charikar, STOC 2002). With it, the lengths
    /// of both from there, and the product of the query with the mean, their product is expected.
    pub fn query(&self, codes: &[i8]) -> QuerySketch {
        let mut sketcher = Sketcher::new(self.kind);
        let mut bits = Vec::new();
        sketcher.load(codes, &self.mean);
        sketcher.push_bits(&mut bits);
        let residual = &sketcher.residual;
        let squares = |values: &[f32]| kernels::product(values, values);
        let from_mean = squares(residual).sqrt();
        let product = residual.iter().zip(&self.mean).map(|(value, mean)| (value + mean) * mean).sum();
        // Mean square of the distance of unit vectors from their mean.
        let spread = (1.0 - squares(&self.mean)).max(0.0).sqrt();
        let count = 64 * bits.len();
        let cosine = |differing: usize| {
            let angle = std::f32::consts::PI * differing as f32 / count as f32;
            product + from_mean * spread * angle.cos()
        };
        let expected = (0..=count).map(|differing| distance(cosine(differing))).collect();
        QuerySketch { bits, expected, levels: QueryLevels::new(residual, product, spread) }
    }

    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Returns the sketch of the vector at a position.
    pub fn sketch(&self, position: usize) -> &[u64] {
        let words = words(self.kind);
        self.bits.get(position * words..(position + 1) * words).unwrap_or_default()
    }

    /// Returns the number of bits in which the leading words of nearly all vectors differ at most that differ in `bits` bits in total; `None`
    /// if too many other vectors are within it.
    pub fn leading_limit(&self, bits: u16) -> Option<u16> {
        let words = words(self.kind);
        let leading = leading_words(words);
        let limit = leading_bits(bits, leading, words);
        // Half of the bits of a random vector differ. Of two words, one vector in twelve is within this limit.
        (leading > 0 && 16 * usize::from(limit) <= 7 * 64 * leading).then_some(limit)
    }

    /// Loads the magnitudes at these positions into the CPU cache. The sketches have been read by then.
    pub fn preload(&self, positions: impl Iterator<Item = usize>) {
        let words = words(self.kind);
        // Nothing depends on these reads, so the CPU does several at a time. They may begin in the middle of a line of the cache.
        let word = |at: usize| self.magnitudes.get(at).copied().unwrap_or_default();
        let lines = |at: usize| (at..at + words).step_by(8).chain([at + words - 1]);
        std::hint::black_box(positions.flat_map(|position| lines(position * words)).fold(0, |all, at| all ^ word(at)));
    }

    /// Returns the expected cosine of the vector at a position.
    pub fn cosine(&self, position: usize, query: &QuerySketch) -> f32 {
        let words = words(self.kind);
        let magnitudes = self.magnitudes.get(position * words..(position + 1) * words).unwrap_or_default();
        query.levels.cosine(self.sketch(position), magnitudes, self.vectors[position].correction)
    }

    /// Returns the first position at or after `position` where a document begins.
    pub fn document_start(&self, position: usize) -> usize {
        let Some(last) = position.checked_sub(1).and_then(|before| self.vectors.get(before)) else { return position };
        // One by one: it is the next position, unless the document is long.
        position + self.vectors[position..].iter().take_while(|vector| vector.doc == last.doc).count()
    }
}

/// Returns values, of which each position has `width`, in another order of positions.
fn in_order<T: Copy>(values: &[T], order: &[u32], width: usize) -> Vec<T> {
    let mut ordered = Vec::with_capacity(values.len());
    order.iter().for_each(|at| ordered.extend_from_slice(&values[*at as usize * width..][..width]));
    ordered
}

/// Returns the number of words of a sketch.
fn words(kind: VectorKind) -> usize {
    kind.dimensions.div_ceil(64)
}

/// Returns the number of leading words that are scanned before the whole sketch of this many; 0 if that is no gain.
fn leading_words(words: usize) -> usize {
    // Lengths for which there are loops of a known length.
    match words {
        0..5 => 0,
        5..10 => 2,
        10..18 => 4,
        _ => 8,
    }
}

/// Returns the number of bits in which the leading words differ at most, but for one vector in forty, if all words differ in `bits`: two
/// standard deviations more than their share (hypergeometric distribution).
fn leading_bits(bits: u16, leading: usize, words: usize) -> u16 {
    let share = leading as f32 / words.max(1) as f32;
    let differing = f32::from(bits) / (64 * words.max(1)) as f32;
    let variance = (64 * leading) as f32 * differing * (1.0 - differing) * (1.0 - share);
    (f32::from(bits) * share + 2.0 * variance.max(0.0).sqrt()) as u16
}

/// Returns a cosine as a distance in `0..=u16::MAX`.
fn distance(cosine: f32) -> u16 {
    ((1.0 - cosine) / 2.0 * f32::from(u16::MAX)) as u16
}

fn length(codes: &[i8]) -> f32 {
    let squares: i32 = codes.iter().map(|code| i32::from(*code) * i32::from(*code)).sum();
    (squares.max(1) as f32).sqrt()
}

/// Returns the mean of the unit vectors, padded with zeros to whole words of a sketch.
fn mean(columns: &VectorColumns, kind: VectorKind, rows: &[(DocId, u32)]) -> Vec<f32> {
    let mut sums = vec![0.0; kind.dimensions.next_multiple_of(64)];
    let mut buffer = CodeBuffer::new(kind);
    let sample = rows.iter().step_by(rows.len().div_ceil(MEAN_SAMPLE).max(1));
    let count = sample.len().max(1) as f32;
    for (_, row) in sample {
        let codes = columns.read(*row, &mut buffer);
        let scale = 1.0 / (count * length(codes));
        sums.iter_mut().zip(codes).for_each(|(sum, code)| *sum += f32::from(*code) * scale);
    }
    sums
}

struct Sketcher {
    rotation: Rotation,
    /// Rotated unit vector, of which the mean is subtracted.
    residual: Vec<f32>,
}

impl Sketcher {
    fn new(kind: VectorKind) -> Self {
        let residual = vec![0.0; kind.dimensions.next_multiple_of(64)];
        Self { rotation: Rotation::new(kind.dimensions), residual }
    }

    /// Loads a vector, given the rotated mean.
    fn load(&mut self, codes: &[i8], mean: &[f32]) {
        self.residual.fill(0.0);
        self.residual.iter_mut().zip(codes).for_each(|(value, code)| *value = f32::from(*code));
        self.rotation.rotate(&mut self.residual);
        let scale = 1.0 / (length(codes) * SCALE);
        self.residual.iter_mut().zip(mean).for_each(|(value, mean)| *value = *value * scale - mean);
    }

    /// Appends the sketch of the loaded vector.
    fn push_bits(&self, bits: &mut Vec<u64>) {
        for values in self.residual.as_chunks::<64>().0 {
            let larger = values.iter().map(|value| *value > 0.0);
            bits.push(larger.enumerate().fold(0, |word, (at, bit)| word | u64::from(bit) << at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::semantic::rotation::mix;

    #[test]
    fn nearly_all_vectors_are_within_the_limit_of_leading_words() {
        let (words, leading) = (6, leading_words(6));
        for bits in [20, 80, 130] {
            let limit = u32::from(leading_bits(bits, leading, words));
            let mut within = 0;
            for number in 0..2_000 {
                // Sets that many different bits.
                let mut sketch = vec![0_u64; words];
                let mut draw = 1_000 * number;
                while sketch.iter().map(|word| word.count_ones()).sum::<u32>() < u32::from(bits) {
                    let at = (mix(draw) % (64 * words as u64)) as usize;
                    sketch[at / 64] |= 1 << (at % 64);
                    draw += 1;
                }
                let differing: u32 = sketch[..leading].iter().map(|word| word.count_ones()).sum();
                within += usize::from(differing <= limit);
            }
            assert!((1_900..2_000).contains(&within), "{bits}: {within}");
        }
        assert_eq!([1, 2, 4].map(leading_words), [0, 0, 0]);
    }
}
