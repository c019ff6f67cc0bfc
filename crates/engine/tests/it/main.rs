//! Conformance tests of the in-memory engine.

use engine::memory::MemoryEngine;

engine::conformance_tests!(Box::new(MemoryEngine::default()));
