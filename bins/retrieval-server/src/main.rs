//! The retrieval server and its operator commands. See README.md.

mod actor;
mod archive;
mod arguments;
mod banner;
mod certificates;
mod cli;
mod commands;
mod compose;
mod crawls;
mod data_folder;
mod database_use;
mod descriptors;
mod disk;
mod draft;
mod embedder;
mod files;
mod folder_owner;
mod folder_permissions;
mod index_lease;
mod index_use;
mod last_backup;
mod locked_folder;
mod logging;
mod memory;
mod message_language;
mod metrics;
mod objects_binding;
mod output;
mod readiness;
mod rendering;
mod role;
mod sandbox;
mod storage_keys;
mod temp_folder;
mod tokens;
mod traces;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use arguments::InvalidArgument;
use cli::{Cli, Command};
use settings::{Settings, SettingsError};

/// Time that blocking work gets to end after a command. A lookup of a host name that hangs cannot be cancelled.
const LAST_WORK: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    memory::configure_allocator();
    folder_permissions::restrict_new_files();
    let cli = Cli::parse();
    let config = cli.config.clone();
    let command = cli.into_command().unwrap_or_else(|error| error.exit());
    // The worker limits its own memory and threads before it reads anything, so it starts before the runtime,
    // the log and the settings.
    if matches!(command, Command::ExtractWorker) {
        return extract_worker::run();
    }
    let mut errors = run(command, config.as_deref()).err().unwrap_or_default();
    errors.extend(output::first_error());
    errors.iter().for_each(output::failure);
    if errors.iter().any(anyhow::Error::is::<InvalidArgument>) {
        return ExitCode::from(arguments::EXIT_STATUS);
    }
    if errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the environment, without variables of other programs that are not Unicode.
///
/// # Errors
/// One of the server's own is not: it would be ignored.
pub(crate) fn environment() -> anyhow::Result<Vec<(String, String)>> {
    let mut variables = Vec::new();
    for (name, value) in std::env::vars_os() {
        let shown = name.to_string_lossy().into_owned();
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => variables.push((name, value)),
            _ if settings::is_own_variable(&shown) => {
                anyhow::bail!("the variable `{}` is not valid UTF-8", logging::visible(&shown));
            }
            _ => {}
        }
    }
    Ok(variables)
}

/// Returns the settings with their errors, which only `config check` accepts: it adds those of the adapters.
fn load(config: Option<&Path>, command: &Command) -> Result<(Settings, Vec<SettingsError>), Vec<anyhow::Error>> {
    let environment = environment().map_err(|error| vec![error])?;
    let (settings, invalid) = Settings::load_with_errors(config, environment).map_err(|error| vec![error.into()])?;
    if invalid.is_empty() || matches!(command, Command::Config(cli::Config::Check)) {
        return Ok((settings, invalid));
    }
    Err(invalid.into_iter().map(anyhow::Error::from).collect())
}

fn run(command: Command, config: Option<&Path>) -> Result<(), Vec<anyhow::Error>> {
    let (settings, invalid) = load(config, &command).inspect_err(|errors| {
        if let Command::Doctor { json } = &command {
            commands::report_settings(errors, *json);
        }
    })?;
    descriptors::raise_limit();
    memory::return_free_memory();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_keep_alive(Duration::from_secs(5))
        .build()
        .map_err(|error| vec![error.into()])?;
    let outcome = if let Command::Config(cli::Config::Check) = command {
        runtime.block_on(commands::config_check(&settings, invalid))
    } else {
        runtime.block_on(commands::run(command, settings, config)).map_err(|error| vec![error])
    };
    runtime.shutdown_timeout(LAST_WORK);
    outcome
}
