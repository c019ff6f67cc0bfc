//! Vectors in the fast fields of a segment.
//!
//! A document has a space, a number of components, and the codes of its passages, eight per value. Each passage begins
//! with a new value.

use engine::{DocumentVectors, VectorKind};
use tantivy::columnar::{Column, ColumnIndex};
use tantivy::{DocId, SegmentReader, TantivyDocument};

use crate::schema::{Fields, names};

/// Maximum number of components of a vector. Longer ones are not indexed: the distance of two sketches has 16 bits.
pub const MAX_DIMENSIONS: usize = u16::MAX as usize;

/// Returns the number of values that hold the codes of one vector.
fn values(kind: VectorKind) -> usize {
    kind.dimensions.div_ceil(8).max(1)
}

/// Adds the vectors of a document to its fields.
pub fn add_fields(vectors: &DocumentVectors, fields: &Fields, out: &mut TantivyDocument) {
    let dimensions = vectors.passages.first().map_or(0, |passage| passage.dimensions());
    if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
        return;
    }
    out.add_u64(fields.vector_space, vectors.space.0);
    out.add_u64(fields.vector_dimensions, dimensions as u64);
    for passage in vectors.passages.iter().filter(|passage| passage.dimensions() == dimensions) {
        for codes in passage.codes().chunks(8) {
            let mut value = [0; 8];
            value.iter_mut().zip(codes).for_each(|(byte, code)| *byte = code.cast_unsigned());
            out.add_u64(fields.vector_codes, u64::from_le_bytes(value));
        }
    }
}

/// Fast fields of a segment that contain its vectors.
pub struct VectorColumns {
    spaces: Column<u64>,
    dimensions: Column<u64>,
    codes: Column<u64>,
}

impl VectorColumns {
    /// Returns `None` for a segment without vectors.
    pub fn open(reader: &SegmentReader) -> tantivy::Result<Option<Self>> {
        let column = |name| reader.fast_fields().column_opt::<u64>(name);
        let Some(spaces) = column(names::VECTOR_SPACE)? else { return Ok(None) };
        let Some(dimensions) = column(names::VECTOR_DIMENSIONS)? else { return Ok(None) };
        let Some(codes) = column(names::VECTOR_CODES)? else { return Ok(None) };
        Ok(Some(Self { spaces, dimensions, codes }))
    }

    /// Returns the number of documents that have vectors.
    pub fn documents(&self) -> usize {
        self.spaces.values.num_vals() as usize
    }

    /// Returns the number of vectors, if all are of this kind.
    pub fn vectors(&self, kind: VectorKind) -> usize {
        self.codes.values.num_vals() as usize / values(kind)
    }

    /// Iterates over the documents that have vectors of any kind.
    pub fn non_empty_documents(&self) -> Box<dyn Iterator<Item = DocId> + '_> {
        match &self.spaces.index {
            ColumnIndex::Full => Box::new(0..self.spaces.values.num_vals()),
            ColumnIndex::Optional(optional) => Box::new(optional.iter_non_null_docs()),
            ColumnIndex::Multivalued(multivalued) => multivalued.iter_non_null_docs(),
            ColumnIndex::Empty { .. } => Box::new(std::iter::empty()),
        }
    }

    /// Iterates over the first values of the vectors of a document; empty if they are of another kind.
    pub fn rows(&self, doc: DocId, kind: VectorKind) -> impl Iterator<Item = u32> + Clone + use<> {
        let is_of_kind =
            self.spaces.first(doc) == Some(kind.space.0) && self.dimensions.first(doc) == Some(kind.dimensions as u64);
        let rows = if is_of_kind { self.codes.index.value_row_ids(doc) } else { 0..0 };
        rows.step_by(values(kind))
    }

    /// Loads a vector that begins at a value into the CPU cache.
    pub fn preload(&self, row: u32, kind: VectorKind) {
        // One value of each cache line. Nothing depends on them, so the CPU loads the lines of several vectors at once.
        let lines = (row..row + values(kind) as u32).step_by(8);
        std::hint::black_box(lines.fold(0, |all, line| all ^ self.codes.values.get_val(line)));
    }

    /// Reads a vector that begins at a value.
    pub fn read<'a>(&self, row: u32, buffer: &'a mut CodeBuffer) -> &'a [i8] {
        self.codes.values.get_range(u64::from(row), &mut buffer.values);
        for (codes, value) in buffer.codes.as_chunks_mut::<8>().0.iter_mut().zip(&buffer.values) {
            *codes = value.to_le_bytes().map(u8::cast_signed);
        }
        &buffer.codes
    }
}

/// Buffer for the codes of a vector, padded with zeros to whole values.
pub struct CodeBuffer {
    values: Vec<u64>,
    codes: Vec<i8>,
}

impl CodeBuffer {
    pub fn new(kind: VectorKind) -> Self {
        Self { values: vec![0; values(kind)], codes: vec![0; 8 * values(kind)] }
    }
}

/// Pads the codes of a query as those of documents.
pub fn padded(codes: &[i8]) -> Vec<i8> {
    let mut padded = codes.to_vec();
    padded.resize(codes.len().next_multiple_of(8), 0);
    padded
}
