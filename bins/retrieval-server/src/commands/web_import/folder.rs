//! Folder input.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use anyhow::Context;

use super::pipeline::Batches;
use super::site::{MAX_FILE_BYTES, Site};

/// Maximum number of nested folders.
const MAX_DEPTH: usize = 64;

/// Reads the pages of a folder and its subfolders, in the order of their names. Skips other files, hidden ones and links.
pub fn read(folder: &Path, site: &Site, batches: &mut Batches) -> anyhow::Result<()> {
    fs::read_dir(folder).with_context(|| format!("opening `{}`", folder.display()))?;
    read_folder(folder, &mut Vec::new(), site, batches);
    Ok(())
}

/// Reads the folder at `path`, the names below the first one. Returns `false` after the import has failed.
fn read_folder(folder: &Path, path: &mut Vec<String>, site: &Site, batches: &mut Batches) -> bool {
    let entries = match sorted_entries(folder) {
        Ok(entries) => entries,
        Err(error) => return batches.push(folder.display().to_string(), Err(error.to_string())),
    };
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        if name.starts_with('.') {
            continue;
        }
        path.push(name);
        let goes_on = if kind.is_dir() && path.len() <= MAX_DEPTH {
            read_folder(&entry.path(), path, site, batches)
        } else if kind.is_file() {
            read_file(&entry.path(), path, site, batches)
        } else {
            true
        };
        path.pop();
        if !goes_on {
            return false;
        }
    }
    true
}

fn sorted_entries(folder: &Path) -> io::Result<Vec<DirEntry>> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<DirEntry>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

fn read_file(file: &Path, path: &[String], site: &Site, batches: &mut Batches) -> bool {
    let Some(kind) = path.last().and_then(|name| Site::page_kind(name)) else { return true };
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let page = read_bytes(file).and_then(|bytes| site.page(&path, kind, bytes));
    batches.push(file.display().to_string(), page)
}

fn read_bytes(file: &Path) -> Result<Vec<u8>, String> {
    let size = fs::metadata(file).map_err(|error| error.to_string())?.len();
    if size > MAX_FILE_BYTES {
        return Err(format!("{size} bytes are more than {MAX_FILE_BYTES}"));
    }
    fs::read(file).map_err(|error| error.to_string())
}
