#![doc = include_str!("../README.md")]

mod accept;
mod admission;
mod base_url;
mod body;
mod call;
mod compat;
mod compression;
mod endpoint;
mod failure;
mod handlers;
mod json;
mod listener;
mod mcp;
mod memory;
mod metered;
mod numbers;
mod operations;
mod path;
mod pipeline;
mod query;
mod reply;
mod routes;
mod search;
mod served_body;
mod server;
mod session;
mod skill_files;
mod state;
mod static_file;
mod times;
mod usage_record;

pub use memory::MemoryLimits;
pub use operations::create_operations_app;
pub use routes::create_app;
pub use server::{Listeners, OPERATIONS_CONNECTIONS, Running, serve};
pub use state::{MetricsText, Options, Paces, State};
