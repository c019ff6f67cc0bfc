//! Test fixtures: a server, its clients, and sample files.

mod client;
mod database;
pub mod files;
pub mod instances;
mod poll;
mod ports;
pub mod postgres;
mod process;
pub mod program;
mod proxy;
mod reply;
mod server;

pub use client::{Client, put, put_chunked};
pub use database::Database;
pub use poll::until;
pub use process::{Finished, OLD_PROGRAM, SANDBOX, command, finish, run, signal_group, wait};
pub use proxy::{Line, Proxy};
pub use reply::Reply;
pub use server::{Server, lines, uuid_of};
pub use test_support::site::{Page, Site};

/// Declares two tests, `sqlite::NAME` and `postgres::NAME`, for each `fn NAME(database: Database)`. A function missing
/// from the list is dead code, which the lints refuse.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            use crate::support::Database;
            $(#[test] fn $name() { super::$name(Database::sqlite()) })*
        }
        mod postgres {
            use crate::support::Database;
            $(#[test] fn $name() {
                if let Some(database) = Database::postgres() {
                    super::$name(database)
                }
            })*
        }
    };
}
