//! What the scenarios stand on: a server of their own, clients of it, files to give it.

mod client;
mod database;
pub mod files;
mod poll;
mod ports;
mod process;
mod reply;
mod server;

pub use client::{Client, chunked, put};
pub use database::Database;
pub use poll::until;
pub use process::{Finished, command, finish, run, signal_group, wait};
pub use reply::Reply;
pub use server::{Server, lines, uuid_of};
pub use test_support::site::{Page, Site};

/// Makes two tests, `sqlite::NAME` and `postgres::NAME`, of each `fn NAME(database: Database)`. A function that is
/// left out of the list is dead code, which the lints refuse.
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
