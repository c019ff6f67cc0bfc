//! Providers against scripted endpoints.
#![expect(clippy::unwrap_used, reason = "tests")]

mod brave;
mod mapped;
mod script;
mod searxng;
