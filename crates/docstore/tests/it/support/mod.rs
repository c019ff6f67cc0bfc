//! Test databases and rows to store in them.

mod database;
mod postgres;
mod rows;
mod run;

pub use database::{Database, Place};
pub use postgres::{connect, until_a_query_waits, until_queries_wait};
pub use rows::{
    NOW, at, audit_entry, divided, documents_in, new_delivery, new_feedback, new_organization, new_research,
    new_webhook, organization, page, run_event, workspace_document,
};
pub use run::{Backend, InitialState, run};

/// Generates two tests, `sqlite::NAME` and `postgres::NAME`, from each `async fn NAME(db: Database)`. A function missing
/// in the list is dead code, which the lints reject.
macro_rules! on_both_backends {
    ($($name:ident),* $(,)?) => {
        on_both_backends!(@ Migrated $($name)*);
    };
    (empty: $($name:ident),* $(,)?) => {
        on_both_backends!(@ Empty $($name)*);
    };
    (@ $state:ident $($name:ident)*) => {
        mod sqlite {
            use crate::support::{Backend, InitialState, run};
            $(#[test] fn $name() { run(Backend::Sqlite, InitialState::$state, super::$name) })*
        }
        mod postgres {
            use crate::support::{Backend, InitialState, run};
            $(#[test] fn $name() { run(Backend::Postgres, InitialState::$state, super::$name) })*
        }
    };
}
