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

/// Developer commands of this repository
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check rules that the compiler cannot: crate dependencies, manifests, migrations, tracked files
    Check,
    /// Run all tests, with a private PostgreSQL and Redis
    Test(test::Options),
    /// Test the built server from outside: published contract (Schemathesis), MCP clients, programs, acceptance folder
    E2e(e2e::Options),
    /// Run two instances of a server behind nginx, as `e2e` does
    #[command(hide = true)]
    Instances(e2e::instances::Options),
    /// Write the OpenAPI document and the reference of settings, or check that the committed ones are current
    Schema(schema::Options),
    /// Measure speed and size of the release server over HTTP
    Bench(Box<bench::Options>),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Check => check::run(),
        Command::Test(options) => test::run(&options),
        Command::E2e(options) => e2e::run(&options),
        Command::Instances(options) => e2e::instances::run(&options),
        Command::Schema(options) => schema::run(&options),
        Command::Bench(options) => bench::run(&options),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
