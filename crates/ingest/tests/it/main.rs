//! Indexing runs and the feeder over a real docstore, with injected faults in storage and engine.
#![expect(clippy::unwrap_used, reason = "tests")]

mod faulty;
mod feeding;
mod runs;
mod world;
