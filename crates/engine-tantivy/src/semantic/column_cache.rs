use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tantivy::SegmentReader;
use tantivy::index::SegmentId;

use super::columns::VectorColumns;
use crate::segment_search::IdColumns;

/// Columns of a segment with vectors.
pub struct SegmentColumns {
    pub vectors: VectorColumns,
    pub ids: IdColumns,
}

/// Cache of opened columns: opening them reads the headers of all their blocks, which takes milliseconds for large segments.
#[derive(Default)]
pub struct ColumnCache(Mutex<HashMap<SegmentId, Arc<SegmentColumns>>>);

impl ColumnCache {
    /// Returns the columns of a segment; `None` if it has no vectors.
    pub fn get(&self, reader: &SegmentReader) -> tantivy::Result<Option<Arc<SegmentColumns>>> {
        let segment = reader.segment_id();
        if let Some(columns) = self.lock().get(&segment) {
            return Ok(Some(Arc::clone(columns)));
        }
        let Some(vectors) = VectorColumns::open(reader)? else { return Ok(None) };
        let columns = Arc::new(SegmentColumns { vectors, ids: IdColumns::open(reader)? });
        self.lock().insert(segment, Arc::clone(&columns));
        Ok(Some(columns))
    }

    /// Drops the columns of segments other than the current ones.
    pub fn retain(&self, current: &HashSet<SegmentId>) {
        self.lock().retain(|segment, _| current.contains(segment));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SegmentId, Arc<SegmentColumns>>> {
        // Poisoning is harmless: only complete values are inserted under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
