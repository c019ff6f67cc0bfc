//! Free space of the data folder's disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use app::disk::SpaceCheck;
use settings::Settings;

/// Returns the check of the data folder's disk by the settings.
pub fn checker(settings: &Settings) -> SpaceCheck {
    let (folder, min_free_bytes) = (settings.data_dir.clone(), settings.quotas.min_free_disk_bytes);
    Arc::new(move || check(&folder, min_free_bytes).map(Some))
}

/// Compares the free space of the disk that holds `folder` with the minimum.
///
/// # Errors
/// The reason, if less is free or the folder cannot be read.
pub fn check(folder: &Path, min_free_bytes: u64) -> Result<String, String> {
    let unreadable = |error: rustix::io::Errno| format!("the data folder `{}`: {error}", folder.display());
    let free = free_bytes(folder).map_err(unreadable)?;
    if free < min_free_bytes {
        return Err(format!(
            "{free} bytes are free, less than `quotas.min_free_disk_bytes` = {min_free_bytes}: uploads, imports, \
             indexing and new research runs are paused, searches continue"
        ));
    }
    Ok(format!("{free} bytes are free"))
}

/// Returns the free space of the disk that holds `folder`.
///
/// # Errors
/// The folder cannot be read.
pub fn free_bytes(folder: &Path) -> rustix::io::Result<u64> {
    // Before the first start the folder is missing: its disk is that of the nearest folder that exists.
    let disk = rustix::fs::statvfs(existing_ancestor(folder))?;
    // Blocks that are reserved for the superuser do not count.
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Returns the folder itself, or the nearest one above it that exists.
pub fn existing_ancestor(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    absolute.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_free_space_is_a_reason() {
        let folder = std::env::temp_dir().join("not").join("yet");
        assert!(check(&folder, 0).is_ok());
        let reason = check(&folder, u64::MAX).expect_err("no disk is that large");
        assert!(reason.contains("quotas.min_free_disk_bytes"), "{reason}");
    }
}
