//! The in-memory engine is held to the same contract as the real ones.

use engine::memory::MemoryEngine;

engine::conformance_tests!(Box::new(MemoryEngine::default()));
