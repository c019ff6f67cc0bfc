//! Permissions of the data folder: only its owner may read it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, bail};

use crate::database_use::{self, with_suffix};
use crate::folder_owner::{self, Entry};
use crate::{banner, draft, files, output, storage_keys};

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// Permissions of the group and of all others.
const FOREIGN: u32 = 0o077;
/// Folder of the embedded index.
pub const INDEX: &str = "index";
/// Lock file of the server that claims the embedded index.
pub const INDEX_CLAIM: &str = "index.lock";
/// Folder of the embedded object store.
pub const OBJECTS: &str = "objects";
/// File with the time of the last backup.
pub const LAST_BACKUP: &str = "last-backup";
/// Folder of temporary files.
pub const TEMPORARY: &str = "tmp";
/// Entries that the server creates, besides the database.
const OWN: [&str; 7] = [INDEX, INDEX_CLAIM, OBJECTS, TEMPORARY, storage_keys::FILE, banner::KEY_FILE, LAST_BACKUP];
/// Endings of the names of a SQLite database and the files that SQLite keeps beside it.
pub const OF_DATABASE: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Makes every file that this process creates private to its user. Call it before the first thread starts.
pub fn restrict_new_files() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(FOREIGN));
}

/// Creates the data folder, or closes an existing one to other users, with its files. A SQLite database elsewhere is closed
/// too.
///
/// # Errors
/// The folder, or something in it, belongs to another user. It is open to others and cannot be closed, or it contains something that
/// is not of this service: its mode may then be meant.
pub fn prepare(folder: &Path, database: Option<&Path>) -> anyhow::Result<()> {
    let user = rustix::process::geteuid().as_raw();
    folder_owner::check(folder, &owned(folder, database), user, folder_owner::owner_of_new)?;
    let own = Own { database: database.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()) };
    if !folder.is_dir() {
        // The new folder survives a power failure, as what is acknowledged in it does.
        files::create_folder(folder).with_context(|| format!("creating the data folder `{}`", folder.display()))?;
    }
    let mode = fs::metadata(folder)?.mode();
    let is_open = mode & FOREIGN != 0;
    if is_open && let Some(foreign) = own.foreign_entry(folder)? {
        bail!(
            "the data folder `{}` is open to other users (mode {:o}) and contains `{foreign}`, which is not of this service: \
             use a folder of its own as `data_dir`, or run `chmod 700` on it",
            folder.display(),
            mode & 0o7777
        );
    }
    let closed = own.close(folder).and_then(|closed| Ok(closed + database.map_or(Ok(0), close_database)?));
    let closed = closed.with_context(|| {
        format!("closing the data folder `{}` to other users: run `chmod -R go-rwx` on it", folder.display())
    })?;
    if closed > 0 {
        let from = format!("{:o}", mode & 0o7777);
        output::warn(&format!(
            "closed the data folder `{}` (mode {from}) to other users: {closed} permissions changed",
            folder.display()
        ));
    }
    Ok(())
}

/// Returns the entries without which a server does not run, down to the files of the indexes. Others, such as the time of a backup, do not
/// matter.
fn owned(folder: &Path, database: Option<&Path>) -> Vec<Entry> {
    let entries = [(INDEX, 2), (INDEX_CLAIM, 0), (OBJECTS, 1), (TEMPORARY, 0), (storage_keys::FILE, 0)];
    let mut owned: Vec<Entry> =
        entries.into_iter().map(|(name, depth)| Entry { path: folder.join(name), depth }).collect();
    for suffix in OF_DATABASE.into_iter().chain([database_use::LOCK_SUFFIX]) {
        owned.extend(database.map(|database| Entry { path: with_suffix(database, suffix), depth: 0 }));
    }
    owned
}

/// Entries of the data folder that are of this service.
struct Own {
    /// File name of the SQLite database.
    database: Option<String>,
}

impl Own {
    /// Returns true for entries of this service, including `retrieval.db-wal`, locks and temporary files.
    fn contains(&self, name: &str) -> bool {
        let is_temporary = |rest: &str| rest.starts_with(storage_keys::FILE);
        OWN.contains(&name)
            || name.starts_with(draft::PREFIX)
            || name.strip_prefix('.').is_some_and(is_temporary)
            || self.database.as_deref().and_then(|database| name.strip_prefix(database)).is_some_and(is_of_database)
    }

