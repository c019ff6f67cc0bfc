#![allow(clippy::unwrap_used)]

mod admission;
mod api;
mod batches;
mod bodies;
mod budgets;
mod compat;
mod console;
mod contract;
mod corpus;
mod documents;
mod envelopes;
mod feedback;
mod files;
mod keys;
mod mcp;
mod me;
mod operations;
mod published;
mod reference;
mod searches;
mod server;
mod sessions;
mod skills;
mod table;
mod usage;
mod webhooks;
