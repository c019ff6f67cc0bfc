//! Disk usage.

use anyhow::Context;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Unit in which a file system states the blocks of a file, in bytes.
const BLOCK: u64 = 512;

/// Returns the disk space of a file, or of all files below a folder, in bytes; 0 if it does not exist. Gaps of sparse files, such as
/// preallocated logs, occupy none.
///
/// # Errors
///
/// Returns an error if a folder cannot be read.
pub fn size(path: &Path) -> anyhow::Result<u64> {
    let Ok(metadata) = path.symlink_metadata() else { return Ok(0) };
    if !metadata.is_dir() {
        return Ok(metadata.blocks() * BLOCK);
    }
    let entries = path.read_dir().with_context(|| format!("cannot read `{}`", path.display()))?;
    entries.map(|entry| size(&entry?.path())).sum()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::size;

    const MEBIBYTE: usize = 1 << 20;

    #[test]
    fn sizes_are_summed_recursively() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        let [one, two] = ["one", "a/b/two"].map(|name| folder.path().join(name));
        std::fs::write(&one, vec![7_u8; MEBIBYTE]).unwrap();
        std::fs::write(&two, vec![7_u8; 2 * MEBIBYTE]).unwrap();
        assert!(size(&one).unwrap() >= MEBIBYTE as u64);
        assert_eq!(size(folder.path()).unwrap(), size(&one).unwrap() + size(&two).unwrap());
        assert_eq!(size(&folder.path().join("none")).unwrap(), 0);
    }

    #[test]
    fn gap_of_a_sparse_file_occupies_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        std::fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
        assert!(size(&path).unwrap() < MEBIBYTE as u64);
    }
}
