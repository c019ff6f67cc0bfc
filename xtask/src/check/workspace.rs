//! The workspace's crates as the rules see them: names, kinds of dependencies, manifests.

use anyhow::Context;
use cargo_metadata::{DependencyKind, Metadata};
use std::path::{Path, PathBuf};

/// A crate of this workspace.
#[derive(Debug, Default)]
pub struct Crate {
    pub name: String,
    /// A program below `bins/`.
    pub is_bin: bool,
    /// The crate's folder.
    pub folder: PathBuf,
    /// `Cargo.toml` as written.
    pub manifest: toml::Table,
    pub dependencies: Vec<Dependency>,
}

/// One entry of a crate's dependency tables.
#[derive(Debug)]
pub struct Dependency {
    /// The package's own name, not what it may be renamed to.
    pub name: String,
    /// A crate of this workspace.
    pub ours: bool,
    /// Of `[dev-dependencies]`: it reaches tests, examples and benches alone.
    pub dev: bool,
}

impl Crate {
    /// Returns the dependencies of the built library or program (build dependencies included).
    pub fn built_with(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().filter(|dependency| !dependency.dev)
    }
}

/// Reads the workspace's crates, ordered by name.
///
/// # Errors
///
/// When a manifest cannot be read.
pub fn read(metadata: &Metadata, root: &Path) -> anyhow::Result<Vec<Crate>> {
    let packages = metadata.workspace_packages();
    let mut crates = Vec::with_capacity(packages.len());
    for package in &packages {
        let path = package.manifest_path.as_std_path();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let folder = path.parent().unwrap_or(root).to_path_buf();
        crates.push(Crate {
            name: package.name.to_string(),
            is_bin: folder.starts_with(root.join("bins")),
            folder,
            manifest: text.parse().with_context(|| format!("cannot parse `{}`", path.display()))?,
            dependencies: package
                .dependencies
                .iter()
                .map(|dependency| Dependency {
                    ours: packages.iter().any(|ours| ours.name == dependency.name),
                    name: dependency.name.clone(),
                    dev: dependency.kind == DependencyKind::Development,
                })
                .collect(),
        });
    }
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(crates)
}

/// Crates for the tests of the rules.
#[cfg(test)]
pub mod fake {
    use super::{Crate, Dependency};

    /// A library crate named `name` with these dependencies.
    pub fn library(name: &str, dependencies: Vec<Dependency>) -> Crate {
        Crate { name: name.to_owned(), dependencies, ..Crate::default() }
    }

    /// A program with these dependencies.
    pub fn program(name: &str, dependencies: Vec<Dependency>) -> Crate {
        Crate { is_bin: true, ..library(name, dependencies) }
    }

    pub fn ours(name: &str) -> Dependency {
        Dependency { name: name.to_owned(), ours: true, dev: false }
    }

    pub fn outside(name: &str) -> Dependency {
        Dependency { name: name.to_owned(), ours: false, dev: false }
    }

    pub fn for_tests(dependency: Dependency) -> Dependency {
        Dependency { dev: true, ..dependency }
    }
}
