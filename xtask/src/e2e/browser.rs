//! The console in Chromium, driven by the program `browser-tests`.

use super::Outcome;
use super::clients::Packages;
use crate::{interrupt, server, shell};
use std::path::Path;
use std::process::Command;

/// Checks of accessibility, which run in the page.
const AXE: Packages = Packages { folder: "axe", names: &["axe-core@4.14.1"] };

/// Runs all scenarios `rounds` times.
///
/// # Errors
///
/// Returns an error if the tests cannot be built or the run was interrupted.
pub fn run(server: &Path, rounds: u32, screenshots: Option<&Path>) -> anyhow::Result<Vec<(String, Outcome)>> {
    let named = |name: &str, outcome| (name.to_owned(), outcome);
    let (Some(chromium), Some(driver)) = (shell::find_program("chromium"), shell::find_program("chromedriver")) else {
        let why = "The console was not tested: Chromium or its driver is missing (Debian: `apt-get install chromium chromium-driver`).";
        return Ok(vec![named("browser", Outcome::Skipped(why.to_owned()))]);
    };
    let mut command = Command::new(server::build_browser_tests()?);
    command.arg(server).arg("--chromium").arg(chromium).arg("--chromedriver").arg(driver);
    command.args(["--rounds", &rounds.to_string()]);
    if let Some(folder) = screenshots {
        command.arg("--screenshots").arg(folder);
    }
    let axe =
        AXE.node()?.map(|folder| folder.join("node_modules/axe-core/axe.min.js")).filter(|script| script.exists());
    if let Some(script) = &axe {
        command.arg("--axe").arg(script);
    }
    let mut outcomes = vec![named("browser", Outcome::of(interrupt::status(&mut command)?))];
    if axe.is_none() {
        let why = "The console's accessibility was not checked: `npm` cannot install axe-core.";
        outcomes.push(named("browser: accessibility", Outcome::Skipped(why.to_owned())));
    }
    Ok(outcomes)
}
