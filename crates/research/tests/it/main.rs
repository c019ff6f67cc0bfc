//! Runs of the engine over scripted outcomes, and runs over the use cases of an application.
#![expect(clippy::unwrap_used, reason = "a test may end early")]

mod budget;
mod extractive;
mod gathering;
mod injection;
mod model;
mod properties;
mod runs;
mod structured;
mod world;
