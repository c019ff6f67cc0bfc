//! Connection pools of the two backends, and the few places where their SQL differs.
//!
//! `queries/` is compiled once for each backend, against its `Conn` and macros: a query is written once and checked twice.

mod group_commit;
mod id_list;
pub mod messages;
pub mod postgres;
mod same_thread;
pub mod sqlite;

use std::time::Duration;

/// Timeout for acquiring a connection; the operation then fails with `Unavailable`.
pub const CONNECTION_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of rows in one insert. SQLite binds at most 32,766 values in a statement (PostgreSQL 65,535), and no
/// table exceeds the 32 columns that diesel is built for.
const MAX_ROWS_PER_STATEMENT: usize = 1_000;

/// Maximum number of values listed in one condition, for the same reason.
pub const MAX_VALUES_PER_STATEMENT: usize = 10_000;

/// Splits rows into batches that fit into one statement each.
fn batches<T>(mut rows: Vec<T>) -> impl Iterator<Item = Vec<T>> {
    std::iter::from_fn(move || {
        let rest = rows.split_off(rows.len().min(MAX_ROWS_PER_STATEMENT));
        let batch = std::mem::replace(&mut rows, rest);
        (!batch.is_empty()).then_some(batch)
    })
}

/// Connections to the database at one moment.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PoolUsage {
    pub in_use: usize,
    pub idle: usize,
    /// Operations that wait for a connection.
    pub waiting: usize,
}

impl PoolUsage {
    fn of(status: deadpool::Status) -> Self {
        let in_use = status.size.saturating_sub(status.available);
        Self { in_use, idle: status.size - in_use, waiting: status.waiting }
    }
}

impl std::ops::Add for PoolUsage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { in_use: self.in_use + other.in_use, idle: self.idle + other.idle, waiting: self.waiting + other.waiting }
    }
}

/// Connection pools of the chosen backend.
#[derive(Clone)]
pub enum Backend {
    Postgres(postgres::Pools),
    Sqlite(sqlite::Pools),
}
