//! Selection of files by the arguments of `files add`.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use file_types::FileKind;
use rustix::io::Errno;

use super::names;
use crate::cli::Names;
use crate::failure::Failure;

/// File that can be uploaded.
#[derive(Clone, Debug)]
pub struct Selected {
    pub path: PathBuf,
    /// Stored name.
    pub name: String,
    /// Name before sanitizing.
    pub original_name: String,
    pub size: u64,
    pub modified: Option<SystemTime>,
}

/// File or folder that is not uploaded, with the reason.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    pub path: PathBuf,
    pub reason: String,
    /// True if it cannot be read, false if it is not meant to be uploaded.
    pub is_failure: bool,
}

#[derive(Debug, Default)]
pub struct Selection {
    pub files: Vec<Selected>,
    pub skipped: Vec<Skipped>,
    seen: HashSet<PathBuf>,
}

/// Resolves files, folders and patterns. A file that matches several arguments is selected once. Names by path begin at the only
/// argument if that is a folder, and otherwise contain the paths as given, which tell folders apart.
///
/// # Errors
/// Returns an error for a missing path, an invalid pattern, or a pattern without matches.
pub fn select(arguments: &[String], names: Names) -> Result<Selection, Failure> {
    let mut selection = Selection::default();
    for argument in arguments {
        match fs::metadata(argument) {
            Ok(metadata) if metadata.is_dir() => {
                let folder = Path::new(argument);
                let root = if arguments.len() == 1 { folder } else { Path::new("") };
                selection.folder(folder, root, names);
            }
            Ok(metadata) => selection.file(Path::new(argument), Path::new(""), &metadata, names),
            // A file whose name contains pattern characters was found above.
            Err(error) if error.kind() == io::ErrorKind::NotFound && argument.contains(['*', '?', '[']) => {
                selection.pattern(argument, names)?;
            }
            Err(source) => return Err(Failure::Local { what: format!("cannot read `{argument}`"), source }),
        }
    }
    Ok(selection)
}

