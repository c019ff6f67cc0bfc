//! Exact comparison of vectors.

use engine::VectorKind;
use retrieval_core::embeddings::QuantizedVector;
use tantivy::DocId;

use super::columns::{CodeBuffer, VectorColumns, padded};
use super::{PRELOADED, kernels};
use crate::filter::SegmentFilter;

/// Query vector with a buffer for the others.
pub struct Comparison {
    kind: VectorKind,
    codes: Vec<i8>,
    scale: f32,
    buffer: CodeBuffer,
}

impl Comparison {
    pub fn new(vector: &QuantizedVector, kind: VectorKind) -> Self {
        Self { kind, codes: padded(vector.codes()), scale: vector.scale(), buffer: CodeBuffer::new(kind) }
    }

    /// Calls `visit` with each document of the filter that has vectors of this kind, and the cosine of its nearest passage.
    pub fn compare_all(&mut self, columns: &VectorColumns, filter: &SegmentFilter, mut visit: impl FnMut(DocId, f32)) {
        let documents: Box<dyn Iterator<Item = DocId> + '_> = match filter.allowed() {
            Some(allowed) if allowed.count() < columns.documents() => Box::new(allowed.iter()),
            _ => columns.non_empty_documents(),
        };
        let kind = self.kind;
        let mut documents = documents.filter(|doc| filter.admits(*doc)).map(|doc| (doc, columns.rows(doc, kind)));
        let mut batch = Vec::with_capacity(PRELOADED);
        loop {
            batch.extend(documents.by_ref().take(PRELOADED));
            if batch.is_empty() {
                return;
            }
            for row in batch.iter().flat_map(|(_, rows)| rows.clone().take(PRELOADED)) {
                self.preload(columns, row);
            }
            for (doc, rows) in batch.drain(..) {
                if let Some(cosine) = self.best(columns, rows) {
                    visit(doc, cosine);
                }
            }
        }
    }

    /// Loads the vector at a row into the CPU cache.
    pub fn preload(&self, columns: &VectorColumns, row: u32) {
        columns.preload(row, self.kind);
    }

    /// Returns the largest cosine of the vectors at these rows.
    pub fn best(&mut self, columns: &VectorColumns, rows: impl Iterator<Item = u32>) -> Option<f32> {
        rows.map(|row| self.cosine(columns, row)).max_by(f32::total_cmp)
    }

    fn cosine(&mut self, columns: &VectorColumns, row: u32) -> f32 {
        let codes = columns.read(row, &mut self.buffer);
        let (product, squares) = kernels::product_and_squares(&self.codes, codes);
        let scale = (1.0 / f64::from(squares.max(1)).sqrt()) as f32;
        product as f32 * scale * self.scale
    }
}
