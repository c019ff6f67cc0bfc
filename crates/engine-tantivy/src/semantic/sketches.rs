//! Sketches of the vectors of a segment: one bit per component, after a rotation.

use engine::VectorKind;
use tantivy::{DocId, SegmentReader};

use super::columns::{CodeBuffer, VectorColumns};
use super::parallel;
use super::rotation::{Rotation, SCALE};

/// Maximum number of vectors from which the mean is computed.
const MEAN_SAMPLE: usize = 10_000;

/// Sketch of a query, by the mean of a segment.
pub struct QuerySketch {
    pub bits: Vec<u64>,
    /// Expected distance of a vector in `0..=u16::MAX`, half of one minus the cosine, by the number of bits in which its sketch
    /// differs. In ascending order.
    expected: Vec<u16>,
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
    /// Rotated mean of the unit vectors. A bit tells if a component is larger than that of the mean.
    mean: Vec<f32>,
    /// Document of each vector.
    pub docs: Vec<DocId>,
    /// First value of each vector in the column of codes.
    pub rows: Vec<u32>,
    pub bits: Vec<u64>,
}

impl Sketches {
    /// Computes the sketches of a segment with this number of threads.
    pub fn build(
        reader: &SegmentReader,
        columns: &VectorColumns,
        kind: VectorKind,
        threads: usize,
    ) -> tantivy::Result<Self> {
        let (mut docs, mut rows) = (Vec::new(), Vec::new());
        for doc in columns.non_empty_documents().filter(|doc| !reader.is_deleted(*doc)) {
            for row in columns.rows(doc, kind) {
                docs.push(doc);
                rows.push(row);
            }
        }
        docs.shrink_to_fit();
        rows.shrink_to_fit();
        let mut mean = mean(columns, kind, &rows);
        Sketcher::new(kind).rotation.rotate(&mut mean);
        let sketch = |rows: &[u32]| {
            let mut sketcher = Sketcher::new(kind);
            let mut bits = Vec::with_capacity(rows.len() * kind.dimensions.div_ceil(64));
            let mut buffer = CodeBuffer::new(kind);
            for row in rows {
                sketcher.sketch(columns.read(*row, &mut buffer), &mean, &mut bits);
            }
            bits
        };
        let mut parts = rows.chunks(rows.len().div_ceil(threads.max(1)).max(1));
        let mut bits = parallel::join(parts.next().unwrap_or_default(), parts, &sketch)?;
        bits.shrink_to_fit();
        Ok(Self { kind, mean, docs, rows, bits })
    }

    /// Returns the sketch of a query.
    ///
    /// The share of differing bits tells the angle between two vectors as seen from the mean (Charikar, STOC 2002). With it, the lengths
    /// of both from there, and the product of the query with the mean, their product is expected.
    pub fn query(&self, codes: &[i8]) -> QuerySketch {
        let mut sketcher = Sketcher::new(self.kind);
        let mut bits = Vec::new();
        sketcher.sketch(codes, &self.mean, &mut bits);
        let length = length(codes);
        let unit = || sketcher.values.iter().map(|value| value / (length * SCALE));
        let mean = || self.mean.iter().map(|mean| mean / SCALE);
        let product: f32 = unit().zip(mean()).map(|(value, mean)| value * mean).sum();
        let from_mean = unit().zip(mean()).map(|(value, mean)| (value - mean).powi(2)).sum::<f32>().sqrt();
        // Mean square of the distance of unit vectors from their mean.
        let spread = (1.0 - mean().map(|mean| mean.powi(2)).sum::<f32>()).max(0.0).sqrt();
        let count = 64 * bits.len();
        let cosine = |differing: usize| {
            let angle = std::f32::consts::PI * differing as f32 / count as f32;
            product + from_mean * spread * angle.cos()
        };
        let distance = |cosine: f32| ((1.0 - cosine) / 2.0 * f32::from(u16::MAX)) as u16;
        QuerySketch { bits, expected: (0..=count).map(|differing| distance(cosine(differing))).collect() }
    }

    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// Returns the first position at or after `position` where a document begins.
    pub fn document_start(&self, position: usize) -> usize {
        let Some(doc) = position.checked_sub(1).and_then(|before| self.docs.get(before)) else { return position };
        position + self.docs[position..].partition_point(|other| other <= doc)
    }
}

fn length(codes: &[i8]) -> f32 {
    let squares: i32 = codes.iter().map(|code| i32::from(*code) * i32::from(*code)).sum();
    (squares.max(1) as f32).sqrt()
}

/// Returns the mean of the unit vectors, padded with zeros to whole words of a sketch.
fn mean(columns: &VectorColumns, kind: VectorKind, rows: &[u32]) -> Vec<f32> {
    let mut sums = vec![0.0; kind.dimensions.next_multiple_of(64)];
    let mut buffer = CodeBuffer::new(kind);
    let sample = rows.iter().step_by(rows.len().div_ceil(MEAN_SAMPLE).max(1));
    let count = sample.len().max(1) as f32;
    for row in sample {
        let codes = columns.read(*row, &mut buffer);
        let scale = 1.0 / (count * length(codes));
        sums.iter_mut().zip(codes).for_each(|(sum, code)| *sum += f32::from(*code) * scale);
    }
    sums
}

struct Sketcher {
    rotation: Rotation,
    values: Vec<f32>,
}

impl Sketcher {
    fn new(kind: VectorKind) -> Self {
        let values = vec![0.0; kind.dimensions.next_multiple_of(64)];
        Self { rotation: Rotation::new(kind.dimensions), values }
    }

    /// Appends the sketch of a vector.
    fn sketch(&mut self, codes: &[i8], mean: &[f32], bits: &mut Vec<u64>) {
        self.values.fill(0.0);
        self.values.iter_mut().zip(codes).for_each(|(value, code)| *value = f32::from(*code));
        self.rotation.rotate(&mut self.values);
        let length = length(codes);
        for (values, mean) in self.values.as_chunks::<64>().0.iter().zip(mean.as_chunks::<64>().0) {
            let larger = values.iter().zip(mean).map(|(value, mean)| *value > mean * length);
            bits.push(larger.enumerate().fold(0, |word, (at, bit)| word | u64::from(bit) << at));
        }
    }
}
