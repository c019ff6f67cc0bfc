#![doc = include_str!("../README.md")]
#![expect(clippy::print_stdout, reason = "a developer command reports on standard output")]

mod bench;
mod check;
mod e2e;
mod interrupt;
mod schema;
mod server;
mod services;
mod shell;
mod test;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Commands for those who work on this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the rules that the compiler does not: who may use whom, manifests, migrations, tracked files
    Check,
    /// Run every test, with a private PostgreSQL started for the run
    Test(test::Options),
    /// Hold the built server against its published contract (Schemathesis), and run a Python acceptance folder against it
    E2e(e2e::Options),
    /// Write the published OpenAPI document, or check that the committed one is what the code says
    Schema(schema::Options),
    /// Measure speed and size of the release server over HTTP
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Check => check::run(),
        Command::Test(options) => test::run(&options),
        Command::E2e(options) => e2e::run(&options),
        Command::Schema(options) => schema::run(&options),
        Command::Bench(options) => bench::run(&options),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
