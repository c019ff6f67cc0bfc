//! Imported web indexes, copied into the data folder of each scenario.

use crate::bench::installation::Installation;
use crate::bench::topics;
use anyhow::Context;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const QUERIES: usize = 1_000;

/// Imports of this run by their number of documents.
pub struct WebIndexes {
    program: PathBuf,
    seed: u64,
    imported: BTreeMap<usize, WebIndex>,
}

/// Imported documents, and queries that find them.
struct WebIndex {
    installation: Installation,
    queries: Vec<String>,
}

impl WebIndexes {
    pub fn new(program: &Path, seed: u64) -> Self {
        Self { program: program.to_path_buf(), seed, imported: BTreeMap::new() }
    }

    /// Fills the empty data folder of an installation with `documents` documents, and returns queries.
    ///
    /// # Errors
    ///
    /// Returns an error if the import or the copy fails.
    pub fn copy_into(&mut self, installation: &Installation, documents: usize) -> anyhow::Result<Vec<String>> {
        if !self.imported.contains_key(&documents) {
            self.imported.insert(documents, self.import(documents)?);
        }
        let index = self.imported.get(&documents).context("no web index was imported")?;
        copy_folder(&index.installation.data(), &installation.data())?;
        Ok(index.queries.clone())
    }

    fn import(&self, documents: usize) -> anyhow::Result<WebIndex> {
        eprintln!("importing {documents} documents");
        let collection = topics::collection(self.seed, documents, QUERIES);
        let installation = Installation::new(&self.program)?;
        let file = installation.folder().join("import.jsonl");
        collection.write_import(&file)?;
        installation.import(&file)?;
        std::fs::remove_file(&file)?;
        Ok(WebIndex { installation, queries: collection.queries })
    }
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in from.read_dir().with_context(|| format!("cannot read `{}`", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target).with_context(|| format!("cannot write `{}`", target.display()))?;
        }
    }
    Ok(())
}
