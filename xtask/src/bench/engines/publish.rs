//! Tables and chart in the documentation.

use super::figures::Figures;
use super::measured::Measured;
use super::{chart, table};
use crate::bench::machine::Machine;
use crate::shell;
use anyhow::Context;
use std::collections::BTreeSet;

const PAGE: &str = "docs/benchmarks.md";
const CHART: &str = "docs/images/engines.svg";
const BEGIN: &str = "<!-- bench engines: begin -->";
const END: &str = "<!-- bench engines: end -->";

/// Replaces the part of the page between the marks, and the chart.
///
/// # Errors
///
/// Returns an error if a file cannot be written, or if the page has no marks.
pub fn write(all: &[Measured], machine: &Machine) -> anyhow::Result<()> {
    let page = shell::root().join(PAGE);
    let before = std::fs::read_to_string(&page).with_context(|| format!("cannot read `{}`", page.display()))?;
    let Machine { cpu, cores, memory_gb, .. } = machine;
    let days = distinct(all.iter().map(Measured::day));
    let commits = distinct(all.iter().map(|measured| &*measured.commit));
    let figures: Vec<Figures> = all.iter().flat_map(|measured| measured.figures.clone()).collect();
    let tables = table::markdown(&figures);
    let part = format!(
        "{BEGIN}\n\nMeasured on {days} on {cores} cores ({cpu}) with {memory_gb:.0} GB, commit {commits}.\n\n{tables}\
         ![Searches per second and latency by engine](images/engines.svg)\n\n{END}"
    );
    std::fs::write(&page, replaced(&before, &part).with_context(|| format!("`{PAGE}` has no `{BEGIN}` and `{END}`"))?)?;
    std::fs::write(shell::root().join(CHART), chart::svg(&figures))?;
    Ok(())
}

/// Lists what the runs of the figures differ in, such as their days.
fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> String {
    values.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" and ")
}

/// Replaces the marks and what is between them.
fn replaced(page: &str, part: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{part}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_part_of_the_page_is_replaced() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        assert_eq!(replaced(&page, "new").as_deref(), Some("before\nnew\nafter\n"));
        assert_eq!(replaced("no marks", "new"), None);
    }
}
