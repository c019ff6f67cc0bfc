#![doc = include_str!("../README.md")]
#![expect(clippy::print_stdout, reason = "a test program reports on standard output")]

mod api;
mod driver;
mod page;
mod scenarios;
mod server;
mod stage;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

/// Tests of the console in Chromium
#[derive(Parser)]
pub struct Arguments {
    /// Server to test
    server: PathBuf,
    /// Script of axe-core; without it, accessibility is not checked
    #[arg(long, value_name = "FILE")]
    axe: Option<PathBuf>,
    /// Folder for pictures of the views
    #[arg(long, value_name = "DIR")]
    screenshots: Option<PathBuf>,
    /// Program of the browser
    #[arg(long, default_value = "/usr/bin/chromium")]
    chromium: PathBuf,
    /// Program of the driver
    #[arg(long, default_value = "/usr/bin/chromedriver")]
    chromedriver: PathBuf,
    /// Scenario to run [default: all]
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Number of repetitions
    #[arg(long, default_value_t = 1)]
    rounds: u32,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let axe = arguments.axe.as_ref().map(std::fs::read_to_string).transpose()?;
    let driver = driver::Driver::start(&arguments.chromedriver)?;
    let mut failures = 0;
    for round in 1..=arguments.rounds {
        for name in scenarios::NAMES {
            if !arguments.only.is_empty() && !arguments.only.iter().any(|only| only == name) {
                continue;
            }
            let start = Instant::now();
            let outcome = stage::run(name, &arguments, &driver, axe.as_deref()).await;
            let word = if outcome.is_ok() { "passed" } else { "FAILED" };
            println!("{word:8} {name} (round {round}, {:.1} s)", start.elapsed().as_secs_f64());
            if let Err(error) = outcome {
                println!("         {error:#}");
                failures += 1;
            }
        }
    }
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
