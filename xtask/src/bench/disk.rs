//! Disk usage.

use anyhow::Context;
use std::path::Path;

/// Returns the size of a file, or of all files below a folder, in bytes; 0 if it does not exist.
///
/// # Errors
///
/// Returns an error if a folder cannot be read.
pub fn size(path: &Path) -> anyhow::Result<u64> {
    let Ok(metadata) = path.symlink_metadata() else { return Ok(0) };
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    let entries = path.read_dir().with_context(|| format!("cannot read `{}`", path.display()))?;
    entries.map(|entry| size(&entry?.path())).sum()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::size;

    #[test]
    fn sizes_are_summed_recursively() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        std::fs::write(folder.path().join("one"), [0; 10]).unwrap();
        std::fs::write(folder.path().join("a/b/two"), [0; 7]).unwrap();
        assert_eq!(size(folder.path()).unwrap(), 17);
        assert_eq!(size(&folder.path().join("one")).unwrap(), 10);
        assert_eq!(size(&folder.path().join("none")).unwrap(), 0);
    }
}
