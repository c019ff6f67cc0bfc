//! Sketches of the vectors of a segment: one bit per component, after a rotation.

use engine::VectorKind;
use tantivy::{DocId, SegmentReader};

use super::columns::{CodeBuffer, VectorColumns};
use super::parallel;
use super::query_levels::{Correction, QueryLevels};
use super::rotation::{Rotation, SCALE};

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

    /// Returns the largest number of bits with at most this expected distance; `None` if all vectors are further.
    pub fn bits_within(&self, expected: u16) -> Option<u16> {
        let within = self.expected.partition_point(|at| *at <= expected).checked_sub(1)?;
        u16::try_from(within).ok()
    }
}

/// Sketches of all vectors of one kind in a segment, in the order of documents.
pub struct Sketches {
    kind: VectorKind,
    /// Rotated mean of the unit vectors. A bit tells if a component of a unit vector is larger.
    mean: Vec<f32>,
    pub vectors: Vec<Vector>,
    pub bits: Vec<u64>,
}

/// Facts about the vector of a sketch. A candidate needs all of them, so they are in one line of the CPU cache.
#[derive(Clone, Copy)]
pub struct Vector {
    pub doc: DocId,
    /// First value in the column of codes.
    pub row: u32,
    pub correction: Correction,
}

/// Sketches of some vectors.
#[derive(Default)]
struct Part {
    bits: Vec<u64>,
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
            part.bits.reserve(rows.len() * kind.dimensions.div_ceil(64));
            part.vectors.reserve(rows.len());
            let mut buffer = CodeBuffer::new(kind);
            for (doc, row) in rows.iter().copied() {
                sketcher.load(columns.read(row, &mut buffer), &mean);
                sketcher.push_bits(&mut part.bits);
                let correction = Correction::new(&sketcher.residual, &mean);
                part.vectors.push(Vector { doc, row, correction });
            }
            vec![part]
        };
        let mut chunks = rows.chunks(rows.len().div_ceil(threads.max(1)).max(1));
        let mut parts = parallel::join(chunks.next().unwrap_or_default(), chunks, &sketch)?.into_iter();
        let Part { mut bits, mut vectors } = parts.next().unwrap_or_default();
        for part in parts {
            bits.extend(part.bits);
            vectors.extend(part.vectors);
        }
        bits.shrink_to_fit();
        vectors.shrink_to_fit();
        Ok(Self { kind, mean, vectors, bits })
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
        let squares = |values: &[f32]| values.iter().map(|value| value.powi(2)).sum::<f32>();
        let from_mean = squares(residual).sqrt();
        let product = residual.iter().zip(&self.mean).map(|(value, mean)| (value + mean) * mean).sum();
        // Mean square of the distance of unit vectors from their mean.
        let spread = (1.0 - squares(&self.mean)).max(0.0).sqrt();
        let count = 64 * bits.len();
        let cosine = |differing: usize| {
            let angle = std::f32::consts::PI * differing as f32 / count as f32;
            product + from_mean * spread * angle.cos()
        };
        let distance = |cosine: f32| ((1.0 - cosine) / 2.0 * f32::from(u16::MAX)) as u16;
        let expected = (0..=count).map(|differing| distance(cosine(differing))).collect();
        QuerySketch { bits, expected, levels: QueryLevels::new(residual, product, spread) }
    }

    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Returns the sketch of the vector at a position.
    pub fn sketch(&self, position: usize) -> &[u64] {
        let words = self.kind.dimensions.div_ceil(64);
        self.bits.get(position * words..(position + 1) * words).unwrap_or_default()
    }

    /// Returns the first position at or after `position` where a document begins.
    pub fn document_start(&self, position: usize) -> usize {
        let Some(last) = position.checked_sub(1).and_then(|before| self.vectors.get(before)) else { return position };
        // One by one: it is the next position, unless the document is long.
        position + self.vectors[position..].iter().take_while(|vector| vector.doc == last.doc).count()
    }
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
