//! `cargo xtask schema`: the committed OpenAPI document, which is generated and never edited.

use crate::check::Breach;
use crate::shell;
use anyhow::Context;
use std::path::Path;
use std::process::ExitCode;

/// Path of the committed document, relative to the repository root.
const FILE: &str = "docs/openapi.json";

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub struct Options {
    /// Fail if the committed document is out of date
    #[arg(long)]
    check: bool,
    /// Write the document
    #[arg(long)]
    write: bool,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let root = shell::root();
    if options.write {
        std::fs::write(root.join(FILE), generated()).with_context(|| format!("cannot write {FILE}"))?;
        println!("wrote {FILE}");
        return Ok(ExitCode::SUCCESS);
    }
    match check(&root) {
        breaches if breaches.is_empty() => {
            println!("{FILE} is up to date");
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

/// Compares the committed document below `root` with the generated one, byte for byte.
pub fn check(root: &Path) -> Vec<Breach> {
    let what = match std::fs::read_to_string(root.join(FILE)) {
        Ok(committed) => match first_difference(&committed, &generated()) {
            None => return Vec::new(),
            Some(line) => format!("{FILE} is out of date: first difference in line {line}"),
        },
        Err(error) => format!("cannot read {FILE}: {error}"),
    };
    vec![Breach { what, cure: "run `cargo xtask schema --write`, review the difference and commit it".to_owned() }]
}

fn generated() -> String {
    format!("{:#}\n", openapi::document())
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
