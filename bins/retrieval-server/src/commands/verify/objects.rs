//! Objects of either store, compared with what the last run read.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blobs::BlobStore;
use docstore::File;
use s3_server::Snapshot;
use settings::{Settings, StorageBackend};

use crate::compose;

pub enum Objects {
    /// Read from the disk, so that a running server need not be asked.
    Embedded { root: PathBuf, snapshot: Arc<Snapshot> },
    /// Compared by size and ETag; the content is not downloaded.
    External(Arc<dyn BlobStore>),
}

/// State of a file's object.
pub enum State {
    Sound,
    /// New or replaced since the last run.
    Pending,
    Damaged(String),
    Missing,
}

impl Objects {
    pub async fn open(settings: &Settings) -> anyhow::Result<Self> {
        match settings.storage.backend {
            StorageBackend::Embedded => {
                let root = compose::objects_dir(settings);
                Ok(Self::Embedded { snapshot: read(&root).await?, root })
            }
            StorageBackend::S3 => {
                let store = compose::external_storage(settings)?;
                store.prepare().await?;
                Ok(Self::External(Arc::new(store)))
            }
        }
    }

    /// Reads an embedded store again. An external one is asked about each object anyway.
    pub async fn refresh(&mut self) -> anyhow::Result<()> {
        if let Self::Embedded { root, snapshot } = self {
            *snapshot = read(root).await?;
        }
        Ok(())
    }

    /// Returns the state of a file's object: of an embedded store at its last reading.
    pub async fn state(&self, file: &File) -> anyhow::Result<State> {
        match self {
            Self::Embedded { snapshot, .. } => embedded_state(Arc::clone(snapshot), file).await,
            Self::External(store) => Ok(match store.head(&file.object_key).await? {
                Some(object) => compared(file, &object.etag, object.size),
                None => State::Missing,
            }),
        }
    }

    /// Returns true if the object exists: in an embedded store at its last reading.
    pub async fn exists(&self, key: &str) -> anyhow::Result<bool> {
        Ok(match self {
            Self::Embedded { snapshot, .. } => snapshot.get(key).is_some(),
            Self::External(store) => store.head(key).await?.is_some(),
        })
    }

    /// Returns the keys of all objects of files.
    pub async fn keys(&self) -> anyhow::Result<Vec<String>> {
        let store = match self {
            Self::Embedded { snapshot, .. } => return Ok(snapshot.keys().map(str::to_owned).collect()),
            Self::External(store) => store,
        };
        let mut keys = Vec::new();
        let mut after = None;
        loop {
            let page = store.list("files/", after.as_deref()).await?;
            keys.extend(page.objects.into_iter().map(|object| object.key));
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(keys),
            }
        }
    }
}

/// Reads the journal of a store, which may have millions of records, on a blocking thread.
async fn read(root: &Path) -> anyhow::Result<Arc<Snapshot>> {
    let root = root.to_owned();
    Ok(Arc::new(tokio::task::spawn_blocking(move || Snapshot::read(&root)).await??))
}

async fn embedded_state(snapshot: Arc<Snapshot>, file: &File) -> anyhow::Result<State> {
    let Some(object) = snapshot.get(&file.object_key) else { return Ok(State::Missing) };
    let key = file.object_key.clone();
    match tokio::task::spawn_blocking(move || snapshot.copy(&key, &mut io::sink())).await? {
        Ok(true) => Ok(compared(file, &object.etag, object.size)),
        Ok(false) => Ok(State::Missing),
        Err(error) if error.kind() == ErrorKind::InvalidData => Ok(State::Damaged(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

fn compared(file: &File, etag: &str, size: u64) -> State {
    if file.processed_etag.as_deref() != Some(etag) {
        return State::Pending;
    }
    match file.processed_size {
        Some(processed) if i64::try_from(size) != Ok(processed) => {
            State::Damaged(format!("the object has {size} bytes; the last run read {processed}"))
        }
        Some(_) | None => State::Sound,
    }
}
