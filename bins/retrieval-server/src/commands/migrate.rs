//! `migrate`: creates or upgrades the database schema.

use anyhow::Context;
use docstore::{Docstore, Location};
use serde_json::json;
use settings::Settings;

use crate::{compose, data_folder, output};

pub async fn run(settings: &Settings) -> anyhow::Result<()> {
    let location = compose::location(settings)?;
    if matches!(location, Location::Sqlite(_)) {
        compose::data_dir(settings)?;
    }
    let creation = data_folder::creation_note(settings, &location);
    let ran = Docstore::open(&location, 1)?.migrate().await.context("migrating the database")?;
    creation.iter().for_each(|note| output::note(note));
    output::json(&json!({ "migrations_run": ran }));
    Ok(())
}
