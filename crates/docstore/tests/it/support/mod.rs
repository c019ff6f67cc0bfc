//! What every test stands on: its own database, and rows to put into it.

mod database;
mod postgres;
mod rows;
mod run;

pub use database::{Database, Place};
pub use rows::{NOW, at, audit_entry, documents_of, new_organization, organization, page, workspace_document};
pub use run::{Backend, Prepared, run};

/// Makes two tests, `sqlite::NAME` and `postgres::NAME`, of each `async fn NAME(db: Database)`. A function that is
/// left out of the list is dead code, which the lints refuse.
macro_rules! on_both_backends {
    ($($name:ident),* $(,)?) => {
        on_both_backends!(@ Migrated $($name)*);
    };
    (empty: $($name:ident),* $(,)?) => {
        on_both_backends!(@ Empty $($name)*);
    };
    (@ $prepared:ident $($name:ident)*) => {
        mod sqlite {
            use crate::support::{Backend, Prepared, run};
            $(#[test] fn $name() { run(Backend::Sqlite, Prepared::$prepared, super::$name) })*
        }
        mod postgres {
            use crate::support::{Backend, Prepared, run};
            $(#[test] fn $name() { run(Backend::Postgres, Prepared::$prepared, super::$name) })*
        }
    };
}
