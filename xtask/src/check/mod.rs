//! `cargo xtask check`: the rules of the workspace that no compiler holds.

mod allowed;
mod arrows;
mod breach;
mod clocks;
mod code;
mod cycles;
mod examples;
mod folders;
mod graph;
mod libraries;
mod manifests;
mod migrations;
mod openings;
mod paths;
mod ratchet;
mod readmes;
mod signatures;
mod sources;
mod tracked;
mod unused;
mod workspace;

pub use breach::Breach;

use crate::{schema, shell};
use std::process::ExitCode;

/// A rule's name as it is printed, and where it is broken.
type Outcome = (&'static str, Vec<Breach>);

/// Checks every rule, prints a line for each, and fails when one is broken.
pub fn run() -> anyhow::Result<ExitCode> {
    let root = shell::root();
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(&root).exec()?;
    let crates = workspace::read(&metadata, &root)?;
    let sources = sources::read(&crates, &root)?;
    let outcomes: Vec<Outcome> = vec![
        ("workspace crates use only those below them", arrows::check(&crates)),
        ("outside libraries stay in their crates", libraries::check_confined(&crates)),
        ("pure crates keep to their short lists", libraries::check_allow_lists(&crates)),
        ("no banned library anywhere in the build", graph::check(&metadata)),
        ("manifests inherit from the workspace", manifests::check(&crates)),
        ("each dependency is used", unused::check(&crates, &sources)),
        ("each crate's folder is named after its package", folders::check(&crates)),
        ("each crate has a README, headed by the package's name", readmes::check(&crates)),
        ("doc comments and headings open with a verb or a noun", openings::check(&sources, &crates, &root)?),
        ("modules of a crate have no cycles", cycles::check(&sources)),
        ("the system's clock is read in its few places", clocks::check(&sources)),
        ("public signatures use the domain's types", signatures::check(&sources)),
        ("both databases have the same migrations", migrations::check(&root)?),
        (
            "the committed OpenAPI document and the reference of settings are what their sources say",
            schema::check(&root),
        ),
        ("curl commands in Markdown files send JSON as such", examples::check(&root)?),
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
