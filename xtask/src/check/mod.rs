//! `cargo xtask check`: the rules of the workspace that no compiler holds.

mod arrows;
mod graph;
mod libraries;
mod manifests;
mod migrations;
mod tracked;
mod workspace;

use crate::{schema, shell};
use std::process::ExitCode;

/// One place where a rule is broken, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub struct Breach {
    pub what: String,
    pub cure: String,
}

impl Breach {
    fn new(what: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { what: what.into(), cure: cure.into() }
    }
}

/// A rule's name as it is printed, and where it is broken.
type Outcome = (&'static str, Vec<Breach>);

/// Checks every rule, prints a line for each, and fails when one is broken.
pub fn run() -> anyhow::Result<ExitCode> {
    let root = shell::root();
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(&root).exec()?;
    let crates = workspace::read(&metadata, &root)?;
    let outcomes: Vec<Outcome> = vec![
        ("workspace crates use only those below them", arrows::check(&crates)),
        ("outside libraries stay in their crates", libraries::check_confined(&crates)),
        ("pure crates keep to their short lists", libraries::check_allow_lists(&crates)),
        ("no banned library anywhere in the build", graph::check(&metadata)),
        ("manifests inherit from the workspace; each crate has a README", manifests::check(&crates)),
        ("both databases have the same migrations", migrations::check(&root)?),
        ("the committed OpenAPI document is what the code says", schema::check(&root)),
        ("tracked files name no path of one machine", tracked::check(&root)?),
    ];
    for (rule, breaches) in &outcomes {
        println!("{} {rule}", if breaches.is_empty() { "ok    " } else { "BROKEN" });
        for breach in breaches {
            println!("         {}\n           -> {}", breach.what, breach.cure);
        }
    }
    let broken = outcomes.iter().filter(|(_, breaches)| !breaches.is_empty()).count();
    if broken == 0 {
        println!("{} rules hold for {} crates", outcomes.len(), crates.len());
        return Ok(ExitCode::SUCCESS);
    }
    println!("{broken} of {} rules broken", outcomes.len());
    Ok(ExitCode::FAILURE)
}
