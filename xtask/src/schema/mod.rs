//! `cargo xtask schema`: the committed documents that are generated and never edited.

mod configuration;

use crate::check::Breach;
use crate::shell;
use anyhow::Context;
use std::path::Path;
use std::process::ExitCode;

/// Source of the reference of the settings.
const DEFAULTS: &str = "config/default.toml";

/// A generated document: its path relative to the repository root, and its content for a root.
type Document = (&'static str, fn(&Path) -> anyhow::Result<String>);

const DOCUMENTS: [Document; 2] = [("docs/openapi.json", openapi), ("docs/configuration.md", configuration)];

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub struct Options {
    /// Fail if a committed document is out of date
    #[arg(long)]
    check: bool,
    /// Write the documents
    #[arg(long)]
    write: bool,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let root = shell::root();
    if options.write {
        for (file, generated) in DOCUMENTS {
            std::fs::write(root.join(file), generated(&root)?).with_context(|| format!("cannot write {file}"))?;
            println!("wrote {file}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    match check(&root) {
        breaches if breaches.is_empty() => {
            DOCUMENTS.iter().for_each(|(file, _)| println!("{file} is up to date"));
            Ok(ExitCode::SUCCESS)
        }
        breaches => {
            for breach in breaches {
                println!("{}\n  -> {}", breach.what, breach.cure);
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Compares the committed documents below `root` with the generated ones, byte for byte.
pub fn check(root: &Path) -> Vec<Breach> {
    DOCUMENTS.iter().filter_map(|document| check_document(root, *document)).collect()
}

fn check_document(root: &Path, (file, generated): Document) -> Option<Breach> {
    let committed = std::fs::read_to_string(root.join(file)).with_context(|| format!("cannot read {file}"));
    let what = match committed.and_then(|committed| Ok((committed, generated(root)?))) {
        Ok((committed, generated)) => {
            let line = first_difference(&committed, &generated)?;
            format!("{file} is out of date: first difference in line {line}")
        }
        Err(error) => format!("{error:#}"),
    };
    Some(Breach::new(what, "run `cargo xtask schema --write`, review the difference and commit it"))
}

fn openapi(_root: &Path) -> anyhow::Result<String> {
    Ok(format!("{:#}\n", openapi::document()))
}

fn configuration(root: &Path) -> anyhow::Result<String> {
    let defaults = std::fs::read_to_string(root.join(DEFAULTS)).with_context(|| format!("cannot read {DEFAULTS}"))?;
    Ok(configuration::generated(&defaults))
}

/// Returns the first different line, counted from 1.
fn first_difference(committed: &str, generated: &str) -> Option<usize> {
    if committed == generated {
        return None;
    }
    let same = committed.lines().zip(generated.lines()).take_while(|(one, other)| one == other).count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn first_different_line_is_reported() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nx\n", "a\nb\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
        assert_eq!(first_difference("a\nb", "a\nb\n"), Some(3), "a missing last line break counts");
    }
}
