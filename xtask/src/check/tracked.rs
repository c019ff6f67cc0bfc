//! Tracked files work on every machine: none names a path that exists on one only.

use super::Breach;
use crate::shell;
use std::path::Path;

/// Folders that are somebody's own. Written in two halves, so that this file passes its own rule.
const MACHINE_FOLDERS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Searches every tracked text file below `root`.
///
/// # Errors
///
/// When git cannot list the tracked files.
pub fn check(root: &Path) -> anyhow::Result<Vec<Breach>> {
    let listed = shell::output(shell::git().args(["ls-files", "-z"]))?;
    let mut breaches = Vec::new();
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        // A tracked file may be deleted in the work tree, or be a binary one: neither names a path to a reader.
        let Ok(text) = std::fs::read_to_string(root.join(name)) else { continue };
        for (number, line) in text.lines().enumerate() {
            if let Some(folder) = machine_folder(line) {
                breaches.push(Breach::new(
                    format!("{name}:{} names `{folder}`", number + 1),
                    "take the path from an argument, the environment, or the repository's root",
                ));
            }
        }
    }
    Ok(breaches)
}

/// The machine's folder that `line` names as an absolute path; part of a longer path or of a URL does not count.
fn machine_folder(line: &str) -> Option<&'static str> {
    MACHINE_FOLDERS.into_iter().find(|folder| {
        line.match_indices(folder).any(|(start, _)| {
            !line[..start].ends_with(|before: char| before.is_alphanumeric() || "_-.)}/*".contains(before))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{MACHINE_FOLDERS, machine_folder};

    #[test]
    fn an_absolute_path_is_found_and_a_part_of_one_is_not() {
        for folder in MACHINE_FOLDERS {
            assert_eq!(machine_folder(&format!("data_dir = \"{folder}data\"")), Some(folder));
            assert_eq!(machine_folder(&format!("{folder}x")), Some(folder));
            assert_eq!(machine_folder(&format!("https://example.com{folder}x")), None);
            assert_eq!(machine_folder(&format!("src{folder}mod.rs")), None);
        }
        assert_eq!(machine_folder("nothing of the kind"), None);
    }
}
