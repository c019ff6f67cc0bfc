//! `migrate`: creates or upgrades the database schema.

use anyhow::Context;
use docstore::{Docstore, Location, StoreError};
use serde_json::json;
use settings::Settings;

use crate::{compose, data_folder, database_use, message_language, output};

pub async fn run(settings: &Settings) -> anyhow::Result<()> {
    let location = compose::location(settings)?;
    let creation = data_folder::creation_note(settings, &location);
    let store = Docstore::open(&location, 1)?;
    let ran = match location {
        Location::Sqlite(path) => {
            compose::data_dir(settings)?;
            database_use::migrate(&store, &path).await?.1
        }
        Location::Postgres(_) => migrate_postgres(&store).await.context("migrating the database")?,
    };
    creation.iter().for_each(|note| output::note(note));
    output::json(&json!({ "migrations_run": ran }));
    Ok(())
}

/// Returns the number of migrations. Warns first of messages by which tables in use are not recognized, so that they end the command.
async fn migrate_postgres(store: &Docstore) -> Result<usize, StoreError> {
    if let Some(problem) = message_language::problem(store).await? {
        output::warn(&format!("{problem}; {}", message_language::HINT));
    }
    store.migrate().await
}
