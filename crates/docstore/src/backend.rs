//! The two backends: how each connects, and the few places where their SQL differs.
//!
//! `queries/` is compiled once for each backend, against that backend's `Conn` and macros, so that a query
//! is written once and checked twice.

pub mod postgres;
pub mod sqlite;

use std::time::Duration;

/// How long an operation waits for a free connection before it says `Unavailable`.
pub const CONNECTION_WAIT: Duration = Duration::from_secs(5);

/// Where the connections come from.
#[derive(Clone)]
pub enum Backend {
    Postgres(postgres::Pools),
    Sqlite(sqlite::Pools),
}
