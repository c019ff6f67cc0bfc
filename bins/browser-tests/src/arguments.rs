//! Arguments of the program.

use std::path::PathBuf;

/// Tests of the console in Chromium
#[derive(clap::Parser)]
pub struct Arguments {
    /// Server to test
    pub server: PathBuf,
    /// Script of axe-core; without it, accessibility is not checked
    #[arg(long, value_name = "FILE")]
    pub axe: Option<PathBuf>,
    /// Folder for pictures of the views
    #[arg(long, value_name = "DIR")]
    pub screenshots: Option<PathBuf>,
    /// Program of the browser
    #[arg(long, default_value = "/usr/bin/chromium")]
    pub chromium: PathBuf,
    /// Program of the driver
    #[arg(long, default_value = "/usr/bin/chromedriver")]
    pub chromedriver: PathBuf,
    /// Scenario to run [default: all]
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Number of repetitions
    #[arg(long, default_value_t = 1)]
    pub rounds: u32,
}
