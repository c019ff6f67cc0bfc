//! Data folder of a command, which depends on the working directory unless the setting is absolute.

use std::io::ErrorKind;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, bail};
use docstore::{Docstore, Location};
use settings::Settings;

use crate::{compose, output};

/// Opens the database of a command that works on existing data.
pub async fn open_existing(settings: &Settings) -> anyhow::Result<Docstore> {
    require(settings)?;
    compose::docstore(settings).await
}

/// Opens an existing database without upgrading it.
pub async fn open_unchanged(settings: &Settings) -> anyhow::Result<Docstore> {
    require(settings)?;
    let store = Docstore::open(&compose::location(settings)?, 2)?;
    store.check_migrated().await.context("use the version that wrote the database, or upgrade it")?;
    Ok(store)
}

fn require(settings: &Settings) -> anyhow::Result<()> {
    if let Location::Sqlite(path) = compose::location(settings)?
        && is_missing(&path)
    {
        bail!(
            "there is no database `{}`: start the command in the folder of the service, or set `data_dir` in a settings \
             file (--config) or as RETRIEVAL__DATA_DIR",
            shown(&path)
        );
    }
    Ok(())
}

/// Opens the database of a command that may be the first one, and reports a new database.
pub async fn open_or_create(settings: &Settings) -> anyhow::Result<Docstore> {
    let creation = creation_note(settings, &compose::location(settings)?);
    let store = compose::docstore(settings).await?;
    creation.iter().for_each(|note| output::note(note));
    Ok(store)
}

/// Returns the message about the database that is about to be created; `None` if it exists.
pub fn creation_note(settings: &Settings, location: &Location) -> Option<String> {
    match location {
        Location::Sqlite(path) if is_missing(path) => {
            Some(format!("created the database `{}` in the data folder `{}`", shown(path), shown(&settings.data_dir)))
        }
        Location::Sqlite(_) | Location::Postgres(_) => None,
    }
}

/// Returns the origin of the data that a command shows.
pub fn described(settings: &Settings) -> String {
    match compose::location(settings) {
        Ok(location @ Location::Postgres(_)) => format!("database: {location:?}"),
        Ok(Location::Sqlite(_)) | Err(_) => format!("data folder: {}", shown(&settings.data_dir)),
    }
}

/// Returns true if the file does not exist or is empty, as an interrupted creation leaves it.
fn is_missing(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(metadata) => metadata.len() == 0,
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

fn shown(path: &Path) -> String {
    absolute(path).unwrap_or_else(|_| PathBuf::from(path)).display().to_string()
}
