//! The Rust files of the workspace's crates as the textual rules see them.

use super::code;
use super::workspace::Crate;
use anyhow::Context;
use std::path::{Path, PathBuf};

/// Folders that hold no source of ours.
const SKIPPED: &[&str] = &["target", "corpus", "artifacts"];

/// A Rust file of a crate.
#[derive(Debug, Default)]
pub struct Source {
    pub krate: String,
    /// Path from the repository's root.
    pub file: String,
    /// Path from the crate's `src`; `None` for tests, examples and fuzz targets.
    pub in_src: Option<PathBuf>,
    pub text: String,
}

impl Source {
    /// Returns the module that this file of `src` is, as segments below the crate; empty for `lib.rs` and `main.rs`.
    /// Returns `None` for files outside `src`, programs in `src/bin` and files of unit tests.
    pub fn module(&self) -> Option<Vec<String>> {
        let path = self.in_src.as_ref()?.with_extension("");
        let mut segments: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if segments.first().is_some_and(|first| first == "bin") || segments.iter().any(|part| is_tests(part)) {
            return None;
        }
        if segments.len() == 1 && matches!(segments[0].as_str(), "lib" | "main") {
            segments.clear();
        } else if segments.last().is_some_and(|last| last == "mod") {
            segments.pop();
        }
        Some(segments)
    }

    /// Returns true for a file of the library or program itself, its build script included.
    pub fn is_built(&self) -> bool {
        self.in_src.is_some() || self.file.ends_with("/build.rs")
    }

    /// Returns the tokens of the product's code in this file; none for files outside `src` and for unit tests.
    pub fn tokens(&self) -> Vec<(code::Token, usize)> {
        let product = self.in_src.as_ref().is_some_and(|path| !path.iter().any(|part| is_tests(&stem(part))));
        if product { code::tokens(&code::strip(&self.text)) } else { Vec::new() }
    }
}

fn stem(part: &std::ffi::OsStr) -> String {
    Path::new(part).with_extension("").to_string_lossy().into_owned()
}

fn is_tests(part: &str) -> bool {
    part == "tests" || part.ends_with("_tests")
}

/// Reads every Rust file of the crates, ordered by path.
///
/// # Errors
///
/// When a folder or a file cannot be read.
pub fn read(crates: &[Crate], root: &Path) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for krate in crates {
        let mut files = Vec::new();
        collect(&krate.folder, &mut files)?;
        files.sort();
        for path in files {
            sources.push(Source {
                krate: krate.name.clone(),
                file: path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned(),
                in_src: path.strip_prefix(krate.folder.join("src")).ok().map(Path::to_path_buf),
                text: std::fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?,
            });
        }
    }
    Ok(sources)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if !SKIPPED.iter().any(|name| entry.file_name() == *name) {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Sources for the tests of the rules.
#[cfg(test)]
pub mod fake {
    use super::Source;

    /// A file of `src` of the crate `krate`.
    pub fn source(krate: &str, in_src: &str, text: &str) -> Source {
        Source {
            krate: krate.to_owned(),
            file: format!("crates/{krate}/src/{in_src}"),
            in_src: Some(in_src.into()),
            text: text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fake::source;

    #[test]
    fn modules_are_named_by_their_files() {
        let module = |path| source("app", path, "").module().map(|segments| segments.join("::"));
        assert_eq!(module("lib.rs").as_deref(), Some(""));
        assert_eq!(module("search/mod.rs").as_deref(), Some("search"));
        assert_eq!(module("search/rank.rs").as_deref(), Some("search::rank"));
        assert_eq!(module("bin/worker.rs"), None);
        assert_eq!(module("search/tests.rs"), None);
    }

    #[test]
    fn unit_tests_have_no_product_code() {
        assert_eq!(source("app", "search/rank_tests.rs", "fn a() {}").tokens(), []);
        assert!(!source("app", "search/rank.rs", "fn a() {}").tokens().is_empty());
    }
}
