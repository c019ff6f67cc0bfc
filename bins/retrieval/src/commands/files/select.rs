//! The files that the arguments of `files add` mean.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use file_types::FileKind;

use super::names;
use crate::cli::Names;
use crate::failure::Failure;

/// A file that can be uploaded.
#[derive(Clone, Debug)]
pub struct Selected {
    pub path: PathBuf,
    pub name: String,
    pub size: u64,
    pub modified: Option<SystemTime>,
}

/// A file that is not uploaded, and why.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    pub path: PathBuf,
    pub reason: String,
}

#[derive(Debug, Default)]
pub struct Selection {
    pub files: Vec<Selected>,
    pub skipped: Vec<Skipped>,
    seen: HashSet<PathBuf>,
}

/// Looks through files, folders and patterns. A file that several of them mean is taken once.
///
/// # Errors
/// For an argument that means nothing: a path that is not there, a pattern that is none or matches nothing.
pub fn select(arguments: &[String], names: Names) -> Result<Selection, Failure> {
    let mut selection = Selection::default();
    for argument in arguments {
        match fs::metadata(argument) {
            Ok(found) => selection.take(Path::new(argument), &found, names),
            // A name that holds the signs of a pattern and is a file was taken as a file above.
            Err(error) if error.kind() == io::ErrorKind::NotFound && argument.contains(['*', '?', '[']) => {
                selection.pattern(argument, names)?;
            }
            Err(source) => return Err(Failure::Local { what: format!("cannot read `{argument}`"), source }),
        }
    }
    Ok(selection)
}

impl Selection {
    fn take(&mut self, path: &Path, found: &Metadata, names: Names) {
        if found.is_dir() {
            self.folder(path, path, names);
        } else {
            self.file(path, found, names::of_file(path));
        }
    }

    fn pattern(&mut self, pattern: &str, names: Names) -> Result<(), Failure> {
        let wrong = |why: String| Failure::Usage(format!("the pattern `{pattern}` {why}"));
        // As shells do: a star does not match what is hidden.
        let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
        let paths = glob::glob_with(pattern, options).map_err(|error| wrong(format!("is none: {error}")))?;
        let mut any = false;
        for path in paths {
            any = true;
            let path = match path {
                Ok(path) => path,
                Err(error) => {
                    self.skip(error.path(), format!("cannot be read: {}", error.error()));
                    continue;
                }
            };
            match fs::metadata(&path) {
                // What is below a folder is matched by `**`, and only then meant.
                Ok(found) if found.is_dir() => {}
                Ok(found) => {
                    let name = match names {
                        Names::File => names::of_file(&path),
                        Names::Path => names::of_path(&path),
                    };
                    self.file(&path, &found, name);
                }
                Err(error) => self.skip(&path, format!("cannot be read: {error}")),
            }
        }
        if any { Ok(()) } else { Err(wrong("matches nothing".to_owned())) }
    }

    /// Everything below, in the order of names. Hidden entries are left out without a word; links to folders are not
    /// followed, so that there is an end.
    fn folder(&mut self, folder: &Path, root: &Path, names: Names) {
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.skip(folder, format!("cannot be read: {error}")),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries.iter().filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b".")) {
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            match fs::metadata(&path) {
                Ok(found) if found.is_dir() && is_link => self.skip(&path, "is a link to a folder".to_owned()),
                Ok(found) if found.is_dir() => self.folder(&path, root, names),
                Ok(found) => {
                    let name = match names {
                        Names::File => names::of_file(&path),
                        Names::Path => names::of_path(path.strip_prefix(root).unwrap_or(&path)),
                    };
                    self.file(&path, &found, name);
                }
                Err(error) => self.skip(&path, format!("cannot be read: {error}")),
            }
        }
    }

    fn file(&mut self, path: &Path, found: &Metadata, name: Option<String>) {
        // The same file by another way; where that cannot be told, names still collide.
        if !self.seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())) {
            return;
        }
        if !found.is_file() {
            return self.skip(path, "is no file".to_owned());
        }
        let Some(name) = name else { return self.skip(path, "has a name that is not Unicode".to_owned()) };
        // As the service does it: two files of one stored name would be one.
        let supported = file_types::sanitize(&name).filter(|name| FileKind::from_name(name).is_some());
        let Some(name) = supported else {
            return self.skip(path, "is of a type that is not supported".to_owned());
        };
        self.files.push(Selected { path: path.to_owned(), name, size: found.len(), modified: found.modified().ok() });
    }

    fn skip(&mut self, path: &Path, reason: String) {
        self.skipped.push(Skipped { path: path.to_owned(), reason });
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
    fn a_folder_means_everything_below_that_is_not_hidden() {
        let folder = folder();
        let path = folder.path().display().to_string();
        assert_eq!(names_of(std::slice::from_ref(&path), Names::File), ["a.md", "a.md", "c.txt"]);
        assert_eq!(names_of(std::slice::from_ref(&path), Names::Path), ["a.md", "sub__a.md", "sub__deep__c.txt"]);
        let skipped: Vec<String> =
            select(&[path], Names::File).expect("good").skipped.into_iter().map(|s| s.reason).collect();
        assert_eq!(skipped, ["is of a type that is not supported", "is a link to a folder"]);
    }

    #[test]
    fn a_pattern_means_what_it_matches() {
        let folder = folder();
        let at = |pattern: &str| format!("{}/{pattern}", folder.path().display());
        assert_eq!(names_of(&[at("*.md")], Names::File), ["a.md"]);
        assert_eq!(names_of(&[at("**/*.txt")], Names::File), ["c.txt"]);
        assert_eq!(names_of(&[at("*.md"), at("a.md"), at("sub/../a.md")], Names::File), ["a.md"]);
        assert!(matches!(select(&[at("*.pdf")], Names::File), Err(Failure::Usage(_))));
        assert!(matches!(select(&[at("nothing.pdf")], Names::File), Err(Failure::Local { .. })));
    }
}
