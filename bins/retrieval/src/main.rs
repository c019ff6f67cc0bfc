//! The command line of the service's users. See README.md.

mod cli;
mod commands;
mod config_file;
mod connection;
mod context;
mod failure;
mod prompt;
mod terminal;
mod words;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::context::Context;
use crate::failure::Failure;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let json = cli.common.json;
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read us has enough.
        Err(Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report(json);
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
            done = commands::run(cli, &context) => done,
            () = interruption() => Err(Failure::Interrupted(context.interrupted())),
        }
    });
    prompt::restore();
    // A prompt may still wait for its line; nobody waits for the prompt.
    runtime.shutdown_background();
    outcome
}

async fn interruption() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Signals cannot be watched here: they end the program on their own.
        std::future::pending::<()>().await;
    }
}

/// Help and version are no errors; a wrong command line is one of ours, in the form that was asked for.
fn refuse(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let failure = Failure::Usage(error.render().to_string().trim().to_owned());
        failure.report(true);
        return ExitCode::from(failure.exit());
    }
    // Nobody reads us any more: nothing to say.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
