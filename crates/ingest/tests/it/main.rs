//! Indexing runs and the feeder over a real docstore, with stores and engines that fail when told to.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod faulty;
mod feeding;
mod runs;
mod world;