impl Selection {
    fn pattern(&mut self, pattern: &str, names: Names) -> Result<(), Failure> {
        let pattern_error = |why: String| Failure::Usage(format!("pattern `{pattern}` {why}"));
        // As in shells, `*` does not match hidden entries.
        let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
        let paths = glob::glob_with(pattern, options).map_err(|error| pattern_error(format!("is invalid: {error}")))?;
        let mut any = false;
        for path in paths {
            any = true;
            let path = match path {
                Ok(path) => path,
                Err(error) => {
                    self.fail(error.path(), error.error());
                    continue;
                }
            };
            match fs::metadata(&path) {
                // Only `**` matches the content of folders.
                Ok(metadata) if metadata.is_dir() => {}
                Ok(metadata) => self.file(&path, Path::new(""), &metadata, names),
                // `**` follows links, whose loops end at a limit of the system. The entry was read on a shorter path.
                Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                    self.skip(&path, "is a loop of links".to_owned());
                }
                Err(error) => self.fail(&path, &error),
            }
        }
        if any { Ok(()) } else { Err(pattern_error("matches no files".to_owned())) }
    }

    /// Selects all files below a folder in the order of names, which begin below `root`. Ignores hidden entries; does not follow links to
    /// folders, which can form cycles.
    fn folder(&mut self, folder: &Path, root: &Path, names: Names) {
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.fail(folder, &error),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries.iter().filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b".")) {
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() && is_link => self.skip(&path, "is a link to a folder".to_owned()),
                Ok(metadata) if metadata.is_dir() => self.folder(&path, root, names),
                Ok(metadata) => self.file(&path, root, &metadata, names),
                Err(error) => self.fail(&path, &error),
            }
        }
    }

    fn file(&mut self, path: &Path, root: &Path, metadata: &Metadata, names: Names) {
        // Deduplicates paths to the same file; without a canonical path, colliding names are detected later.
        if !self.seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())) {
            return;
        }
        if !metadata.is_file() {
            return self.skip(path, "is not a regular file".to_owned());
        }
        let Some(original_name) = names::of(path.strip_prefix(root).unwrap_or(path), names) else {
            return self.skip(path, "has a name that is not valid Unicode".to_owned());
        };
        // The service stores the sanitized name, and two files cannot share one.
        let supported = file_types::sanitize(&original_name).filter(|name| FileKind::from_name(name).is_some());
        let Some(name) = supported else { return self.skip(path, "has an unsupported type".to_owned()) };
        self.files.push(Selected {
            path: path.to_owned(),
            name,
            original_name,
            size: metadata.len(),
            modified: metadata.modified().ok(),
        });
    }

    fn skip(&mut self, path: &Path, reason: String) {
        self.skipped.push(Skipped { path: path.to_owned(), reason, is_failure: false });
    }

    /// Records a file or folder that cannot be read, once.
    fn fail(&mut self, path: &Path, error: &io::Error) {
        let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
        let place = folder.zip(path.file_name()).map(|(folder, name)| folder.join(name));
        if self.seen.insert(place.unwrap_or_else(|| path.to_owned())) {
            let reason = format!("cannot be read: {error}");
            self.skipped.push(Skipped { path: path.to_owned(), reason, is_failure: true });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn folder() -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for path in ["a.md", "b.png", "sub/a.md", "sub/deep/c.txt", ".hidden/d.md", ".e.md"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("below")).expect("a folder");
            fs::write(path, "text").expect("a file");
        }
        symlink(folder.path(), folder.path().join("sub/loop")).expect("a link");
        folder
    }

    fn names_of(arguments: &[String], names: Names) -> Vec<String> {
        select(arguments, names).expect("good").files.into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn folder_selects_visible_files_recursively() {
        let folder = folder();
        let path = folder.path().display().to_string();
        assert_eq!(names_of(std::slice::from_ref(&path), Names::File), ["a.md", "a.md", "c.txt"]);
        assert_eq!(names_of(std::slice::from_ref(&path), Names::Path), ["a.md", "sub__a.md", "sub__deep__c.txt"]);
        let skipped: Vec<String> =
            select(&[path], Names::File).expect("good").skipped.into_iter().map(|s| s.reason).collect();
        assert_eq!(skipped, ["has an unsupported type", "is a link to a folder"]);
    }

    #[test]
    fn what_cannot_be_read_is_a_failure() {
        let folder = folder();
        symlink("missing", folder.path().join("sub/gone.md")).expect("a link");
        let at = |path: &str| format!("{}/{path}", folder.path().display());
        for arguments in [vec![at("")], vec![at("sub"), at("sub/*.md"), at("sub/../**/*")], vec![at("**/*")]] {
            let skipped = select(&arguments, Names::File).expect("good").skipped;
            let failures: Vec<_> = skipped.iter().filter(|skipped| skipped.is_failure).collect();
            assert_eq!(failures.len(), 1, "{skipped:?}");
            assert!(failures[0].path.ends_with("sub/gone.md") && failures[0].reason.starts_with("cannot be read: "));
        }
    }

    #[test]
    fn paths_of_several_arguments_are_part_of_names() {
        let folder = folder();
        let at = |path: &str| format!("{}/{path}", folder.path().display());
        let prefix = names::of(folder.path(), Names::Path).expect("a name");
        let named = |paths: &[&str]| names_of(&paths.iter().map(|path| at(path)).collect::<Vec<_>>(), Names::Path);
        let below = |names: &[&str]| names.iter().map(|name| format!("{prefix}__{name}")).collect::<Vec<_>>();
        assert_eq!(named(&["sub", "a.md"]), below(&["sub__a.md", "sub__deep__c.txt", "a.md"]));
        assert_eq!(named(&["sub/../sub/", "*.md"]), below(&["sub__a.md", "sub__deep__c.txt", "a.md"]));
        assert_eq!(named(&["sub/a.md"]), below(&["sub__a.md"]));
        assert_eq!(named(&["sub/deep/.."]), ["a.md", "deep__c.txt"]);
    }

    #[test]
    fn pattern_selects_matches() {
        let folder = folder();
        let at = |pattern: &str| format!("{}/{pattern}", folder.path().display());
        assert_eq!(names_of(&[at("*.md")], Names::File), ["a.md"]);
        assert_eq!(names_of(&[at("**/*.txt")], Names::File), ["c.txt"]);
        assert_eq!(names_of(&[at("*.md"), at("a.md"), at("sub/../a.md")], Names::File), ["a.md"]);
        assert!(matches!(select(&[at("*.pdf")], Names::File), Err(Failure::Usage(_))));
        assert!(matches!(select(&[at("nothing.pdf")], Names::File), Err(Failure::Local { .. })));
    }
}
