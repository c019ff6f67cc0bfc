//! The two backends: how each connects, and the few places where their SQL differs.
//!
//! `queries/` is compiled once for each backend, against that backend's `Conn` and macros, so that a query
//! is written once and checked twice.

pub mod postgres;
pub mod sqlite;

use std::time::Duration;

/// How long an operation waits for a free connection before it says `Unavailable`.
pub const CONNECTION_WAIT: Duration = Duration::from_secs(5);

/// Rows that one statement inserts: no table has more than the 32 columns that diesel is built for, and SQLite binds
/// at most 32,766 values in a statement (PostgreSQL 65,535).
const ROWS_AT_ONCE: usize = 1_000;

/// Values that one condition lists, for the same reason.
pub const VALUES_AT_ONCE: usize = 10_000;

/// The rows in parts that fit into one statement each.
fn statements<T>(mut rows: Vec<T>) -> impl Iterator<Item = Vec<T>> {
    std::iter::from_fn(move || {
        let rest = rows.split_off(rows.len().min(ROWS_AT_ONCE));
        let part = std::mem::replace(&mut rows, rest);
        (!part.is_empty()).then_some(part)
    })
}

/// Where the connections come from.
#[derive(Clone)]
pub enum Backend {
    Postgres(postgres::Pools),
    Sqlite(sqlite::Pools),
}
