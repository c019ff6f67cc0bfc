//! Zip archive of an OpenDocument file.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::{ExtractError, FileKind, magic};

/// Maximum unpacked size of a part, in bytes.
const MAX_PART_BYTES: u64 = 128 << 20;
/// Maximum compression ratio of parts above [`SMALL_PART_BYTES`]. Text compresses about 20 times, empty spreadsheet
/// rows more.
const MAX_RATIO: u64 = 300;
const SMALL_PART_BYTES: u64 = 8 << 20;

pub(super) struct Package<'a>(ZipArchive<Cursor<&'a [u8]>>);

impl<'a> Package<'a> {
    /// Opens the archive and checks its media type and that it is not encrypted.
    pub(super) fn open(kind: FileKind, bytes: &'a [u8]) -> Result<Self, ExtractError> {
        if !magic::is_zip(bytes) {
            return Err(magic::wrong_type(kind, bytes));
        }
        let archive = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| ExtractError::corrupt(format!("unreadable archive: {error}")))?;
        let mut package = Self(archive);
        // ODF 1.3 part 2, 3.3: the media type has its own part. Templates append `-template`.
        if let Some(declared) = package.part("mimetype")? {
            let declared = declared.trim();
            let fits =
                declared.strip_prefix(kind.media_type()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
            if !fits && !declared.is_empty() {
                let message = format!("the content is not `{}` but `{declared}`", kind.as_str());
                return Err(ExtractError::wrong_type(message));
            }
        }
        // ODF 1.3 part 2, 4.4: the manifest declares encrypted parts.
        if package.part("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
            return Err(ExtractError::encrypted("the file is password protected"));
        }
        Ok(package)
    }

    /// Returns a part as text; `None` if the archive lacks it.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<String>, ExtractError> {
        let part = match self.0.by_name(name) {
            Ok(part) => part,
            Err(zip::result::ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(ExtractError::corrupt(format!("cannot unpack `{name}`: {error}"))),
        };
        let limit = SMALL_PART_BYTES.max(part.compressed_size().saturating_mul(MAX_RATIO)).min(MAX_PART_BYTES);
        // The declared size is not trusted: reading itself is bounded.
        let mut bytes = Vec::new();
        part.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| ExtractError::corrupt(format!("cannot unpack `{name}`: {error}")))?;
        if bytes.len() as u64 > limit {
            return Err(ExtractError::too_large(format!("`{name}` unpacks to more than {limit} bytes")));
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}
