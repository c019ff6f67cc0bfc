//! Time of the last backup, which `backup` notes in the data folder.

use std::fs;
use std::io;
use std::path::PathBuf;

use anyhow::Context;
use docstore::Location;
use model::{Clock, SystemClock, Timestamp};
use settings::Settings;

use crate::compose;
use crate::folder_permissions::LAST_BACKUP;

/// Last backup of this installation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LastBackup {
    /// Backups are the business of the database server.
    OfDatabase,
    /// There is no database yet.
    NoData,
    None,
    At(Timestamp),
}

/// Notes that a backup has been made.
pub fn note(settings: &Settings) -> anyhow::Result<()> {
    let path = path(settings);
    fs::write(&path, SystemClock.now().as_millis().to_string())
        .with_context(|| format!("noting the time of the backup in `{}`", path.display()))
}

pub fn read(settings: &Settings) -> LastBackup {
    match compose::location(settings) {
        Ok(Location::Sqlite(database)) if !database.exists() => return LastBackup::NoData,
        Ok(Location::Sqlite(_)) => {}
        Ok(Location::Postgres(_)) | Err(_) => return LastBackup::OfDatabase,
    }
    let milliseconds =
        fs::read_to_string(path(settings)).and_then(|text| text.trim().parse().map_err(io::Error::other));
    milliseconds.map_or(LastBackup::None, |milliseconds| LastBackup::At(Timestamp::from_millis(milliseconds)))
}

fn path(settings: &Settings) -> PathBuf {
    settings.data_dir.join(LAST_BACKUP)
}
