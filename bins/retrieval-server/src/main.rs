//! The retrieval server and its operator commands. See README.md.

mod actor;
mod banner;
mod cli;
mod commands;
mod compose;
mod data_dir;
mod database_use;
mod disk;
mod logging;
mod memory;
mod metrics;
mod output;
mod sandbox;
mod storage_keys;
mod tokens;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use settings::Settings;

fn main() -> ExitCode {
    memory::configure_allocator();
    data_dir::restrict_new_files();
    let cli = Cli::parse();
    // The worker limits its own memory and threads before it reads anything, so it starts before the runtime,
    // the log and the settings.
    if matches!(cli.command, Some(Command::ExtractWorker)) {
        return extract_worker::run();
    }
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::failure(&error);
            ExitCode::FAILURE
        }
    }
}

/// Returns the environment, without variables that are not Unicode: no setting is.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let settings = Settings::load(cli.config.as_deref(), environment())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_keep_alive(std::time::Duration::from_secs(5))
        .build()?;
    runtime.block_on(commands::run(cli.command.unwrap_or(Command::Serve(cli.serve)), settings))
}
