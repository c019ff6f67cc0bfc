//! Command line client of the service. See README.md.

mod advice;
mod api_values;
mod base_url;
mod cli;
mod commands;
mod config_file;
mod connection;
mod context;
mod failure;
mod key_source;
mod prompt;
mod terminal;

use std::process::ExitCode;

use clap::Parser;
use retrieval_client::Error;

use crate::cli::{Cli, Command};
use crate::context::Context;
use crate::failure::Failure;
use crate::key_source::KeySource;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return report_usage_error(&error),
    };
    let json = cli.common.json;
    let key = match cli.command {
        Command::Login(_) => KeySource::Input,
        _ => KeySource::of(cli.common.api_key.as_deref()),
    };
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output closed the pipe.
        Err(Failure::Output(error) | Failure::Client(Error::Write { source: error }))
            if error.kind() == std::io::ErrorKind::BrokenPipe =>
        {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            if json {
                failure.report_json();
            } else {
                failure.report(key);
            }
            ExitCode::from(failure.exit())
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    let cannot_start = |source| Failure::Local { what: "the program cannot start".to_owned(), source };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot_start)?;
    let outcome = runtime.block_on(async {
        let context = Context::new(&cli.common);
        tokio::select! {
            // The signal must be handled before a command begins its work.
            biased;
            () = interrupted() => Err(Failure::Interrupted(context.interrupted())),
            done = commands::run(cli, &context) => done,
        }
    });
    prompt::restore();
    // A prompt may still block on its line, and a scan of folders on its work.
    runtime.shutdown_background();
    outcome
}

async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Without signal handling, the signal ends the program by itself.
        std::future::pending::<()>().await;
    }
}

/// Reports a command line error, as JSON if requested. Help and version exit with success.
fn report_usage_error(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let failure = Failure::Usage(error.render().to_string().trim().to_owned());
        failure.report_json();
        return ExitCode::from(failure.exit());
    }
    // Standard error is closed: there is no way to report.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
