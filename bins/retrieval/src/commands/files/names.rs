//! Stored names of files. A workspace is flat and names identify files, so two files cannot share a name.

use std::path::{Component, Path};

use crate::cli::Names;

/// Separator of path components in a name.
const SEPARATOR: &str = "__";

/// Returns the name of the file at a path; `None` if it is not Unicode.
pub fn of(path: &Path, names: Names) -> Option<String> {
    match names {
        Names::File => path.file_name()?.to_str().map(str::to_owned),
        Names::Path => of_path(path),
    }
}

/// Returns the name under which the service stores a file that is added as `name`, if it is another one. `None` for a path, from which
/// `files add` takes other names.
pub fn stored_as(name: &str) -> Option<String> {
    file_types::sanitize(name).filter(|stored| stored != name && !name.contains(['/', '\\']))
}

/// Returns the joined components of a path. `..` takes the component before it away, and is left out at the beginning, as are
/// `.` and the root.
fn of_path(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => {
                parts.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    Some(parts.join(SEPARATOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stored_in_one_form() {
        assert_eq!(stored_as("e\u{301}.md").as_deref(), Some("é.md"));
        for name in ["é.md", "", "...", "x/e\u{301}.md", "x\\e\u{301}.md"] {
            assert_eq!(stored_as(name), None, "{name}");
        }
    }

    #[test]
    fn paths_become_flat_names() {
        assert_eq!(of(Path::new("notes/2026/plan.md"), Names::File).as_deref(), Some("plan.md"));
        for (path, name) in [
            ("plan.md", "plan.md"),
            ("./2026/plan.md", "2026__plan.md"),
            ("a//b/./plan.md", "a__b__plan.md"),
            ("../a/plan.md", "a__plan.md"),
            ("../../plan.md", "plan.md"),
            ("a/../b/plan.md", "b__plan.md"),
            ("/home/a/plan.md", "home__a__plan.md"),
            ("/../plan.md", "plan.md"),
        ] {
            assert_eq!(of(Path::new(path), Names::Path).as_deref(), Some(name), "{path}");
        }
    }
}
