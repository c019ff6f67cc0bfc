//! Binding of a PostgreSQL database to the folder of its embedded object store. On the folder of another installation, runs would take
//! every file for a lost one. A SQLite database is in the data folder itself, beside its objects.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, absolute};

use anyhow::{Context, bail};
use docstore::{Docstore, Location};
use model::Timestamp;
use s3_server::Snapshot;
use serde_json::json;
use settings::{Settings, StorageBackend};
use uuid::Uuid;

use crate::{compose, files, output};

/// Lease of the database whose owner is the id of the folder. It never expires.
const LEASE: &str = "embedded-objects";
/// File of the object folder with its random id, which copies of the folder keep.
const FILE: &str = "store-id";

/// Binds a new database to the object folder, and compares a bound one with it.
///
/// # Errors
/// The folder is not that of the database.
pub async fn check(settings: &Settings, store: &Docstore) -> anyhow::Result<()> {
    if !is_needed(settings)? {
        return Ok(());
    }
    let folder = compose::objects_dir(settings);
    let id = match read_id(&folder)? {
        Some(id) => id,
        None => {
            // Objects without an id are of a version that wrote none.
            if store.has_uploads().await? && is_empty(&folder).await? {
                return refuse(&folder);
            }
            create_id(settings, &folder)?
        }
    };
    // Only its owner renews a lease that is not over yet.
    if store.acquire_lease(LEASE.to_owned(), id.to_string(), Timestamp::MIN, Timestamp::MAX).await? {
        return Ok(());
    }
    // Without files there is nothing to lose, as in containers whose folders are not kept.
    if !store.has_uploads().await? && bind(store, id).await? {
        return Ok(());
    }
    refuse(&folder)
}

/// Binds the database to the object folder, whatever it was bound to, and prints both.
///
/// # Errors
/// The database is not PostgreSQL, or its storage is not embedded.
pub async fn replace(settings: &Settings, store: &Docstore) -> anyhow::Result<()> {
    if !is_needed(settings)? {
        bail!("only a PostgreSQL database with `storage.backend` = \"embedded\" is bound to an object store");
    }
    let folder = compose::objects_dir(settings);
    let id = match read_id(&folder)? {
        Some(id) => id,
        None => create_id(settings, &folder)?,
    };
    if !bind(store, id).await? {
        bail!("another process binds the database at the same time");
    }
    output::json(&json!({ "objects": absolute(&folder)?, "store_id": id }));
    Ok(())
}

/// Binds the database to an object folder. Returns false if another process does so at the same time.
async fn bind(store: &Docstore, id: Uuid) -> anyhow::Result<bool> {
    // At the end of time, the lease of any owner is over.
    Ok(store.acquire_lease(LEASE.to_owned(), id.to_string(), Timestamp::MAX, Timestamp::MAX).await?)
}

fn is_needed(settings: &Settings) -> anyhow::Result<bool> {
    let is_postgres = matches!(compose::location(settings)?, Location::Postgres(_));
    Ok(is_postgres && settings.storage.backend == StorageBackend::Embedded)
}

fn refuse(folder: &Path) -> anyhow::Result<()> {
    bail!(
        "the object store in `{}` is not that of the database, whose files would count as lost: start the server in the folder of the \
         service, or correct `data_dir`. If these are the right objects, as after a restore, run `retrieval-server admin storage bind`",
        absolute(folder)?.display()
    )
}

/// Returns the id of the folder; `None` if it has none, or does not exist.
fn read_id(folder: &Path) -> anyhow::Result<Option<Uuid>> {
    let path = folder.join(FILE);
    match fs::read_to_string(&path) {
        Ok(text) => {
            let id = Uuid::parse_str(text.trim()).with_context(|| format!("`{}` is damaged", path.display()))?;
            Ok(Some(id))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading `{}`", path.display())),
    }
}

/// Gives the folder an id, unless another process does so at the same time, and returns it.
fn create_id(settings: &Settings, folder: &Path) -> anyhow::Result<Uuid> {
    compose::data_dir(settings)?;
    files::create_folder(folder).with_context(|| format!("creating `{}`", folder.display()))?;
    let path = folder.join(FILE);
    files::write_once(&path, &format!("{}\n", Uuid::new_v4()))
        .with_context(|| format!("writing `{}`", path.display()))?;
    read_id(folder)?.with_context(|| format!("`{}` has disappeared", path.display()))
}

/// Returns true if the folder has no objects, or does not exist.
async fn is_empty(folder: &Path) -> anyhow::Result<bool> {
    let root = folder.to_owned();
    let snapshot = tokio::task::spawn_blocking(move || Snapshot::read(&root)).await?;
    let snapshot = snapshot.with_context(|| format!("reading the objects of `{}`", folder.display()))?;
    Ok(snapshot.keys().next().is_none())
}
