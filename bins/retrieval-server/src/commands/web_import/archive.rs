//! Zip archives of folders.

use std::fs::File;
use std::io::{BufReader, Read};

use anyhow::Context;
use zip::ZipArchive;
use zip::read::ZipFile;

use super::page::RawPage;
use super::pipeline::Batches;
use super::site::{MAX_FILE_BYTES, Site};

/// Reads the pages of an archive, in its order. Skips other files and hidden ones.
pub fn read(file: File, site: &Site, batches: &mut Batches) -> anyhow::Result<()> {
    let mut archive = ZipArchive::new(BufReader::new(file)).context("reading the zip archive")?;
    for number in 0..archive.len() {
        let opened = archive.by_index(number).and_then(|entry| Ok((entry.name()?.into_owned(), entry)));
        let (name, page) = match opened {
            Ok((name, mut entry)) => {
                let Some(page) = page(&mut entry, &name, site) else { continue };
                (name, page)
            }
            Err(error) => (String::new(), Err(error.to_string())),
        };
        if !batches.push(format!("entry {} (`{}`)", number + 1, name.escape_debug()), page) {
            break;
        }
    }
    Ok(())
}

/// Returns the page of an entry; `None` if it is not a page.
fn page<R: Read>(entry: &mut ZipFile<'_, R>, name: &str, site: &Site) -> Option<Result<RawPage, String>> {
    let path: Vec<&str> = name.split('/').collect();
    let is_hidden = path.iter().any(|name| name.starts_with('.') && *name != "..");
    // Some programs store the attributes of files in a folder of their own.
    if !entry.is_file() || is_hidden || path.first() == Some(&"__MACOSX") {
        return None;
    }
    let kind = Site::page_kind(path.last()?)?;
    Some(unpack(entry).and_then(|bytes| site.page(&path, kind, bytes)))
}

/// Decompresses an entry. The size that the archive declares is not trusted.
fn unpack(entry: &mut impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    entry.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("more than {MAX_FILE_BYTES} bytes"));
    }
    Ok(bytes)
}
