//! One test on one backend, and the tidying after it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use tokio::runtime::Builder;

use super::database::{Database, Place};
use super::postgres::Cluster;

#[derive(Clone, Copy)]
pub enum Backend {
    Sqlite,
    Postgres,
}

/// What the test finds in its database.
#[derive(Clone, Copy)]
pub enum Prepared {
    Migrated,
    Empty,
}

/// Runs the test on a database of its own, which is gone afterwards however the test ended.
pub fn run<F: Future<Output = ()>>(backend: Backend, prepared: Prepared, test: impl FnOnce(Database) -> F) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    match backend {
        Backend::Sqlite => {
            let folder = tempfile::tempdir().unwrap();
            let place = Place::Sqlite(folder.path().join("retrieval.db"));
            let database = runtime.block_on(async {
                let database = Database::open(place);
                if let Prepared::Migrated = prepared {
                    database.store.migrate().await.unwrap();
                }
                database
            });
            finish(|| runtime.block_on(test(database)), || ());
        }
        Backend::Postgres => {
            let Some(cluster) = Cluster::from_environment() else { return };
            let (name, database) = runtime.block_on(async {
                let name = match prepared {
                    Prepared::Migrated => cluster.create_migrated().await,
                    Prepared::Empty => cluster.create_empty().await,
                };
                let database = Database::open(Place::Postgres(cluster.url_of(&name)));
                (name, database)
            });
            finish(|| runtime.block_on(test(database)), || runtime.block_on(cluster.drop_database(&name)));
        }
    }
}

fn finish(test: impl FnOnce(), tidy: impl FnOnce()) {
    let outcome = catch_unwind(AssertUnwindSafe(test));
    tidy();
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}
