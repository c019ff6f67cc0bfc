use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use engine::VectorKind;
use tantivy::directory::{Directory, META_LOCK};
use tantivy::index::SegmentId;
use tantivy::{Index, SegmentReader};
use tokio::sync::OwnedMutexGuard;

use super::columns::VectorColumns;
use super::needs_sketches;
use super::sketches::Sketches;

/// Maximum number of kinds of vectors with cached sketches: those of a model and of its successor.
const MAX_KINDS: usize = 2;

/// Cache of sketches by kind and segment.
///
/// A kind of vectors that was never searched in a large segment takes no memory.
#[derive(Default)]
pub struct SketchCache {
    /// Most recently searched kinds first.
    kinds: Mutex<Vec<KindSketches>>,
    /// Held while a search builds sketches, so that concurrent ones do not build the same.
    building: Arc<tokio::sync::Mutex<()>>,
}

struct KindSketches {
    kind: VectorKind,
    segments: HashMap<SegmentId, Arc<Sketches>>,
}

impl SketchCache {
    /// Waits for the turn to build sketches. This takes no thread: many searches may wait, and others need the threads.
    pub async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.building).lock_owned().await
    }

    /// Returns the sketches of a segment from the cache, or builds them. The caller has its turn.
    pub fn get(
        &self,
        reader: &SegmentReader,
        columns: &VectorColumns,
        kind: VectorKind,
        threads: usize,
    ) -> tantivy::Result<Arc<Sketches>> {
        let segment = reader.segment_id();
        if let Some(sketches) = self.find(segment, kind) {
            return Ok(sketches);
        }
        let sketches = Arc::new(Sketches::build(reader, columns, kind, threads)?);
        self.insert(segment, kind, Arc::clone(&sketches));
        Ok(sketches)
    }

    /// Builds the sketches of new segments before they become visible, for the kinds that are searched.
    pub fn prepare(&self, index: &Index) -> tantivy::Result<()> {
        let kinds: Vec<VectorKind> = self.with(|kinds| kinds.iter().map(|of_kind| of_kind.kind).collect());
        if kinds.is_empty() {
            return Ok(());
        }
        for (reader, kinds) in self.open_new(index, &kinds)? {
            for kind in kinds {
                if let Some(columns) = needs_sketches(&reader, kind)? {
                    let sketches = Sketches::build(&reader, &columns, kind, 1)?;
                    self.insert(reader.segment_id(), kind, Arc::new(sketches));
                }
            }
        }
        Ok(())
    }

    /// Opens the segments that lack sketches of some of these kinds, and returns them with those kinds.
    fn open_new(&self, index: &Index, kinds: &[VectorKind]) -> tantivy::Result<Vec<(SegmentReader, Vec<VectorKind>)>> {
        // As in a reload of the reader. Otherwise a merge that ends in between would delete the files of listed segments.
        let _lock = index.directory().acquire_lock(&META_LOCK)?;
        let mut opened = Vec::new();
        for segment in index.searchable_segments()? {
            let is_new = |kind: &VectorKind| {
                self.with(|kinds| {
                    !kinds.iter().any(|known| known.kind == *kind && known.segments.contains_key(&segment.id()))
                })
            };
            let missing: Vec<VectorKind> = kinds.iter().copied().filter(is_new).collect();
            if !missing.is_empty() {
                opened.push((SegmentReader::open(&segment)?, missing));
            }
        }
        Ok(opened)
    }

    /// Drops the sketches of segments other than the current ones.
    pub fn retain(&self, current: &HashSet<SegmentId>) {
        self.with(|kinds| {
            kinds.iter_mut().for_each(|of_kind| of_kind.segments.retain(|segment, _| current.contains(segment)));
            kinds.retain(|of_kind| !of_kind.segments.is_empty());
        });
    }

    /// Returns the sketches of a segment from the cache.
    pub fn find(&self, segment: SegmentId, kind: VectorKind) -> Option<Arc<Sketches>> {
        self.with(|kinds| {
            let at = kinds.iter().position(|of_kind| of_kind.kind == kind)?;
            kinds[..=at].rotate_right(1);
            kinds.first()?.segments.get(&segment).cloned()
        })
    }

    fn insert(&self, segment: SegmentId, kind: VectorKind, sketches: Arc<Sketches>) {
        self.with(|kinds| {
            if let Some(known) = kinds.iter_mut().find(|of_kind| of_kind.kind == kind) {
                known.segments.insert(segment, sketches);
                return;
            }
            kinds.insert(0, KindSketches { kind, segments: HashMap::from([(segment, sketches)]) });
            kinds.truncate(MAX_KINDS);
        });
    }

    fn with<T>(&self, access: impl FnOnce(&mut Vec<KindSketches>) -> T) -> T {
        // Poisoning is harmless: only complete values are inserted under the lock.
        access(&mut self.kinds.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use retrieval_core::embeddings::VectorSpace;
    use tantivy::schema::Schema;

    use super::*;

    #[test]
    fn segments_are_opened_while_no_files_are_deleted() {
        let folder = tempfile::tempdir().expect("a folder");
        let index = Index::create_in_dir(folder.path(), Schema::builder().build()).expect("a new index");
        let cache = SketchCache::default();
        let kind = VectorKind { space: VectorSpace(7), dimensions: 8 };
        cache.with(|kinds| kinds.push(KindSketches { kind, segments: HashMap::new() }));
        // As held by the end of a merge, which deletes files.
        let lock = index.directory().acquire_lock(&META_LOCK).expect("a lock");
        std::thread::scope(|scope| {
            let preparing = scope.spawn(|| cache.prepare(&index));
            std::thread::sleep(Duration::from_millis(100));
            assert!(!preparing.is_finished());
            drop(lock);
            preparing.join().expect("no panic").expect("sketches");
        });
    }
}
