//! Stored names of files. A workspace is flat and names identify files, so two files cannot share a name.

use std::path::{Component, Path};

/// Separator of path components in a name.
const SEPARATOR: &str = "__";

/// Returns the file name; `None` if it is not Unicode.
pub fn of_file(path: &Path) -> Option<String> {
    path.file_name()?.to_str().map(str::to_owned)
}

/// Returns the joined components of a relative path; `None` if it is not Unicode.
pub fn of_path(relative: &Path) -> Option<String> {
    let parts = relative.components().filter(|part| matches!(part, Component::Normal(_)));
    let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
    parts.map(|parts| parts.join(SEPARATOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_flat_names() {
        assert_eq!(of_file(Path::new("notes/2026/plan.md")).as_deref(), Some("plan.md"));
        assert_eq!(of_path(Path::new("./2026/plan.md")).as_deref(), Some("2026__plan.md"));
    }
}
