//! Search for an installed browser.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Names of the program, in order of preference.
pub const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Returns the first of [`PROGRAMS`] in the folders of `path`, which has the form of the variable `PATH`.
pub fn find_program(path: &OsStr) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
    PROGRAMS.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| is_executable(file)))
}

fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn the_preferred_executable_is_found() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = std::env::join_paths([Path::new("relative"), first.path(), second.path()]).unwrap();
        assert_eq!(find_program(&path), None);
        let put = |folder: &Path, name: &str, mode: u32| {
            let file = folder.join(name);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            file
        };
        put(first.path(), "chromium", 0o644);
        let chrome = put(first.path(), "google-chrome", 0o755);
        assert_eq!(find_program(&path), Some(chrome));
        let chromium = put(second.path(), "chromium", 0o755);
        assert_eq!(find_program(&path), Some(chromium), "one that cannot be executed does not count");
    }
}
