//! Figures of one contender on one collection, and a file that keeps them.

use super::figures::Figures;
use crate::bench::collection::Collection;
use crate::bench::machine::Machine;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Name of the contender as in `--contenders`.
    pub contender: String,
    pub collection: String,
    pub documents: usize,
    /// Short commit of the work tree.
    pub commit: String,
    /// Begin of the run: UTC, RFC 3339.
    pub date: String,
    /// One for each form of search.
    pub figures: Vec<Figures>,
}

impl Measured {
    pub fn new(contender: &str, collection: &Collection, machine: &Machine, figures: Vec<Figures>) -> Self {
        Self {
            contender: contender.to_owned(),
            collection: collection.name.clone(),
            documents: collection.documents.len(),
            commit: machine.commit.clone(),
            date: machine.date.clone(),
            figures,
        }
    }

    fn is_of(&self, contender: &str, collection: &Collection) -> bool {
        (&*self.contender, &*self.collection, self.documents)
            == (contender, &*collection.name, collection.documents.len())
    }

    /// Returns the day of the run.
    pub fn day(&self) -> &str {
        self.date.split('T').next().unwrap_or_default()
    }
}

/// File with one JSON object per line, with which a run that ended early goes on.
pub struct Kept {
    path: PathBuf,
    measured: Vec<Measured>,
}

impl Kept {
    /// Reads a file, which need not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or if a line is not an object of figures.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read.with_context(|| format!("--keep-figures: cannot read `{}`", path.display()))?,
        };
        let lines = text.lines().enumerate().map(|(at, line)| {
            serde_json::from_str(line).with_context(|| format!("--keep-figures: `{}`, line {}", path.display(), at + 1))
        });
        Ok(Self { path: path.to_owned(), measured: lines.collect::<anyhow::Result<_>>()? })
    }

    /// Returns what was measured of a contender on a collection.
    pub fn find(&self, contender: &str, collection: &Collection) -> Option<&Measured> {
        self.measured.iter().find(|measured| measured.is_of(contender, collection))
    }

    /// Appends figures.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn add(&self, measured: &Measured) -> anyhow::Result<()> {
        let line = format!("{}\n", serde_json::to_string(measured)?);
        let file = OpenOptions::new().create(true).append(true).open(&self.path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .with_context(|| format!("--keep-figures: cannot write `{}`", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::super::table::tests::figures;
    use super::*;

    fn machine() -> Machine {
        Machine {
            cpu: "abacus".to_owned(),
            cores: 2,
            memory_gb: 1.0,
            commit: "abc".to_owned(),
            date: "2026-01-02T03:04:05Z".to_owned(),
            load_before: 0.0,
        }
    }

    fn collection(name: &str) -> Collection {
        Collection { name: name.to_owned(), documents: Vec::new(), queries: Vec::new() }
    }

    #[test]
    fn figures_in_a_file_are_found_by_contender_and_collection() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures.jsonl");
        let topics = collection("topics");
        let [embedded, qdrant] = ["embedded", "qdrant"]
            .map(|name| Measured::new(name, &topics, &machine(), vec![figures(name, 0, 450.0, None)]));
        let kept = Kept::open(&path).unwrap();
        kept.add(&embedded).unwrap();
        kept.add(&qdrant).unwrap();

        let kept = Kept::open(&path).unwrap();
        assert_eq!(kept.find("qdrant", &topics), Some(&qdrant));
        assert_eq!(kept.find("qdrant", &collection("cranfield")), None);
        assert_eq!(kept.find("raw-tantivy", &topics), None);
        assert_eq!(qdrant.day(), "2026-01-02");
    }

    #[test]
    fn line_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures.jsonl");
        std::fs::write(&path, "{\"contender\": 1}\n").unwrap();
        let error = Kept::open(&path).err().unwrap().to_string();
        assert!(error.contains("figures.jsonl`, line 1"), "{error}");
    }
}
