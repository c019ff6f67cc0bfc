//! Operator commands, one module each.

mod admin;
mod backup;
mod catch_up;
mod config_check;
mod doctor;
mod feeding;
mod index_embed;
mod index_rebuild;
mod migrate;
mod restore;
mod serve;
mod verify;
mod web_crawl;
mod web_import;
mod web_pages;

use std::path::Path;

use settings::Settings;

use crate::cli::{Command, Index, Web};

pub use config_check::config_check;
pub use doctor::report_settings;

/// Runs a command. `config` is the settings file, whose effective content a backup contains.
pub async fn run(command: Command, settings: Settings, config: Option<&Path>) -> anyhow::Result<()> {
    match command {
        Command::Serve(options) => {
            serve::run(settings, options.print_key, options.role.unwrap_or_default(), config).await
        }
        Command::Doctor { json } => doctor::run(&settings, json).await,
        Command::Admin(command) => admin::run(command, &settings).await,
        Command::Web(Web::Import { file, format, base_url }) => {
            web_import::run(&file, format, base_url.as_deref(), &settings).await
        }
        Command::Web(Web::Crawl(options)) => web_crawl::run(options, &settings).await,
        Command::Web(Web::Crawls { json }) => web_crawl::list(&settings, json).await,
        Command::Web(Web::CrawlShow { name }) => web_crawl::show(&name, &settings).await,
        Command::Web(Web::CrawlStop { name }) => web_crawl::stop(&name, &settings).await,
        Command::Web(Web::CrawlRemove { name, pages }) => web_crawl::remove(&name, pages, &settings).await,
        Command::Web(Web::List { selection, limit, json }) => web_pages::list(selection, limit, json, &settings).await,
        Command::Web(Web::Stats) => web_pages::stats(&settings).await,
        Command::Web(Web::Remove { url, selection }) => web_pages::remove(url.as_deref(), selection, &settings).await,
        Command::Web(Web::Refresh { urls }) => web_pages::refresh(&urls, &settings).await,
        Command::Index(Index::Rebuild { index }) => index_rebuild::run(index, &settings).await,
        Command::Index(Index::Embed { prune }) => index_embed::run(prune, &settings).await,
        Command::Migrate => migrate::run(&settings).await,
        Command::Backup { folder } => backup::run(&folder, &settings, config).await,
        Command::Restore { folder } => restore::run(&folder, &settings).await,
        Command::Verify => verify::run(&settings).await,
        // Run by the caller, without a runtime or with errors of its own.
        Command::Config(_) | Command::ExtractWorker => Ok(()),
    }
}
