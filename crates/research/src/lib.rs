#![doc = include_str!("../README.md")]

pub mod engine;
mod runner;
mod runs;

pub use runner::register_metrics;
pub use runs::{
    CreatedRun, Follower, ListQuery, NewRun, NewWebhook, Options, Parts, PlanEntry, Progress, Research, RunEntry,
    RunError, RunEvent, RunView, RunsPage, WebhookView,
};
