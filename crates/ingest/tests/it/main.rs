//! Indexing runs and the feeder over a real docstore, with injected faults in storage and engine.
#![expect(clippy::unwrap_used, reason = "tests")]

mod embedding;
mod fair_runs;
mod faulty;
mod feeding;
mod low_disk;
mod pages;
mod runs;
mod scripted;
mod slow;
mod terms;
mod world;
