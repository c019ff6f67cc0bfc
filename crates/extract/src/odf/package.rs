//! The zip archive of an OpenDocument file.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::{ExtractError, FileKind, magic};

/// Largest part that is unpacked.
const MAX_PART_BYTES: u64 = 128 << 20;
/// Parts above [`SMALL_PART_BYTES`] may unpack to so many times their size: text compresses some twenty times, empty
/// spreadsheet rows more.
const MAX_RATIO: u64 = 300;
const SMALL_PART_BYTES: u64 = 8 << 20;

pub(super) struct Package<'a>(ZipArchive<Cursor<&'a [u8]>>);

impl<'a> Package<'a> {
    /// Opens the archive and checks that it is of the kind its name says and not encrypted.
    pub(super) fn open(kind: FileKind, bytes: &'a [u8]) -> Result<Self, ExtractError> {
        if !magic::is_zip(bytes) {
            return Err(magic::wrong_type(kind, bytes));
        }
        let archive = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| ExtractError::corrupt(format!("unreadable archive: {error}")))?;
        let mut package = Self(archive);
        // ODF 1.3 part 2, 3.3: the media type stands in a part of its own. Templates add `-template`.
        if let Some(declared) = package.part("mimetype")? {
            let declared = declared.trim();
            let fits =
                declared.strip_prefix(kind.media_type()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
            if !fits && !declared.is_empty() {
                let message = format!("the content is not `{}` but `{declared}`", kind.as_str());
                return Err(ExtractError::wrong_type(message));
            }
        }
        // ODF 1.3 part 2, 4.4: an encrypted part says so in the manifest.
        if package.part("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
            return Err(ExtractError::encrypted("the file opens with a password only"));
        }
        Ok(package)
    }

    /// A part as text; `None` when the archive has no such part.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<String>, ExtractError> {
        let part = match self.0.by_name(name) {
            Ok(part) => part,
            Err(zip::result::ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(ExtractError::corrupt(format!("`{name}` cannot be unpacked: {error}"))),
        };
        let limit = SMALL_PART_BYTES.max(part.compressed_size().saturating_mul(MAX_RATIO)).min(MAX_PART_BYTES);
        // What the archive says of the size is not to be trusted: the reading itself is bounded.
        let mut bytes = Vec::new();
        part.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| ExtractError::corrupt(format!("`{name}` cannot be unpacked: {error}")))?;
        if bytes.len() as u64 > limit {
            return Err(ExtractError::too_large(format!("`{name}` unpacks to more than {limit} bytes")));
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}
