//! The service and its administration. See README.md.

mod banner;
mod cli;
mod commands;
mod compose;
mod logging;
mod output;
mod storage_keys;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    // The worker limits itself to little memory and few threads before it reads anything: it comes before
    // the runtime, the log and the settings.
    if matches!(cli.command, Some(Command::ExtractWorker)) {
        return extract::worker::run();
    }
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::failure(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let settings = settings::load(cli.config.as_deref(), std::env::vars())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_keep_alive(std::time::Duration::from_secs(5)).build()?;
    runtime.block_on(commands::run(cli.command.unwrap_or(Command::Serve), settings))
}
