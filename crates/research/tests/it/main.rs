//! Whole runs of the engine over scripted outcomes.
#![expect(clippy::unwrap_used, reason = "a test may end early")]

mod budget;
mod extractive;
mod gathering;
mod injection;
mod model;
mod properties;
mod structured;
mod world;
