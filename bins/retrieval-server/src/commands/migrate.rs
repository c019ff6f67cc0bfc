//! `migrate`: creates or upgrades the database schema.

use anyhow::Context;
use docstore::{Docstore, Location};
use serde_json::json;
use settings::Settings;

use crate::{compose, output};

pub async fn run(settings: &Settings) -> anyhow::Result<()> {
    let location = compose::location(settings)?;
    if matches!(location, Location::Sqlite(_)) {
        compose::data_dir(settings)?;
    }
    let ran = Docstore::open(&location, 1)?.migrate().await.context("migrating the database")?;
    output::json(&json!({ "migrations_run": ran }));
    Ok(())
}
