//! Runs one test on one backend and cleans up after it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use tokio::runtime::Builder;

use super::database::{Database, Place};
use super::postgres::Cluster;

#[derive(Clone, Copy)]
pub enum Backend {
    Sqlite,
    Postgres,
}

/// Initial state of the database.
#[derive(Clone, Copy)]
pub enum InitialState {
    Migrated,
    Empty,
}

/// Runs the test on its own database and deletes the database afterwards, also after a panic.
pub fn run<F: Future<Output = ()>>(backend: Backend, state: InitialState, test: impl FnOnce(Database) -> F) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    match backend {
        Backend::Sqlite => {
            let folder = tempfile::tempdir().unwrap();
            let place = Place::Sqlite(folder.path().join("retrieval.db"));
            let database = runtime.block_on(async {
                let database = Database::open(place);
                if let InitialState::Migrated = state {
                    database.store.migrate().await.unwrap();
                }
                database
            });
            finish(|| runtime.block_on(test(database)), || ());
        }
        Backend::Postgres => {
            let Some(cluster) = Cluster::from_environment() else { return };
            let (name, database) = runtime.block_on(async {
                let name = match state {
                    InitialState::Migrated => cluster.create_migrated().await,
                    InitialState::Empty => cluster.create_empty().await,
                };
                let database = Database::open(Place::Postgres(cluster.url_of(&name)));
                (name, database)
            });
            finish(|| runtime.block_on(test(database)), || runtime.block_on(cluster.drop_database(&name)));
        }
    }
}

fn finish(test: impl FnOnce(), clean_up: impl FnOnce()) {
    let outcome = catch_unwind(AssertUnwindSafe(test));
    clean_up();
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}
