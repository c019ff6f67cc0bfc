//! `bench fairness`: a heavy organization and a bystander, one scenario per kind of load.

mod alone;
mod disk_full;
mod domains;
mod idle_connections;
mod impatient;
mod large_reads;
mod long_files;
mod memory;
mod overview;
mod patient;
mod probe;
mod setup;
mod slow_pdf;
mod slow_pdfs;
mod slow_runs;
mod slow_site;
mod stage;
mod targets;
mod texts;
mod throughput;
mod unread_answers;
mod usage_overview;
mod waiting;
mod web_index;

use super::report::Report;
use super::{check_interrupt, descriptors};
use anyhow::bail;
use overview::Line;
use stage::Stage;
use std::io::IsTerminal;
use std::path::Path;
use web_index::WebIndexes;

/// Descriptors for the largest number of clients.
const DESCRIPTORS: u64 = 4_096;
/// Web documents of a scenario that does not measure throughput.
const FEW_DOCUMENTS: usize = 10_000;

#[derive(clap::Args)]
pub struct FairnessOptions {
    /// `fairness` only: scenarios to run [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// `fairness` only: list the scenarios
    #[arg(long)]
    pub list: bool,
    /// `fairness` only: exit with status 1 if a target is missed
    #[arg(long)]
    pub check: bool,
    /// `fairness` only: factor of clients, files and documents, such as 0.1 for a short run
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    scale: f64,
    /// `fairness` only: seconds in which memory is returned after a load
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    settle: u64,
}

/// Load of a heavy organization and its measurement.
struct Scenario {
    name: &'static str,
    about: &'static str,
    measure: fn(&mut Stage<'_>) -> anyhow::Result<()>,
}

const SCENARIOS: &[Scenario] = &[
    alone::SCENARIO,
    patient::SCENARIO,
    waiting::SCENARIO,
    impatient::SCENARIO,
    long_files::SCENARIO,
    large_reads::SCENARIO,
    unread_answers::SCENARIO,
    idle_connections::SCENARIO,
    slow_site::SCENARIO,
    slow_pdfs::SCENARIO,
    slow_runs::SCENARIO,
    usage_overview::SCENARIO,
    domains::SCENARIO,
    disk_full::SCENARIO,
];

/// Prints the names of the scenarios.
pub fn list() {
    for Scenario { name, about, .. } in SCENARIOS {
        println!("{name:<18}{about}");
    }
}

/// Runs the chosen scenarios. Continues after a scenario that cannot be measured, which counts as a missed target.
pub fn measure(options: &super::Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let chosen = choose(&options.fairness.only)?;
    descriptors::raise(DESCRIPTORS)?;
    let mut web = WebIndexes::new(program, options.seed);
    let mut lines = Vec::new();
    for scenario in chosen {
        check_interrupt()?;
        eprintln!("{}: {}", scenario.name, scenario.about);
        let mut line = Line::new(scenario.name);
        let section = report.section(scenario.name);
        let mut stage = Stage { options, program, web: &mut web, section, line: &mut line, bystander_rate: 0.0 };
        if let Err(error) = (scenario.measure)(&mut stage) {
            eprintln!("  not measured: {error:#}");
            stage.section.number("errors of the measurement", 1.0).target_below(1.0);
        }
        line.missed = section.missed();
        lines.push(line);
    }
    if options.json {
        eprint!("{}", overview::table(&lines, false));
    } else {
        println!("{}", overview::table(&lines, std::io::stdout().is_terminal()));
    }
    Ok(())
}

fn choose(names: &[String]) -> anyhow::Result<Vec<&'static Scenario>> {
    if names.is_empty() {
        return Ok(SCENARIOS.iter().collect());
    }
    let find = |name: &String| match SCENARIOS.iter().find(|scenario| scenario.name == name) {
        Some(scenario) => Ok(scenario),
        None => bail!("no scenario `{name}`: `--list` shows them"),
    };
    names.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::{SCENARIOS, choose};

    #[test]
    fn scenarios_are_chosen_by_name() {
        assert_eq!(choose(&[]).unwrap().len(), SCENARIOS.len());
        let chosen = choose(&["usage".to_owned(), "alone".to_owned()]).unwrap();
        assert_eq!(chosen.iter().map(|scenario| scenario.name).collect::<Vec<_>>(), ["usage", "alone"]);
        assert!(choose(&["none".to_owned()]).err().unwrap().to_string().contains("`none`"));
    }
}
