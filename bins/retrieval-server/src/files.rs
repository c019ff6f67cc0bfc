//! Files and folders that survive a power cut.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Entries of a folder that a file system creates.
pub const OF_THE_SYSTEM: [&str; 1] = ["lost+found"];

/// Makes the entry of a file or folder in its folder survive a power cut.
pub fn sync_parent(path: &Path) -> io::Result<()> {
    File::open(parent(path))?.sync_all()
}

/// Returns the folder that contains the entry.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a folder and its missing parents, for their owner only. They survive a power cut.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.is_dir()).collect();
    for folder in missing.into_iter().rev() {
        match DirBuilder::new().mode(0o700).create(folder) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            created => created?,
        }
        sync_parent(folder)?;
    }
    Ok(())
}

/// Writes a new file for its owner only. It survives a power cut, or it does not exist.
///
/// # Errors
/// `AlreadyExists` if there is an entry of this name.
pub fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = create_new(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let written = written.and_then(|()| sync_parent(path));
    if written.is_err() {
        // A half-written file would be taken for a whole one.
        let _ = fs::remove_file(path);
    }
    written
}

/// Writes a file for its owner only, which appears complete and survives a power cut. An existing file stays, as that of a concurrent
/// process which was faster.
pub fn write_once(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = parent(path).join(format!(".{name}.{:016x}", rand::random::<u64>()));
    write_new(&temporary, text)?;
    let linked = fs::hard_link(&temporary, path);
    fs::remove_file(&temporary)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => sync_parent(path),
    }
}

/// Creates a file for its owner only.
pub fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Gives everything below a folder to its owner only (files 600, folders 700) and syncs it to disk.
pub fn seal(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            seal(&path)?;
        } else {
            fs::set_permissions(&path, Permissions::from_mode(0o600))?;
            File::open(&path)?.sync_all()?;
        }
    }
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    File::open(folder)?.sync_all()
}
