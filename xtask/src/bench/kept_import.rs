//! Imported data folders that are kept for later measurements.

use super::collection::Collection;
use super::engine::Engine;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Folder with a finished import, or for a new one.
pub struct Kept {
    folder: PathBuf,
    note: Note,
    is_complete: bool,
}

/// Description of the import in the file `kept.json`, written when the import is complete.
#[derive(Deserialize, Serialize)]
struct Note {
    collection: String,
    documents: usize,
    /// Size of titles and texts, which identifies the collection with high probability.
    bytes: usize,
    index_prefix: String,
}

impl Kept {
    /// Opens the folder for a collection and an engine below `root`.
    ///
    /// # Errors
    ///
    /// Returns an error if it has other content than an import of this collection.
    pub fn open(root: &Path, collection: &Collection, engine: &Engine) -> anyhow::Result<Self> {
        let folder = root.join(format!("{}-{}", collection.name, engine.name()));
        let note = Note {
            collection: collection.name.clone(),
            documents: collection.documents.len(),
            bytes: collection.bytes(),
            index_prefix: engine.prefix().to_owned(),
        };
        let kept = Self { folder, note, is_complete: false };
        if !kept.folder.exists() {
            return Ok(kept);
        }
        let written = std::fs::read(kept.file())
            .with_context(|| format!("`{}` has no finished import: remove it", kept.folder.display()))?;
        let found: Note = serde_json::from_slice(&written)?;
        let same = (&found.collection, found.documents, found.bytes)
            == (&kept.note.collection, kept.note.documents, kept.note.bytes);
        if !same {
            let Note { collection, documents, .. } = found;
            bail!(
                "`{}` holds another collection, `{collection}` of {documents} documents: remove it, or keep this one \
                 elsewhere",
                kept.folder.display()
            );
        }
        Ok(Self { note: found, is_complete: true, ..kept })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns true if the import is complete.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns the prefix of its index names in a shared search server.
    pub fn index_prefix(&self) -> &str {
        &self.note.index_prefix
    }

    /// Marks the import as complete.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn complete(&self) -> anyhow::Result<()> {
        std::fs::write(self.file(), serde_json::to_vec(&self.note)?)
            .with_context(|| format!("cannot write `{}`", self.file().display()))
    }

    fn file(&self) -> PathBuf {
        self.folder.join("kept.json")
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::{Engine, Kept};
    use crate::bench::topics;

    #[test]
    fn finished_import_is_reused_and_another_collection_is_rejected() {
        let root = tempfile::tempdir().unwrap();
        let (made, other) = (topics::collection(1, 10, 2), topics::collection(2, 10, 2));

        let first = Kept::open(root.path(), &made, &Engine::Embedded).unwrap();
        assert!(!first.is_complete());
        std::fs::create_dir(first.folder()).unwrap();
        assert!(Kept::open(root.path(), &made, &Engine::Embedded).is_err(), "an unfinished import is rejected");
        first.complete().unwrap();

        let again = Kept::open(root.path(), &made, &Engine::Embedded).unwrap();
        assert!(again.is_complete());
        let error = Kept::open(root.path(), &other, &Engine::Embedded).err().unwrap();
        assert!(error.to_string().contains("another collection"), "{error}");
    }
}
