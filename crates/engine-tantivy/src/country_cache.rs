use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::index::SegmentId;
use tantivy::schema::Field;
use tantivy::{Searcher, SegmentReader};

use crate::bits::Bits;

/// Cache of the documents that have a country, by segment: finding them reads the postings of all countries.
///
/// A segment changes only by deletions, which do not matter here.
#[derive(Default)]
pub struct CountryCache(Mutex<HashMap<SegmentId, Arc<Bits>>>);

impl CountryCache {
    /// Returns the documents of a segment that have any term in `field`, the field of countries.
    pub fn get(&self, field: Field, searcher: &Searcher, reader: &SegmentReader) -> tantivy::Result<Arc<Bits>> {
        let segment = reader.segment_id();
        if let Some(known) = self.with(|cached| cached.get(&segment).cloned()) {
            return Ok(known);
        }
        let known = Arc::new(Bits::with_any_term(field, reader)?);
        self.with(|cached| {
            let current: HashSet<SegmentId> =
                searcher.segment_readers().iter().map(SegmentReader::segment_id).collect();
            cached.retain(|segment, _| current.contains(segment));
            cached.insert(segment, Arc::clone(&known));
        });
        Ok(known)
    }

    fn with<T>(&self, access: impl FnOnce(&mut HashMap<SegmentId, Arc<Bits>>) -> T) -> T {
        // Poisoning is harmless: only complete values are inserted under the lock.
        access(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
