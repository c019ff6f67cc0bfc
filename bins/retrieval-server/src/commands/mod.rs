//! Operator commands, one module each.

mod admin;
mod catch_up;
mod doctor;
mod index_rebuild;
mod migrate;
mod serve;
mod web_import;

use serde_json::json;
use settings::Settings;

use crate::cli::{Command, Config, Index, Web};
use crate::{compose, output};

pub async fn run(command: Command, settings: Settings) -> anyhow::Result<()> {
    match command {
        Command::Serve(options) => serve::run(settings, options.print_key).await,
        Command::Doctor { json } => doctor::run(&settings, json).await,
        Command::Admin(command) => admin::run(command, &settings).await,
        Command::Web(Web::Import { file, format }) => web_import::run(&file, format, &settings).await,
        Command::Index(Index::Rebuild { index }) => index_rebuild::run(index, &settings).await,
        Command::Migrate => migrate::run(&settings).await,
        Command::Config(Config::Check) => {
            // Invalid settings fail before this point; the location is checked by its adapter.
            compose::location(&settings)?;
            output::json(&json!({ "valid": true }));
            Ok(())
        }
        Command::ExtractWorker => Ok(()),
    }
}
