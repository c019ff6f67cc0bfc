use std::ops::Deref;

use engine::SearchEngine;
use engine_tantivy::{TantivyEngine, TantivyOptions};

/// Engine in a temporary directory.
struct TemporaryEngine {
    engine: TantivyEngine,
    _folder: tempfile::TempDir,
}

impl TemporaryEngine {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = TantivyEngine::open(folder.path(), TantivyOptions::default()).expect("a new index");
        Self { engine, _folder: folder }
    }
}

impl Deref for TemporaryEngine {
    type Target = dyn SearchEngine;

    fn deref(&self) -> &(dyn SearchEngine + 'static) {
        &self.engine
    }
}

engine::conformance_tests!(TemporaryEngine::new());