    /// Returns an entry that neither this service nor the file system creates.
    fn foreign_entry(&self, folder: &Path) -> io::Result<Option<String>> {
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !self.contains(&name) && !files::OF_THE_SYSTEM.contains(&name.as_str()) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Closes the folder and its entries. What is below a closed folder is closed, so a start does not read the modes of all
    /// uploaded files. Returns the number of changes.
    fn close(&self, folder: &Path) -> io::Result<usize> {
        let mut changed = 0;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if self.contains(&entry.file_name().to_string_lossy()) {
                changed += close_if_open(&entry.path())?;
            }
        }
        if fs::metadata(folder)?.mode() & FOREIGN != 0 {
            changed += set_mode(folder, FOLDER_MODE)?;
        }
        Ok(changed)
    }
}

/// Returns true for the endings of a database's files.
fn is_of_database(suffix: &str) -> bool {
    OF_DATABASE.contains(&suffix) || suffix == database_use::LOCK_SUFFIX
}

/// Closes a database, with the files that SQLite keeps beside it.
fn close_database(database: &Path) -> io::Result<usize> {
    let mut changed = 0;
    for suffix in OF_DATABASE {
        changed += close_if_open(&with_suffix(database, suffix))?;
    }
    Ok(changed)
}

fn close_if_open(path: &Path) -> io::Result<usize> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
        Ok(metadata) if metadata.mode() & FOREIGN == 0 => Ok(0),
        Ok(metadata) => close_all(path, &metadata),
    }
}

/// Closes an entry with everything below it. A folder comes last, so that an interrupted pass is repeated.
fn close_all(path: &Path, metadata: &fs::Metadata) -> io::Result<usize> {
    // Symbolic links have no permissions of their own, and their targets are not ours.
    if metadata.is_file() && metadata.mode() & FOREIGN != 0 {
        return set_mode(path, FILE_MODE);
    }
    if !metadata.is_dir() {
        return Ok(0);
    }
    let mut changed = 0;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        match entry.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            metadata => changed += close_all(&entry.path(), &metadata?)?,
        }
    }
    Ok(changed + set_mode(path, FOLDER_MODE)?)
}

/// Returns 1, or 0 if the entry has gone.
fn set_mode(path: &Path, mode: u32) -> io::Result<usize> {
    match fs::set_permissions(path, Permissions::from_mode(mode)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        outcome => outcome.map(|()| 1),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn open_folder_is_closed_with_all_its_files() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("data");
        fs::create_dir_all(folder.join("objects/00")).unwrap();
        for file in ["retrieval.db", "retrieval.db-wal", "objects/00/1", "objects/journal"] {
            fs::write(folder.join(file), "x").unwrap();
            fs::set_permissions(folder.join(file), Permissions::from_mode(0o644)).unwrap();
        }
        for open in ["objects/00", "objects", "."] {
            fs::set_permissions(folder.join(open), Permissions::from_mode(0o755)).unwrap();
        }
        let database = folder.join("retrieval.db");
        prepare(&folder, Some(&database)).unwrap();
        for file in ["retrieval.db", "retrieval.db-wal", "objects/00/1", "objects/journal"] {
            assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
        }
        for inner in [".", "objects", "objects/00"] {
            assert_eq!(mode(&folder.join(inner)), 0o700, "{inner}");
        }
        assert_eq!(Own { database: Some("retrieval.db".to_owned()) }.close(&folder).unwrap(), 0);
    }

    #[test]
    fn similar_names_are_not_of_this_service() {
        let own = Own { database: Some("retrieval.db".to_owned()) };
        for name in
            ["index", "last-backup", "retrieval.db", "retrieval.db-wal", "retrieval.db.lock", ".storage-credentials.7"]
        {
            assert!(own.contains(name), "{name}");
        }
        for name in ["index.html", "objects-2026", "tmp.tar", ".index", "retrieval.db.bak", "first-key.txt"] {
            assert!(!own.contains(name), "{name}");
        }
    }

    #[test]
    fn folder_of_somebody_else_is_rejected_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.odt"), "x").unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let error = prepare(folder.path(), None).unwrap_err().to_string();
        assert!(error.contains("755") && error.contains("thesis.odt"), "{error}");
        assert_eq!(mode(folder.path()), 0o755);
    }
}
