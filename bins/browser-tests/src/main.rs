#![doc = include_str!("../README.md")]
#![expect(clippy::print_stdout, reason = "a test program reports on standard output")]

mod api;
mod arguments;
mod driver;
mod page;
mod scenarios;
mod server;
mod site;
mod stage;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use arguments::Arguments;
use clap::Parser;
use driver::Driver;
use stage::Stage;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let axe = arguments.axe.as_ref().map(std::fs::read_to_string).transpose()?;
    let driver = Driver::start(&arguments.chromedriver)?;
    let mut failures = 0;
    for round in 1..=arguments.rounds {
        for name in scenarios::NAMES {
            if !arguments.only.is_empty() && !arguments.only.iter().any(|only| only == name) {
                continue;
            }
            let start = Instant::now();
            let outcome = run(name, &arguments, &driver, axe.as_deref()).await;
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

/// Runs a scenario with a new server and a new browser.
async fn run(name: &str, arguments: &Arguments, driver: &Driver, axe: Option<&str>) -> anyhow::Result<()> {
    let mut stage = Stage::new(arguments, driver, axe).await?;
    let outcome = scenarios::run(name, &mut stage).await;
    // The state of the page says why.
    let shown = if outcome.is_err() { stage.page.text("body").await.unwrap_or_default() } else { String::new() };
    stage.page.close().await?;
    outcome.with_context(|| format!("the page shows: {}", shown.chars().take(600).collect::<String>()))
}
