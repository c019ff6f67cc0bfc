//! Runs over the use cases of a real application.

mod billing;
mod budget;
mod creation;
mod endings;
mod events;
mod interruptions;
mod models;
mod webhooks;
mod world;
